//! Rules that must hold in any cluster: random nodes, neighbours, budgets and one Pod that grows.

use super::{Played, play};
use elbowroom::engine::Decision;
use elbowroom::model::Span;
use elbowroom::simulation::objects::{Key, PodExt};
use elbowroom::simulation::random::Random;
use elbowroom::simulation::scenario::Scenario;
use elbowroom::simulation::world::{Faults, What};
use std::fmt::Write;

/// Clusters per rule.
const SEEDS: u64 = 300;

/// One neighbour of the growing Pod.
struct Neighbour {
    name: String,
    priority: i32,
    cpu: i64,
    covered: bool,
}

/// A random cluster of one node.
struct Cluster {
    capacity: i64,
    /// Priority of the growing Pod, what it has and what it wants.
    growing: (i32, i64, i64),
    neighbours: Vec<Neighbour>,
    /// What the budget over the covered ones allows.
    allowed: usize,
}

impl Cluster {
    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut pick = |bound: u64| random.below(bound) as i64;
        let capacity = 1000 + 100 * pick(30);
        let had = 100 + 100 * pick(4);
        let mut free = capacity - had;
        let mut neighbours = Vec::new();
        for index in 0..pick(9) {
            let cpu = 100 + 100 * pick(5);
            if cpu <= free {
                free -= cpu;
                let (priority, covered) = (100 * pick(4) as i32, pick(3) == 0);
                neighbours.push(Neighbour { name: format!("n{index}"), priority, cpu, covered });
            }
        }
        let wanted = had + 100 * (1 + pick(((capacity - had) / 100).max(1) as u64));
        let growing = (100 * pick(4) as i32, had, wanted.min(capacity));
        Self { capacity, growing, neighbours, allowed: pick(3) as usize }
    }

    fn scenario(&self) -> Scenario {
        let mut text = format!(
            "apiVersion: elbowroom.dev/v1alpha1\nkind: Scenario\nuntil: 5m\nsteps:\n\
             - {{at: 1s, resize: {{pod: p, cpu: {}m}}}}\n\
             ---\napiVersion: v1\nkind: Node\nmetadata: {{name: n1}}\n\
             status: {{allocatable: {{cpu: {}m, pods: \"110\"}}}}\n\
             ---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: pdb}}\n\
             spec: {{selector: {{matchLabels: {{covered: \"true\"}}}}}}\n\
             status: {{disruptionsAllowed: {}}}\n",
            self.growing.2, self.capacity, self.allowed
        );
        let mut pod = |name: &str, priority: i32, cpu: i64, covered: bool| {
            let _ = write!(
                text,
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{covered: \"{covered}\"}}}}\n\
                 spec:\n  nodeName: n1\n  priority: {priority}\n  terminationGracePeriodSeconds: 3\n  \
                 containers: [{{name: main, image: busybox, resources: {{requests: {{cpu: {cpu}m}}}}}}]\n"
            );
        };
        pod("p", self.growing.0, self.growing.1, false);
        for one in &self.neighbours {
            pod(&one.name, one.priority, one.cpu, one.covered);
        }
        Scenario::parse("random.yaml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn play(&self) -> Played {
        play(&self.scenario(), Faults::default(), Span::default())
    }

    /// How much is missing for the growing Pod, and how much of it these would make.
    fn short(&self) -> i64 {
        self.growing.2 + self.neighbours.iter().map(|one| one.cpu).sum::<i64>() - self.capacity
    }

    fn cpu<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> i64 {
        let names: Vec<&String> = names.into_iter().collect();
        self.neighbours.iter().filter(|one| names.contains(&&one.name)).map(|one| one.cpu).sum()
    }

    /// The most that may be freed: all lower ones, of the covered ones the largest that the budget allows.
    fn available(&self) -> i64 {
        let lower = || self.neighbours.iter().filter(|one| one.priority < self.growing.0);
        let mut covered: Vec<i64> = lower().filter(|one| one.covered).map(|one| one.cpu).collect();
        covered.sort_unstable_by_key(|cpu| -cpu);
        lower().filter(|one| !one.covered).map(|one| one.cpu).sum::<i64>()
            + covered.iter().take(self.allowed).sum::<i64>()
    }
}

fn each(rule: impl Fn(&Cluster, &Played, &str)) {
    for seed in 0..SEEDS {
        let cluster = Cluster::random(seed);
        rule(&cluster, &cluster.play(), &format!("seed {seed}"));
    }
}

#[test]
fn only_lower_priorities_are_evicted() {
    let mut seen = 0;
    for seed in 0..SEEDS {
        let cluster = Cluster::random(seed);
        for name in cluster.play().evicted() {
            let victim = cluster.neighbours.iter().find(|one| one.name == name).expect("a neighbour");
            assert!(victim.priority < cluster.growing.0, "seed {seed}: {name}");
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} victims in all: the clusters are too roomy to show anything");
}

#[test]
fn a_budget_is_never_overspent() {
    each(|cluster, end, seed| {
        let spent = end
            .evicted()
            .into_iter()
            .filter(|name| cluster.neighbours.iter().any(|one| one.name == *name && one.covered));
        assert!(spent.count() <= cluster.allowed, "{seed}");
    });
}

#[test]
fn nobody_is_evicted_for_what_fits() {
    each(|cluster, end, seed| {
        if cluster.short() <= 0 {
            assert!(end.evicted().is_empty(), "{seed}");
            assert_eq!(end.allocated("p", "cpu"), format!("{}m", cluster.growing.2), "{seed}");
        }
    });
}

#[test]
fn it_is_all_or_nothing() {
    each(|cluster, end, seed| {
        let possible = cluster.short() <= cluster.available();
        let wanted = if possible { cluster.growing.2 } else { cluster.growing.1 };
        assert_eq!(end.allocated("p", "cpu"), format!("{wanted}m"), "{seed}");
        assert!(possible || end.evicted().is_empty(), "{seed}");
    });
}

#[test]
fn no_victim_could_have_stayed() {
    each(|cluster, end, seed| {
        let victims = end.evicted();
        for spared in &victims {
            let freed = cluster.cpu(victims.iter().filter(|name| *name != spared));
            assert!(freed < cluster.short(), "{seed}: {spared} died for nothing");
        }
    });
}

#[test]
fn victims_leave_once_and_the_growing_pod_never() {
    each(|_, end, seed| {
        let picks = end
            .0
            .history()
            .iter()
            .filter(|moment| matches!(&moment.what, What::Decision(Decision::Preempting { .. })));
        assert!(picks.count() <= 1, "{seed}: one request, one set of victims");
        assert!(end.0.api().pods.get(&Key::new("default", "p")).is_some_and(|pod| !pod.leaving()), "{seed}");
    });
}
