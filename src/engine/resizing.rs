//! Between the resize queue and the outside: its orders become effects, answers become its replies.
//!
//! Invariant: a victim's event names the growing Pod only inside one namespace.

use super::answer::{Answer, EvictAnswer};
use super::decision::Decision;
use super::effect::{ConditionValue, Effect, Event};
use super::{Call, Engine};
use crate::cluster::PodId;
use crate::model::pod::REPORT_CONDITION;
use crate::model::{Budget, Pod, PodRef, Str, Timestamp};
use crate::resize::{Answered, Ask, Order, Outcome, Policies, Reply, ResizeEvent};
use crate::scheduling::ClusterEvent;

impl Engine {
    /// Puts other rules in force.
    pub(super) fn obey(&mut self, policies: Policies, now: Timestamp, effects: &mut Vec<Effect>) {
        let mut orders = Vec::new();
        self.resizes.obey(policies, &mut self.cluster, now, &mut orders);
        self.carry_out(orders, now, effects);
    }

    pub(super) fn run_resizes(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        let mut orders = Vec::new();
        self.resizes.run(&mut self.cluster, now, &mut orders);
        self.carry_out(orders, now, effects);
    }

    pub(super) fn carry_out(&mut self, orders: Vec<Order>, now: Timestamp, effects: &mut Vec<Effect>) {
        for order in orders {
            self.carry_out_one(order, now, effects);
        }
    }

    fn carry_out_one(&mut self, order: Order, now: Timestamp, effects: &mut Vec<Effect>) {
        match order {
            Order::Ask { preemptor, victim, ask, plan } => self.ask(preemptor, victim, ask, plan, effects),
            Order::State { pod, profile, node, generation, reason, message, announce, new } => {
                let value = ConditionValue {
                    status: reason.hopeful(),
                    reason: reason.as_str(),
                    message: message.clone(),
                    observed_generation: generation,
                    since: None,
                };
                self.conditions.want(&pod, REPORT_CONDITION, Some(value));
                if announce {
                    effects.push(Effect::Emit(resize_event(&pod, reason.event(), message.clone(), profile)));
                }
                if new {
                    effects.push(Effect::Report(Decision::Resize { pod, node, reason, message }));
                }
            }
            Order::Preempting { pod, node, victims, exact } => {
                effects.push(Effect::Report(Decision::Preempting { pod, node, victims, exact }));
            }
            Order::Evicted { preemptor, profile, victim } => {
                effects.extend(self.preempted(&preemptor, profile, victim).map(Effect::Emit));
            }
            Order::Dropped { pod } => self.conditions.want(&pod, REPORT_CONDITION, None),
            Order::Overdue { pod, victim, node } => {
                effects.push(Effect::Report(Decision::VictimOverdue { pod, victim, node }));
            }
            Order::Ended { pod, profile, outcome, preempted, since, waited } => {
                if outcome == Outcome::Allocated {
                    self.actuating.insert(pod.uid.clone(), since);
                    if preempted {
                        let note = "the kubelet allocated the resize in the room that was made".to_owned();
                        effects.push(Effect::Emit(resize_event(&pod, ResizeEvent::Preempted, note, profile)));
                    }
                }
                effects.push(Effect::Report(Decision::ResizeEnded { pod, outcome, preempted, waited }));
            }
            Order::ClaimReleased(_) => self.waiting.wake(ClusterEvent::AssignedPodScaleDown, now),
        }
    }

    fn ask(&mut self, preemptor: Str, victim: PodRef, ask: Ask, plan: u64, effects: &mut Vec<Effect>) {
        let budgets = match (ask, self.cluster.pods.by_uid(&victim.uid)) {
            (Ask::Read, Some((_, row))) => {
                let covering = self.cluster.budgets.covering(&victim.namespace, &row.pod.labels);
                covering.iter().map(|budget| budget.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let growing = self.growing(&preemptor);
        let profile = growing.and_then(|pod| self.resizes.policies().of(pod)).map(|(name, _)| name.clone());
        let reporter = profile.unwrap_or_default();
        let call = self.call(Call::Victim { preemptor, victim: victim.clone(), ask, plan });
        effects.push(match ask {
            Ask::Read | Ask::Look => Effect::Read { call, pod: victim, budgets },
            Ask::DryRun => Effect::Evict { call, pod: victim, dry_run: true },
            Ask::Evict => Effect::Evict { call, pod: victim, dry_run: false },
            Ask::Delete => Effect::Delete { call, pod: victim, reporter },
        });
    }

    pub(super) fn victim_answered(
        &mut self,
        (preemptor, victim): (&Str, &PodRef),
        (ask, plan): (Ask, u64),
        answer: Answer,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        if let (Ask::Evict | Ask::Delete, Answer::Evict(answer)) = (ask, &answer) {
            effects.extend(self.evicted(preemptor, victim, answer.clone()).map(Effect::Report));
        }
        let mut orders = Vec::new();
        let reply = reply(victim, ask, answer);
        let may_act = self.leader && self.synced();
        let answered = Answered { preemptor, victim, ask, plan, reply, may_act };
        self.resizes.answer(&mut self.cluster, answered, now, &mut orders);
        self.carry_out(orders, now, effects);
    }

    fn evicted(&self, preemptor: &Str, victim: &PodRef, answer: EvictAnswer) -> Option<Decision> {
        let preemptor = self.growing(preemptor)?;
        let node = preemptor.node.clone().unwrap_or_default();
        Some(Decision::Evicted { preemptor: preemptor.id.clone(), victim: victim.clone(), node, answer })
    }

    /// The event on a victim, in kube-scheduler's words.
    fn preempted(&self, preemptor: &Str, reporter: Str, victim: PodRef) -> Option<Event> {
        let growing = self.growing(preemptor)?;
        let node = growing.node.as_ref().map(Str::as_str).unwrap_or_default();
        Some(Event {
            related: (growing.id.namespace == victim.namespace).then(|| growing.id.clone()),
            regarding: victim,
            warning: false,
            reason: "Preempted",
            action: "Preempting",
            note: format!("Preempted by pod {preemptor} on node {node}"),
            reporter,
        })
    }

    fn growing(&self, uid: &Str) -> Option<&Pod> {
        self.cluster.pods.by_uid(uid).map(|(_, row)| &row.pod)
    }

    /// Reports a resize once what was allocated is in force.
    pub(super) fn follow_actuation(
        &mut self,
        id: PodId,
        in_force: bool,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let Some(row) = self.cluster.pods.get(id).filter(|_| in_force) else { return };
        if let Some(since) = self.actuating.remove(&row.pod.id.uid) {
            let pod = row.pod.id.clone();
            effects.push(Effect::Report(Decision::ResizeActuated { pod, waited: now - since }));
        }
    }
}

fn resize_event(pod: &PodRef, kind: ResizeEvent, note: String, reporter: Str) -> Event {
    Event {
        regarding: pod.clone(),
        related: None,
        warning: kind.warning(),
        reason: kind.as_str(),
        action: "Resizing",
        note,
        reporter,
    }
}

/// What an answer means for a question about `victim`.
fn reply(victim: &PodRef, ask: Ask, answer: Answer) -> Reply {
    match (ask, answer) {
        (_, Answer::Evict(answer)) => match answer {
            EvictAnswer::Evicted => Reply::Done,
            EvictAnswer::Gone => Reply::Gone,
            EvictAnswer::Unknown(text) => Reply::Unknown(text),
            EvictAnswer::Budget(text)
            | EvictAnswer::StaleBudget(text)
            | EvictAnswer::Throttled(text)
            | EvictAnswer::Conflict(text)
            | EvictAnswer::Error(text) => Reply::Refused(text),
        },
        (ask, Answer::Read(pod, budgets)) => {
            let Some(pod) = pod.filter(|pod| pod.id.uid == victim.uid) else { return Reply::Gone };
            match ask {
                Ask::Look if pod.deletion.is_some() => Reply::Done,
                Ask::Look => Reply::Refused("the eviction got no answer and did not happen".to_owned()),
                _ if pod.deletion.is_some() => Reply::Gone,
                _ => afford(&pod, &budgets),
            }
        }
        (_, Answer::ReadFailed(text)) => Reply::Unknown(text),
        (_, other) => Reply::Unknown(format!("an answer that does not fit: {other:?}")),
    }
}

/// Whether the budgets, as just read, pay for the Pod.
fn afford(pod: &Pod, budgets: &[Budget]) -> Reply {
    let covering =
        || budgets.iter().filter(|one| one.covers(&pod.id.namespace, &pod.labels) && one.charges(pod));
    match covering().find(|budget| budget.allowance() < 1) {
        Some(budget) => Reply::Refused(format!(
            "PodDisruptionBudget {}/{} allows no disruption now",
            budget.namespace, budget.name
        )),
        None => Reply::Done,
    }
}
