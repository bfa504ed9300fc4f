//! Watches: changes become facts that come a little later, and every life begins with whole lists.
//!
//! Invariant: a finished Pod is not watched, so its end is told as a deletion, as the driver's field selector has it.

use super::{Task, WATCH, What, World};
use crate::engine::{Fact, Input};
use crate::simulation::api::Change;
use crate::simulation::objects::PodExt;

impl World {
    /// Starts the scheduler and gives it the lists.
    pub(super) fn begin(&mut self) {
        if self.brain.is_some() {
            return;
        }
        self.life += 1;
        self.brain = Some((self.start)());
        self.due = [self.now; 4];
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

    fn lists(&mut self) -> Vec<Input> {
        let mut all = Vec::new();
        all.push(Input::Namespace(Fact::Begin));
        for namespace in self.api.namespaces.values() {
            all.extend(
                self.facts.namespace(namespace).map(|one| Input::Namespace(Fact::Apply(Box::new(one)))),
            );
        }
        all.push(Input::Namespace(Fact::End));
        all.push(Input::Node(Fact::Begin));
        for node in self.api.nodes.values() {
            all.extend(self.facts.node(node).map(|one| Input::Node(Fact::Apply(Box::new(one)))));
        }
        all.push(Input::Node(Fact::End));
        all.push(Input::Budget(Fact::Begin));
        for budget in self.api.budgets.values() {
            all.extend(self.facts.budget(budget).map(|one| Input::Budget(Fact::Apply(Box::new(one)))));
        }
        all.push(Input::Budget(Fact::End));
        all.push(Input::Pod(Fact::Begin));
        for pod in self.api.pods.values().filter(|pod| !pod.finished()) {
            all.extend(self.facts.pod(pod).map(|one| Input::Pod(Fact::Apply(Box::new(one)))));
        }
        all.push(Input::Pod(Fact::End));
        all
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
