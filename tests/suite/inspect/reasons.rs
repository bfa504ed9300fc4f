//! One golden explanation for each reason. Each names what is in the way and a next step.

use super::{explained, screen, with_policy};
use elbowroom::config::Config;
use elbowroom::inspect::shape::Explanation;
use elbowroom::model::Span;
use elbowroom::resize::policy::{Mode, Preemptors};
use elbowroom::resize::{Reason, ResizePolicy};

/// The policy under which each dump shows its reason.
fn config(reason: Reason) -> Config {
    let policy = ResizePolicy::default();
    with_policy(match reason {
        Reason::NotAllowed => {
            let preemptors = Preemptors { min_priority: Some(2000), ..Preemptors::default() };
            ResizePolicy { preemptors, ..policy }
        }
        Reason::GraceTooLong => ResizePolicy { deadline: Some(Span::from_seconds(600)), ..policy },
        Reason::LimitReached => ResizePolicy { max_victims: Some(1), ..policy },
        Reason::Waiting => ResizePolicy { wait: Span::from_seconds(600), ..policy },
        Reason::Observing => ResizePolicy { mode: Mode::Observe, ..policy },
        _ => policy,
    })
}

/// The dump's name is the reason's: `BlockedByPDB` is `blocked-by-pdb`.
fn file(reason: Reason) -> String {
    let letters: Vec<char> = reason.as_str().chars().collect();
    let lower = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|one| one.is_lowercase());
    let mut name = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if at > 0 && letter.is_uppercase() && (lower(at.checked_sub(1)) || lower(at.checked_add(1))) {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn of(reason: Reason) -> Explanation {
    explained(&file(reason), &config(reason))
}

macro_rules! golden {
    ($($test:ident: $reason:ident),+ $(,)?) => {
        $(#[test]
        fn $test() {
            insta::assert_snapshot!(stringify!($test), screen(&of(Reason::$reason)));
        })+
    };
}

golden! {
    preempting: Preempting,
    waiting_for_victims: WaitingForVictims,
    waiting_for_kubelet: WaitingForKubelet,
    preemption_policy_never: PreemptionPolicyNever,
    disabled_by_node: DisabledByNode,
    not_allowed: NotAllowed,
    node_not_ready: NodeNotReady,
    exceeds_node: ExceedsNode,
    not_a_shortage: NotAShortage,
    insufficient_victims: InsufficientVictims,
    protected_victims: ProtectedVictims,
    blocked_by_pdb: BlockedByPdb,
    grace_too_long: GraceTooLong,
    limit_reached: LimitReached,
    waiting: Waiting,
    eviction_failed: EvictionFailed,
    kubelet_disagrees: KubeletDisagrees,
    observing: Observing,
}

#[test]
fn every_reason_is_the_headline_of_its_dump_names_what_blocks_and_has_a_next_step() {
    for reason in Reason::ALL {
        let explanation = of(reason);
        let summary = &explanation.summary;
        assert!(summary.ends_with(&format!(": {}", reason.as_str())), "{reason:?}: {summary}");
        assert!(!explanation.next_steps.is_empty(), "{reason:?} has no next step");
        assert!(!explanation.blocked_by.is_empty(), "{reason:?} names nothing");
        for blocker in &explanation.blocked_by {
            assert!(!blocker.name.is_empty() && !blocker.detail.is_empty(), "{reason:?}: {blocker:?}");
        }
    }
}

#[test]
fn a_budget_that_blocks_is_named_with_what_it_allows() {
    let blockers = of(Reason::BlockedByPdb).blocked_by;
    let told: Vec<_> =
        blockers.iter().map(|one| (one.kind, one.name.as_str(), one.detail.as_str())).collect();
    assert_eq!(told, [("PodDisruptionBudget", "shop/web", "allows 0 of 2 Pods here")]);
}

#[test]
fn budgets_that_overlap_are_both_named() {
    let explanation = explained("blocked-by-overlap", &Config::default());
    let names: Vec<_> = explanation.blocked_by.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["shop/all", "shop/web"]);
    assert!(explanation.blocked_by[0].detail.contains("shop/web-1"));
}

#[test]
fn a_host_port_is_named_with_the_pod_that_has_it() {
    let blockers = explained("not-a-shortage-host-port", &Config::default()).blocked_by;
    assert_eq!((blockers[0].kind, blockers[0].name.as_str()), ("Pod", "shop/proxy-1"));
    assert_eq!(blockers[0].detail, "has host port 8080/TCP");
}

#[test]
fn what_the_kubelet_refuses_for_is_quoted() {
    let blockers = explained("not-a-shortage-pressure", &Config::default()).blocked_by;
    assert_eq!(blockers[0].detail, "The node had condition: [DiskPressure].");
}

#[test]
fn a_refused_eviction_is_told_beside_what_the_tables_say_now() {
    let resize = of(Reason::EvictionFailed).resize.expect("a resize");
    assert_eq!(resize.told.expect("a condition").reason, "EvictionFailed");
    assert_eq!(resize.state.reason, "Preempting");
    assert_eq!(resize.victims.len(), 1);
}

#[test]
fn who_would_go_is_named_even_where_nobody_is_evicted_yet() {
    for reason in [Reason::Observing, Reason::Waiting] {
        let resize = of(reason).resize.expect("a resize");
        let names: Vec<_> = resize.victims.iter().map(|victim| victim.name.as_str()).collect();
        assert_eq!(names, ["batch-1"], "{reason:?}");
    }
}

#[test]
fn a_crowded_node_is_told_on_one_screen() {
    insta::assert_snapshot!("crowded", screen(&explained("crowded", &Config::default())));
}
