//! Disruption budgets hold, whatever else happens.

use super::*;
use elbowroom::simulation::world::{Action, NodeChange};

#[test]
fn c03_two_resizes_on_two_nodes_share_one_budget() {
    let mut case = stage("c03");
    case.until(59);
    let granted: Vec<_> = case.calls().into_iter().filter(|(.., granted)| *granted).collect();
    assert_eq!(granted.len(), 1, "{granted:?}");
    let mut reasons = [case.reason("r1"), case.reason("r2")];
    reasons.sort();
    assert_eq!(reasons, ["", "BlockedByPDB"], "one is through, the other waits");
    case.until(180);
    assert_eq!(case.evicted(), ["v1", "v2"]);
    assert_eq!(case.calls().iter().filter(|(.., granted)| *granted).count(), 2);
    for pod in ["r1", "r2"] {
        assert_eq!(case.allocated(pod, "cpu"), "4000m");
    }
}

#[test]
fn c24_a_pod_under_two_budgets_stays() {
    let end = play("c24");
    end.only_call("v2");
    assert_eq!(end.allocated("r", "cpu"), "5000m");
}

#[test]
fn c24_nobody_goes_when_only_a_pod_under_two_budgets_could() {
    let end = finish(&variant("c24", "priority: 2\n", "priority: 99\n"));
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "BlockedByPDB");
    let note = end.note("r", "ResizePreemptionBlocked");
    assert!(note.contains("default/one") && note.contains("default/two"), "{note}");
}

#[test]
fn c26_an_unready_pod_goes_where_its_budget_always_allows_it() {
    let end = play("c26");
    end.only_call("v1");
    assert_eq!(end.allocated("r", "cpu"), "5000m");

    let end = finish(&variant("c26", "type: Ready, status: \"False\"", "type: Ready, status: \"True\""));
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "BlockedByPDB");
}

#[test]
fn c28_a_budget_does_not_keep_a_pod_that_never_started() {
    let mut case = stage("c28");
    case.until(4);
    assert_eq!((case.node("i"), case.pod("i").phase()), (Some("n1"), "Pending"));
    case.until(60);
    case.only_call("i");
    assert_eq!(case.allocated("r", "cpu"), "2000m");
}

#[test]
fn c29_a_budget_that_is_used_up_is_not_hammered() {
    let mut case = stage("c29");
    for round in 0..600 {
        let labels = [("round".to_owned(), Some(round.to_string()))].into();
        let change = NodeChange { labels, ..NodeChange::default() };
        case.0.plan(Span::from_millis(200 * round), Action::Node("n1".into(), Box::new(change)));
    }
    case.until(119);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "BlockedByPDB");
    assert!(case.note("r", "ResizePreemptionBlocked").contains("default/pdb"));
    case.until(240);
    let at = case.only_call("v");
    assert!((120.0..180.0).contains(&at), "within one capped backoff of its opening, not at {at} s");
    assert_eq!(case.told("r", "ResizePreemptionBlocked"), 1);
    assert_eq!(case.allocated("r", "cpu"), "4000m");
}

#[test]
fn c128_a_budget_that_allows_nothing_keeps_the_least_important() {
    let end = play("c128");
    end.only_call("other");
    assert_eq!(end.allocated("r", "cpu"), "4000m");

    let end = finish(&variant("c128", "priority: 2\n", "priority: 99\n"));
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "BlockedByPDB");
}
