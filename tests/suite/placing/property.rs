//! Random histories: the tables equal the sum of what was told and decided, and no room is given twice.

use super::support::*;
use super::world::*;
use elbowroom::engine::{Answer, BindAnswer, CallId, Effect, Fact, Input, PatchAnswer};
use elbowroom::model::Pod;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// How the API server treats the oldest open call.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Yes,
    Refused,
    /// It happens, and the answer is lost.
    LostAfter,
    /// It does not happen, and no answer comes.
    LostBefore,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Create { cpu: u8, priority: u8, again: bool },
    Delete(u8),
    Resize { pod: u8, cpu: u8, deferred: bool },
    Node { node: u8, cpu: Option<u8> },
    Answer { nth: u8, fate: Fate },
    Watch(u8),
    Relist,
    Wait(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let fate = prop_oneof![
        6 => Just(Fate::Yes),
        1 => Just(Fate::Refused),
        2 => Just(Fate::LostAfter),
        2 => Just(Fate::LostBefore),
    ];
    prop_oneof![
        4 => (1u8..5, 0u8..3, any::<bool>())
            .prop_map(|(cpu, priority, again)| Step::Create { cpu, priority, again }),
        2 => any::<u8>().prop_map(Step::Delete),
        1 => (any::<u8>(), 1u8..6, any::<bool>())
            .prop_map(|(pod, cpu, deferred)| Step::Resize { pod, cpu, deferred }),
        1 => (0u8..3, prop::option::weighted(0.7, 2u8..9)).prop_map(|(node, cpu)| Step::Node { node, cpu }),
        6 => (any::<u8>(), fate).prop_map(|(nth, fate)| Step::Answer { nth, fate }),
        4 => (1u8..4).prop_map(Step::Watch),
        1 => Just(Step::Relist),
        3 => (1u8..12).prop_map(Step::Wait),
    ]
}

/// The API server's own truth, a watch that lags behind it, and what the engine was told and has decided.
struct History {
    world: World,
    /// Every Pod there is, by UID.
    pods: BTreeMap<String, Pod>,
    /// What the watch has still to tell: `None` is a deletion.
    watch: VecDeque<(String, Pod, bool)>,
    nodes: BTreeMap<String, i64>,
    open: Vec<Effect>,
    /// Decided by the engine and neither confirmed nor refused, by UID.
    assumed: BTreeMap<String, String>,
    /// Bindings whose answer has not come, by call.
    bindings: BTreeMap<CallId, (String, String)>,
    /// Pods that the engine was told are bound, by the answer.
    acknowledged: Vec<String>,
    uids: u32,
}

impl History {
    fn new() -> Self {
        let mut world = World::of(vec![profile("elbowroom", true)]);
        let nodes: BTreeMap<String, i64> = NODES.iter().map(|name| ((*name).to_owned(), 8)).collect();
        world.list(nodes.iter().map(|(name, cpu)| node(name, &cpu.to_string())).collect(), vec![], vec![]);
        world.take();
        let (pods, watch, open) = (BTreeMap::new(), VecDeque::new(), Vec::new());
        let (assumed, bindings, acknowledged) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self { world, pods, watch, nodes, open, assumed, bindings, acknowledged, uids: 0 }
    }

    fn publish(&mut self, pod: &Pod, gone: bool) {
        self.watch.push_back((pod.id.uid.to_string(), pod.clone(), gone));
    }

    fn pick(&self, nth: u8) -> Option<String> {
        let count = self.pods.len().max(1);
        self.pods.keys().nth(usize::from(nth) % count).cloned()
    }

    fn act(&mut self, step: Step) {
        match step {
            Step::Create { cpu, priority, again } => self.create(cpu, priority, again),
            Step::Delete(nth) => {
                if let Some(pod) = self.pick(nth).and_then(|uid| self.pods.remove(&uid)) {
                    self.publish(&pod, true);
                }
            }
            Step::Resize { pod, cpu, deferred } => self.resize(pod, cpu, deferred),
            Step::Node { node: nth, cpu } => {
                let name = NODES[usize::from(nth)];
                match cpu {
                    Some(cpu) => {
                        self.nodes.insert(name.to_owned(), i64::from(cpu));
                        self.world.see_node(node(name, &cpu.to_string()));
                    }
                    None => {
                        self.nodes.remove(name);
                        self.world.step(Input::Node(Fact::Delete(Box::new(node(name, "1")))));
                    }
                }
            }
            Step::Answer { nth, fate } => self.answer(nth, fate),
            Step::Watch(count) => (0..count).for_each(|_| self.tell()),
            Step::Relist => self.relist(),
            Step::Wait(seconds) => self.world.wait(i64::from(seconds)),
        }
        self.collect();
    }

    fn create(&mut self, cpu: u8, priority: u8, again: bool) {
        self.uids += 1;
        let uid = format!("u{}", self.uids);
        let mut pod = waiting(&uid, i32::from(priority), &cpu.to_string());
        if again {
            pod.id.name = "again".into();
        }
        self.publish(&pod, false);
        self.pods.insert(uid, pod);
    }

    fn resize(&mut self, nth: u8, cpu: u8, defer: bool) {
        let bound = self.pick(nth).filter(|uid| self.pods[uid].node.is_some());
        let Some(pod) = bound.and_then(|uid| self.pods.get_mut(&uid)) else { return };
        let held = pod.resources.containers[0].allocated.clone();
        let held = held.unwrap_or_else(|| pod.resources.containers[0].requests.clone());
        let wish = requests(&cpu.to_string());
        pod.generation += 1;
        let container = &mut pod.resources.containers[0];
        container.actual = Some(if defer { held.clone() } else { wish.clone() });
        container.allocated = container.actual.clone();
        container.requests = wish;
        pod.resize = if defer { deferred("x", 0, "1", "2").resize } else { None };
        let pod = pod.clone();
        self.publish(&pod, false);
    }

    fn tell(&mut self) {
        let Some((uid, pod, gone)) = self.watch.pop_front() else { return };
        if gone || pod.node.is_some() {
            self.assumed.remove(&uid);
        }
        if gone {
            self.world.gone(pod);
        } else {
            self.world.see(pod);
        }
    }

    fn relist(&mut self) {
        self.watch.clear();
        let gone_or_bound = |uid: &String| self.pods.get(uid).is_none_or(|pod| pod.node.is_some());
        self.assumed.retain(|uid, _| !gone_or_bound(uid));
        let nodes = self.nodes.iter().map(|(name, cpu)| node(name, &cpu.to_string())).collect();
        self.world.list(nodes, self.pods.values().cloned().collect(), vec![]);
    }

    /// Notes what the engine asked for. Evictions stay unanswered: they are another test's subject.
    fn collect(&mut self) {
        for effect in self.world.take() {
            match &effect {
                Effect::Bind { call, pod, node } => {
                    let uid = pod.uid.to_string();
                    let out = self.bindings.values().any(|(other, _)| *other == uid);
                    assert!(!out, "{uid} is bound while its binding is out");
                    assert!(!self.acknowledged.contains(&uid), "{uid} is bound again");
                    self.assumed.insert(uid.clone(), node.to_string());
                    self.bindings.insert(*call, (uid, node.to_string()));
                    self.open.push(effect);
                }
                Effect::Read { .. } | Effect::Patch { .. } => self.open.push(effect),
                _ => {}
            }
        }
    }

    fn answer(&mut self, nth: u8, fate: Fate) {
        if self.open.is_empty() {
            return;
        }
        match self.open.remove(usize::from(nth) % self.open.len()) {
            Effect::Bind { call, pod, node } => self.answer_binding(call, &pod.uid, &node, fate),
            Effect::Read { call, pod, .. } => {
                let answer = match fate {
                    Fate::Yes | Fate::Refused => {
                        let found = self.pods.get(pod.uid.as_str()).cloned();
                        let bound = found.as_ref().is_some_and(|pod| pod.node.is_some());
                        let open = self.bindings.iter().find(|(_, (uid, _))| *uid == *pod.uid);
                        if let Some((call, (uid, _))) = open.map(|(call, what)| (*call, what.clone())) {
                            self.bindings.remove(&call);
                            if bound {
                                self.acknowledged.push(uid);
                            } else {
                                self.assumed.remove(&uid);
                            }
                        }
                        Answer::Read(found.map(Box::new), Vec::new())
                    }
                    _ => Answer::ReadFailed("connection refused".into()),
                };
                self.world.step(Input::Answer(call, answer));
            }
            Effect::Patch { call, .. } => {
                self.world.step(Input::Answer(call, Answer::Patch(PatchAnswer::Done)));
            }
            _ => {}
        }
    }

    fn answer_binding(&mut self, call: CallId, uid: &str, node: &str, fate: Fate) {
        let happens = matches!(fate, Fate::Yes | Fate::LostAfter);
        if let Some(pod) = self.pods.get_mut(uid).filter(|_| happens) {
            assert!(pod.node.is_none(), "{uid} was bound twice");
            pod.node = Some(node.into());
            let pod = pod.clone();
            self.publish(&pod, false);
        }
        let exists = self.pods.contains_key(uid);
        let answer = match fate {
            Fate::Yes if exists => BindAnswer::Bound,
            Fate::Yes => BindAnswer::Gone,
            Fate::Refused => BindAnswer::Refused("closed".into()),
            Fate::LostAfter | Fate::LostBefore => BindAnswer::Unknown("no answer".into()),
        };
        match &answer {
            BindAnswer::Bound => self.acknowledged.push(uid.to_owned()),
            BindAnswer::Unknown(_) => {}
            _ => drop(self.assumed.remove(uid)),
        }
        if !matches!(answer, BindAnswer::Unknown(_)) {
            self.bindings.remove(&call);
        }
        self.world.answer_bind(call, answer);
    }

    /// What new Pods must find taken on a node, from scratch: milli-CPU and Pod slots.
    fn expected(&self, node: &str) -> (i64, i64) {
        let (mut cpu, mut slots) = (0, 0);
        for (uid, pod) in &self.world.told {
            let at = pod.node.as_ref().map(|node| node.to_string());
            let at = at.or_else(|| self.assumed.get(uid.as_str()).cloned());
            if at.as_deref() == Some(node) {
                cpu += reserved(pod);
                slots += 1;
            }
        }
        (cpu, slots)
    }

    fn check(&self) {
        let cluster = self.world.engine.cluster();
        for name in NODES {
            let expected = self.expected(name);
            let slots = elbowroom::cluster::ResourceId::PODS;
            let found = cluster.nodes.id(name).map_or((0, 0), |id| {
                (self.world.taken(name).unwrap_or(0), cluster.nodes.requested().get(slots, id.index()))
            });
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// The larger of what one container of a Pod asks for and holds, in milli-CPU.
fn reserved(pod: &Pod) -> i64 {
    let container = &pod.resources.containers[0];
    let lists = [Some(&container.requests), container.allocated.as_ref(), container.actual.as_ref()];
    lists.into_iter().flatten().flatten().map(|(_, quantity)| quantity.ceil_milli()).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_tables_equal_a_sum_from_scratch_at_every_step(steps in prop::collection::vec(step(), 1..80)) {
        let mut history = History::new();
        for step in steps {
            history.act(step);
            history.check();
        }
    }

    #[test]
    fn our_own_bindings_never_overcommit_a_node(steps in prop::collection::vec(step(), 1..80)) {
        let mut history = History::new();
        // Without resizes and with nodes of one size: whatever is too much is our own doing.
        let ours = |step: &Step| !matches!(step, Step::Resize { .. } | Step::Node { .. });
        for step in steps.into_iter().filter(ours) {
            history.act(step);
            for name in NODES {
                let there = |pod: &&Pod| pod.node.as_ref().is_some_and(|at| *at == *name);
                let used: i64 = history.pods.values().filter(there).map(reserved).sum();
                prop_assert!(used <= 8000, "{name} has {used}m of 8000m");
            }
        }
    }
}
