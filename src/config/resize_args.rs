//! The args of `ResizePreemption`: our own part of the file.
//!
//! Invariant: every field is read, defaulted and validated.

use super::fields::{Fields, expected, text};
use super::plugins::OWN_API_VERSION;
use super::selector;
use super::tree::{Fault, Node};
use crate::model::Str;
use crate::resize::ResizePolicy;
use crate::resize::policy::{Fallback, Mode, PdbPolicy, Preemptors, Protect, Scope};

const FIELDS: [&str; 15] = [
    "apiVersion",
    "kind",
    "mode",
    "scope",
    "bind",
    "pdbPolicy",
    "wait",
    "deadline",
    "fallback",
    "minVictimAge",
    "maxVictims",
    "maxEvictingPerNode",
    "maxEvictionsPerMinute",
    "protect",
    "preemptors",
];

/// Reads the args: whether the profile binds new Pods, and its policy.
///
/// # Errors
/// Unknown fields, wrong values, and contradictions.
pub fn read(node: &Node) -> Result<(bool, ResizePolicy), Fault> {
    let args = Fields::read("args", node, &FIELDS)?;
    args.type_meta(&[OWN_API_VERSION], "ResizePreemptionArgs")?;
    let modes = [("Enforce", Mode::Enforce), ("Observe", Mode::Observe), ("Off", Mode::Off)];
    let scopes = [("OwnPods", Scope::OwnPods), ("AllPods", Scope::AllPods)];
    let pdb_policies = [("Strict", PdbPolicy::Strict), ("BestEffort", PdbPolicy::BestEffort)];
    let fallbacks = [("None", Fallback::None), ("EvictSelf", Fallback::EvictSelf)];
    let policy = ResizePolicy {
        mode: args.choice("mode", &modes)?.unwrap_or_default(),
        scope: args.choice("scope", &scopes)?.unwrap_or_default(),
        pdb_policy: args.choice("pdbPolicy", &pdb_policies)?.unwrap_or_default(),
        wait: args.duration("wait")?.unwrap_or_default(),
        deadline: args.duration("deadline")?,
        fallback: args.choice("fallback", &fallbacks)?.unwrap_or_default(),
        min_victim_age: args.duration("minVictimAge")?.unwrap_or_default(),
        max_victims: limit(&args, "maxVictims")?,
        max_evicting_per_node: limit(&args, "maxEvictingPerNode")?,
        max_evictions_per_minute: limit(&args, "maxEvictionsPerMinute")?,
        protect: protect(&args)?,
        preemptors: preemptors(&args)?,
    };
    if policy.fallback == Fallback::EvictSelf && policy.deadline.is_none() {
        return Err(Fault::new(args.place("fallback"), "fallback: `EvictSelf` expects a deadline"));
    }
    if policy.deadline.is_some_and(|deadline| deadline <= policy.wait) {
        return Err(Fault::new(args.place("deadline"), "deadline: expected more than wait"));
    }
    Ok((args.flag("bind")?.unwrap_or(true), policy))
}

fn limit(args: &Fields<'_>, name: &str) -> Result<Option<u32>, Fault> {
    Ok(args.integer(name, 1..=i64::from(i32::MAX))?.and_then(|limit| u32::try_from(limit).ok()))
}

/// Lists that are given replace the default ones.
fn protect(args: &Fields<'_>) -> Result<Protect, Fault> {
    let known = ["namespaces", "labelSelector", "annotations", "daemonSets", "unmanaged"];
    let given = args.below("protect", &known)?;
    let mut protect = Protect::default();
    if given.get("namespaces").is_some() {
        let names = given.list("namespaces")?.iter().map(|name| text("namespaces", name).map(Str::from));
        protect.namespaces = names.collect::<Result<_, Fault>>()?;
    }
    if given.get("annotations").is_some() {
        protect.annotations =
            given.list("annotations")?.iter().map(annotation).collect::<Result<_, Fault>>()?;
    }
    protect.label_selector = selector::read(&given, "labelSelector")?;
    protect.daemon_sets = given.flag("daemonSets")?.unwrap_or(protect.daemon_sets);
    protect.unmanaged = given.flag("unmanaged")?.unwrap_or(protect.unmanaged);
    Ok(protect)
}

fn annotation(node: &Node) -> Result<(Str, Str), Fault> {
    match text("annotations", node)?.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err(expected("annotations", "`key=value`", node)),
    }
}

fn preemptors(args: &Fields<'_>) -> Result<Preemptors, Fault> {
    let given = args.below("preemptors", &["minPriority", "namespaceSelector", "labelSelector"])?;
    let min_priority = given.integer("minPriority", i64::from(i32::MIN)..=i64::from(i32::MAX))?;
    Ok(Preemptors {
        min_priority: min_priority.and_then(|priority| i32::try_from(priority).ok()),
        namespace_selector: selector::read(&given, "namespaceSelector")?,
        label_selector: selector::read(&given, "labelSelector")?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::Span;

    fn policy(text: &str) -> ResizePolicy {
        read(&Node::parse(text).unwrap()).unwrap().1
    }

    fn fault(text: &str) -> String {
        read(&Node::parse(text).unwrap()).unwrap_err().message
    }

    #[test]
    fn the_written_defaults_are_the_defaults() {
        let written = "{mode: Enforce, scope: OwnPods, pdbPolicy: Strict, wait: 0s, deadline: null, \
            fallback: None, \
            minVictimAge: 0s, maxVictims: null, maxEvictingPerNode: null, maxEvictionsPerMinute: null, \
            protect: {namespaces: [kube-system], labelSelector: null, daemonSets: true, unmanaged: false, \
            annotations: [cluster-autoscaler.kubernetes.io/safe-to-evict=false, \
            karpenter.sh/do-not-disrupt=true]}, \
            preemptors: {minPriority: null, namespaceSelector: null, labelSelector: null}}";
        assert_eq!(policy(written), ResizePolicy::default());
        assert_eq!(policy("{}"), ResizePolicy::default());
    }

    #[test]
    fn every_rule_can_be_set() {
        let read = policy(
            "{scope: AllPods, pdbPolicy: BestEffort, wait: 30s, deadline: 5m, fallback: EvictSelf, minVictimAge: 1m, \
             maxVictims: 3, maxEvictingPerNode: 2, maxEvictionsPerMinute: 10, preemptors: {minPriority: 1000}}",
        );
        assert_eq!((read.scope, read.pdb_policy), (Scope::AllPods, PdbPolicy::BestEffort));
        assert_eq!((read.wait, read.deadline), (Span::from_seconds(30), Some(Span::from_seconds(300))));
        assert_eq!((read.fallback, read.min_victim_age), (Fallback::EvictSelf, Span::from_seconds(60)));
        assert_eq!((read.max_victims, read.max_evicting_per_node), (Some(3), Some(2)));
        assert_eq!(read.max_evictions_per_minute, Some(10));
        assert_eq!(read.preemptors.min_priority, Some(1000));
    }

    #[test]
    fn a_fallback_needs_a_deadline() {
        assert_eq!(fault("{fallback: EvictSelf}"), "fallback: `EvictSelf` expects a deadline");
    }

    #[test]
    fn a_deadline_is_later_than_the_wait() {
        assert_eq!(fault("{wait: 5m, deadline: 300s}"), "deadline: expected more than wait");
        assert_eq!(fault("{deadline: 0s}"), "deadline: expected more than wait");
    }

    #[test]
    fn a_bare_off_is_the_mode_and_not_a_truth_value() {
        assert_eq!(policy("mode: Off").mode, Mode::Off);
        assert_eq!(policy("mode: \"Off\"").mode, Mode::Off);
    }

    #[test]
    fn given_lists_replace_the_default_ones() {
        let protect = policy("protect: {namespaces: [db], annotations: [keep=yes]}").protect;
        assert_eq!(protect.namespaces, [Str::from("db")]);
        assert_eq!(protect.annotations, [(Str::from("keep"), Str::from("yes"))]);
        assert!(protect.daemon_sets);
    }
}
