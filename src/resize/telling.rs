//! What people are told of an entry, and when.
//!
//! Invariant: a state is told once; the event that goes with it is not repeated while it stays the same.

use super::entry::{Entry, Fits};
use super::kubelet::View;
use super::orders::Order;
use super::said::Said;
use super::{Reason, text};
use crate::cluster::{Cluster, NodeId};
use crate::model::{Span, Timestamp};
use std::collections::BTreeSet;

/// The kubelet's words may be older than what we see; only after this long do they contradict us.
const SETTLE: Span = Span::from_seconds(5);

/// The same blocking reason is not announced again sooner than this.
const QUIET: Span = Span::from_seconds(300);

/// The words for a round that has to wait until then.
pub(super) fn put_off(entry: &Entry, at: Timestamp) -> (Reason, String) {
    match &entry.refusal {
        Some(refusal) => (Reason::EvictionFailed, text::eviction_failed(refusal, at)),
        None => (Reason::Waiting, text::next_round(&entry.node_name, at)),
    }
}

/// Turns `WaitingForKubelet` into `KubeletDisagrees` where the kubelet judged again and named a shortage.
pub(super) fn heed_kubelet(
    entry: &mut Entry,
    cluster: &Cluster,
    reason: Reason,
    message: String,
    now: Timestamp,
    wakes: &mut BTreeSet<(Timestamp, NodeId)>,
) -> (Reason, String) {
    if reason != Reason::WaitingForKubelet {
        entry.fits = None;
        return (reason, message);
    }
    let Some(row) = cluster.pods.get(entry.id) else { return (reason, message) };
    let words = row.pod.resize.as_ref().map(|condition| condition.message.clone()).unwrap_or_default();
    let fits = entry.fits.get_or_insert_with(|| Fits { since: now, words: words.clone(), disagreed: false });
    if fits.words != words {
        let ripe = fits.since + SETTLE;
        if ripe > now {
            wakes.insert((ripe, entry.node));
        } else if matches!(Said::parse(&words), Said::Shortage { .. }) {
            fits.disagreed = true;
        }
    }
    if fits.disagreed {
        let view = View::read(cluster, entry.node);
        return (Reason::KubeletDisagrees, text::disagrees(cluster, entry.node, &view, row, &words));
    }
    (reason, message)
}

/// Tells a state if it is a new one. That a resize merely waits is announced only when it is the first thing to say
/// about it, and has been so for a while: most are over before anybody looks.
pub(super) fn tell(
    entry: &mut Entry,
    cluster: &Cluster,
    (reason, message): (Reason, String),
    now: Timestamp,
    orders: &mut Vec<Order>,
    wakes: &mut BTreeSet<(Timestamp, NodeId)>,
) {
    let Some(row) = cluster.pods.get(entry.id) else { return };
    let told_before_us = row.pod.report.as_ref().is_some_and(|told| {
        told.reason == reason.as_str()
            && told.message == *message
            && told.observed_generation == Some(entry.generation)
    });
    let known = entry.state.as_ref().map(|(reason, _)| *reason);
    if known != Some(reason) {
        entry.state_since = now;
    }
    let new = entry.state.as_ref() != Some(&(reason, message.clone()));
    let announce = match entry.announced {
        None if told_before_us && new => {
            entry.announced = Some((reason, now));
            false
        }
        None if reason.waits() => {
            let ripe = entry.state_since + SETTLE;
            if ripe > now {
                wakes.insert((ripe, entry.node));
            }
            ripe <= now
        }
        None => new,
        Some(_) if reason.waits() => false,
        Some((before, at)) => new && (before != reason || now - at >= QUIET || reason == Reason::Preempting),
    };
    if announce {
        entry.announced = Some((reason, now));
    }
    if new {
        entry.state = Some((reason, message.clone()));
    }
    if new || announce || !told_before_us {
        orders.push(Order::State {
            pod: entry.pod.clone(),
            profile: entry.profile.clone(),
            node: entry.node_name.clone(),
            generation: entry.generation,
            reason,
            message,
            announce,
            new,
        });
    }
}
