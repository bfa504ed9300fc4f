//! Several Deferred resizes on one node, planned together where that costs fewer or less important Pods.
//!
//! Invariant: whoever goes for several could have gone for each of them alone.

use super::Verdict;
use super::eligible::{Standing, standing};
use super::enough::weight;
use super::judge::{judge, preempting};
use super::kubelet::View;
use super::policies::Terms;
use crate::cluster::{Cluster, NodeId, PodId};
use crate::model::PodRef;

/// A resize that could be planned with others: its Pod and what counts for it.
pub(super) type Member<'a> = (PodId, Terms<'a>);

/// What is true of the first member. Where victims are needed, those after it in the kubelet's order are looked at
/// as well: one set for several of them, if it is better than one set for each in turn.
pub(super) fn judge_together(
    cluster: &mut Cluster,
    view: &View,
    node: NodeId,
    first: Member<'_>,
    followers: &[Member<'_>],
) -> Verdict {
    let alone = judge(cluster, view, node, (first.0, &[]), &first.1);
    let Verdict::Evict { victims, .. } = &alone else { return alone };
    if followers.is_empty() {
        return alone;
    }
    let mut best = None;
    let mut marked: Vec<PodRef> = victims.clone();
    let mut members = vec![first];
    // As if each had its victims before the next is looked at.
    mark(cluster, victims, first.1);
    for follower in followers {
        let later = View::read(cluster, node);
        let own = judge(cluster, &later, node, (follower.0, &[]), &follower.1);
        let Verdict::Evict { victims, .. } = own else { continue };
        mark(cluster, &victims, follower.1);
        marked.extend(victims);
        members.push(*follower);
        let one_by_one = weight(cluster, &ids(cluster, &marked));
        spare(cluster, &marked);
        let together = for_all(cluster, view, node, &members);
        if let Some(set) = together.filter(|set| set_weight(cluster, set) < one_by_one) {
            best = Some(set);
        }
        mark(cluster, &marked, first.1);
    }
    spare(cluster, &marked);
    match best {
        Some(Verdict::Evict { victims, forced, exact, message }) => {
            let message = preempting(cluster, view, first.0, &victims).unwrap_or(message);
            Verdict::Evict { victims, forced, exact, message }
        }
        _ => alone,
    }
}

/// One set of victims with which all members are granted.
fn for_all(cluster: &Cluster, view: &View, node: NodeId, members: &[Member<'_>]) -> Option<Verdict> {
    let ((last, terms), company) = members.split_last()?;
    let company: Vec<PodId> = company.iter().map(|(id, _)| *id).collect();
    let set = judge(cluster, view, node, (*last, &company), terms);
    let Verdict::Evict { victims, .. } = &set else { return None };
    let fair = |victim: &PodRef| {
        let Some((id, row)) = cluster.pods.by_uid(&victim.uid) else { return false };
        members.iter().all(|(one, terms)| standing(cluster, id, row, *one, terms) == Standing::Eligible)
    };
    victims.iter().all(fair).then_some(set)
}

fn set_weight(cluster: &Cluster, set: &Verdict) -> Vec<i32> {
    match set {
        Verdict::Evict { victims, .. } => weight(cluster, &ids(cluster, victims)),
        _ => Vec::new(),
    }
}

fn ids(cluster: &Cluster, pods: &[PodRef]) -> Vec<PodId> {
    pods.iter().filter_map(|pod| cluster.pods.id(&pod.uid)).collect()
}

fn mark(cluster: &mut Cluster, victims: &[PodRef], terms: Terms<'_>) {
    for id in ids(cluster, victims) {
        cluster.evicting(id, terms.now);
    }
}

fn spare(cluster: &mut Cluster, victims: &[PodRef]) {
    for victim in victims {
        cluster.spare(&victim.uid);
    }
}
