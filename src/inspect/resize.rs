//! The explanation of a Deferred or planned resize.
//!
//! Invariant: the state and its sentence are the engine's own; nothing is judged here.

use super::shape::{Refusal, Resize, RoomLine, Said};
use super::tables::Verdict;
use super::{names, neighbours};
use crate::cluster::{Cluster, PodRow};
use crate::model::pod::Condition;
use crate::resize::explain::{Picture, Room};
use crate::resize::text::amount;
use crate::resize::{Reason, ResizePolicy};

/// Said in the place of the sentence for a Pod that waits, where none waits yet.
const FITS: &str = "there is room: the kubelet would allocate it at once";

/// What a resize is explained from.
pub struct Findings<'a> {
    /// The tables before anything was decided.
    pub cluster: &'a Cluster,
    /// The growing Pod.
    pub row: &'a PodRow,
    /// The policy it was judged by.
    pub policy: &'a ResizePolicy,
    /// The state that the engine gives it.
    pub state: (Reason, String),
    /// What the engine decided.
    pub verdict: &'a Verdict,
    /// The room and the neighbours.
    pub picture: &'a Picture,
    /// If nobody has asked for it yet: what the API would say, and how to ask.
    pub wish: Option<Wish>,
}

/// A resize that is only planned.
pub struct Wish {
    /// Why the API would refuse it; empty if it would not.
    pub refusals: Vec<Refusal>,
    /// The command that asks for it.
    pub command: String,
}

impl Findings<'_> {
    /// The reason that counts for people: what a running elbowroom has seen and the tables cannot show comes
    /// first.
    pub fn reason(&self) -> Reason {
        let told = self.told().map(|condition| condition.reason.as_str());
        let seen = [Reason::EvictionFailed, Reason::KubeletDisagrees, Reason::LimitReached, Reason::Waiting];
        let of_now = match self.state.0 {
            Reason::Preempting => &seen[..],
            Reason::WaitingForKubelet => &seen[1..2],
            _ => &[],
        };
        of_now.iter().copied().find(|one| told == Some(one.as_str())).unwrap_or(self.state.0)
    }

    /// The Pod's own condition, if it is about what the Pod asks for now.
    pub fn told(&self) -> Option<&Condition> {
        let generation = Some(self.row.pod.generation);
        self.row.pod.report.as_deref().filter(|told| told.observed_generation == generation)
    }

    /// As JSON and text show it.
    pub fn shown(&self) -> Resize {
        let cluster = self.cluster;
        let (reason, message) = &self.state;
        let planned = self.wish.is_some();
        let kubelet = self.row.pod.resize.as_deref().filter(|_| !planned);
        let fits = planned && *reason == Reason::WaitingForKubelet;
        Resize {
            planned,
            kubelet: kubelet.map(said),
            told: self.told().map(said),
            state: Said {
                status: reason.hopeful(),
                reason: reason.as_str().to_owned(),
                message: if fits { FITS.to_owned() } else { message.clone() },
                since: None,
            },
            refusals: self.wish.as_ref().map(|wish| wish.refusals.clone()).unwrap_or_default(),
            room: self.picture.room.iter().map(|room| line(cluster, room)).collect(),
            tried_before: self.picture.before.iter().map(|id| names::path_of(cluster, *id)).collect(),
            victims: neighbours::victims(cluster, &self.picture.others, &self.verdict.forced),
            exact: self.verdict.exact,
            neighbours: neighbours::groups(cluster, &self.picture.others, &self.verdict.others),
        }
    }
}

fn said(condition: &Condition) -> Said {
    Said {
        status: condition.status,
        reason: condition.reason.to_string(),
        message: condition.message.trim().to_owned(),
        since: condition.since.map(names::rfc3339),
    }
}

fn line(cluster: &Cluster, room: &Room) -> RoomLine {
    let write = |value| amount(room.resource, value);
    RoomLine {
        resource: cluster.resources.name(room.resource).to_string(),
        allocatable: write(room.allocatable),
        held_by_others: write(room.others),
        leaving: write(room.leaving),
        taken_before: write(room.before),
        left: write(room.left()),
        asks: write(room.asks),
        short: write(room.short),
    }
}
