//! Who is leaving already, and who comes back.

use super::*;

#[test]
fn c07_a_restart_finds_its_victim_and_adds_none() {
    let mut case = stage("c07");
    case.until(20);
    let v = case.pod("v").condition("DisruptionTarget").and_then(|one| one.reason.clone());
    assert_eq!(v.as_deref(), Some("EvictionByEvictionAPI"));
    let restarted = |moment: &elbowroom::simulation::world::Moment| matches!(moment.what, What::Restarted);
    assert!(case.0.history().iter().any(restarted));
    assert_eq!(case.reason("r"), "WaitingForVictims");
    case.until(120);
    case.only_call("v");
    assert_eq!(case.allocated("r", "cpu"), "6000m");
    assert_eq!(case.node("q"), None, "6 and 2 are all there is");
}

#[test]
fn c08_an_equal_pod_that_leaves_by_itself_is_waited_for() {
    let mut case = stage("c08");
    case.until(10);
    assert_eq!(case.reason("r"), "WaitingForVictims");
    assert_eq!((case.node("q1"), case.node("q2")), (None, None));
    case.until(120);
    assert_eq!(case.calls(), []);
    assert_eq!(case.allocated("r", "cpu"), "6000m");
    assert_eq!((case.node("q1"), case.node("q2")), (None, Some("n1")));
}

#[test]
fn c09_room_that_another_scheduler_refills_is_freed_in_growing_intervals() {
    let mut case = stage("c09");
    case.until(300);
    let calls = case.calls();
    assert!(calls.iter().all(|(_, name, granted)| name.starts_with('v') && *granted), "{calls:?}");
    let gaps: Vec<f64> = calls.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps.windows(2).all(|pair| pair[1] + 0.1 >= pair[0]), "{gaps:?}");
    assert!(gaps.last().is_some_and(|last| (59.0..=62.0).contains(last)), "up to a minute: {gaps:?}");
    assert!(case.told("r", "ResizePreempting") <= calls.len());
    assert_eq!(case.node("other"), Some("n2"), "other work goes on");
}
