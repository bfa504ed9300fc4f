//! Watches: changes become facts that come a little later, and every life begins with whole lists.
//!
//! Invariant: a finished Pod is not watched, so its end is told as a deletion, as the driver's field selector
//! has it.

use super::{Task, WATCH, What, World};
use crate::engine::{Fact, Input};
use crate::simulation::api::Change;
use crate::simulation::objects::PodExt;

/// Watches: Pods, Nodes, budgets and namespaces, in this order.
pub(super) const KINDS: usize = 4;

fn kind_of(input: &Input) -> Option<usize> {
    match input {
        Input::Pod(_) => Some(0),
        Input::Node(_) => Some(1),
        Input::Budget(_) => Some(2),
        Input::Namespace(_) => Some(3),
        _ => None,
    }
}

fn begin(kind: usize) -> Input {
    match kind {
        0 => Input::Pod(Fact::Begin),
        1 => Input::Node(Fact::Begin),
        2 => Input::Budget(Fact::Begin),
        _ => Input::Namespace(Fact::Begin),
    }
}

impl World {
    /// Starts the scheduler and gives it the lists.
    pub(super) fn begin(&mut self) {
        if self.brain.is_some() {
            return;
        }
        self.life += 1;
        self.brain = Some((self.start)());
        self.due = [self.now; KINDS];
        self.listing = [false; KINDS];
        self.waking = None;
        if self.life > 1 {
            self.note(What::Restarted);
        }
        let life = self.life;
        self.step(life, Input::Leader(true));
        for input in self.lists() {
            self.step(life, input);
        }
    }

    /// Kills the scheduler. It comes again after a while.
    pub(super) fn crash(&mut self) {
        if self.brain.take().is_none() {
            return;
        }
        self.note(What::Crashed);
        let downtime = self.draw_downtime();
        self.push(self.now + downtime, Task::Begin);
    }

    /// Everything there is, kind by kind. Pods come last: what they refer to is known by then.
    fn lists(&mut self) -> Vec<Input> {
        [3, 1, 2, 0].into_iter().flat_map(|kind| [vec![begin(kind)], self.list(kind)].concat()).collect()
    }

    /// All objects of a kind, and the end of their list.
    fn list(&mut self, kind: usize) -> Vec<Input> {
        let mut all = Vec::new();
        match kind {
            0 => {
                for pod in self.api.pods.values().filter(|pod| !pod.finished()) {
                    all.extend(self.facts.pod(pod).map(|one| Input::Pod(Fact::Apply(Box::new(one)))));
                }
                all.push(Input::Pod(Fact::End));
            }
            1 => {
                for node in self.api.nodes.values() {
                    all.extend(self.facts.node(node).map(|one| Input::Node(Fact::Apply(Box::new(one)))));
                }
                all.push(Input::Node(Fact::End));
            }
            2 => {
                for budget in self.api.budgets.values() {
                    all.extend(
                        self.facts.budget(budget).map(|one| Input::Budget(Fact::Apply(Box::new(one)))),
                    );
                }
                all.push(Input::Budget(Fact::End));
            }
            _ => {
                for namespace in self.api.namespaces.values() {
                    let fact = self.facts.namespace(namespace);
                    all.extend(fact.map(|one| Input::Namespace(Fact::Apply(Box::new(one)))));
                }
                all.push(Input::Namespace(Fact::End));
            }
        }
        all
    }

    /// A watch has expired: what it still had on its way is lost, and the list that follows is of a later
    /// moment.
    pub(super) fn expire(&mut self) {
        let (kind, pause) = self.draw_relist();
        if self.brain.is_none() || self.listing.get(kind).is_none_or(|busy| *busy) {
            return;
        }
        let told = |task: &Task| matches!(task, Task::Told(_, input) if kind_of(input) == Some(kind));
        self.queue.retain(|_, task| !told(task));
        if let Some(busy) = self.listing.get_mut(kind) {
            *busy = true;
        }
        self.step(self.life, begin(kind));
        self.push(self.now + pause, Task::List(self.life, kind));
    }

    /// The list that follows an expired watch.
    pub(super) fn list_anew(&mut self, life: u32, kind: usize) {
        if life != self.life || self.brain.is_none() {
            return;
        }
        if let (Some(busy), Some(due)) = (self.listing.get_mut(kind), self.due.get_mut(kind)) {
            (*busy, *due) = (false, self.now);
        }
        for input in self.list(kind) {
            self.step(life, input);
        }
    }

    /// Sends a change on its way to the scheduler.
    pub(super) fn watch(&mut self, change: &Change) {
        if self.brain.is_none() {
            return;
        }
        let (kind, input) = match change {
            Change::Pod(pod, before) => {
                let Some(fact) = self.facts.pod(pod).map(Box::new) else { return };
                let was_seen = before.as_ref().is_some_and(|old| !old.finished());
                match (pod.finished(), was_seen) {
                    (false, _) => (0, Input::Pod(Fact::Apply(fact))),
                    (true, true) => (0, Input::Pod(Fact::Delete(fact))),
                    (true, false) => return,
                }
            }
            Change::PodGone(pod) if pod.finished() => return,
            Change::PodGone(pod) => {
                let Some(fact) = self.facts.pod(pod) else { return };
                (0, Input::Pod(Fact::Delete(Box::new(fact))))
            }
            Change::Node(node, _) => {
                let Some(fact) = self.facts.node(node) else { return };
                (1, Input::Node(Fact::Apply(Box::new(fact))))
            }
            Change::NodeGone(node) => {
                let Some(fact) = self.facts.node(node) else { return };
                (1, Input::Node(Fact::Delete(Box::new(fact))))
            }
            Change::Budget(budget) => {
                let Some(fact) = self.facts.budget(budget) else { return };
                (2, Input::Budget(Fact::Apply(Box::new(fact))))
            }
            Change::BudgetGone(budget) => {
                let Some(fact) = self.facts.budget(budget) else { return };
                (2, Input::Budget(Fact::Delete(Box::new(fact))))
            }
            Change::Namespace(namespace) => {
                let Some(fact) = self.facts.namespace(namespace) else { return };
                (3, Input::Namespace(Fact::Apply(Box::new(fact))))
            }
            Change::Event(_) => return,
        };
        if self.listing.get(kind).is_some_and(|busy| *busy) {
            return;
        }
        let (delay, twice) = self.draw_event();
        let mut at = self.now + WATCH + delay;
        if let Some(due) = self.due.get_mut(kind) {
            at = at.max(*due);
            *due = at;
        }
        if twice {
            self.push(at, Task::Told(self.life, input.clone()));
        }
        self.push(at, Task::Told(self.life, input));
    }
}
