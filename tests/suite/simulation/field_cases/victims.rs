//! Who goes, and who does not.

use super::*;
use elbowroom::resize::policy::Protect;
use elbowroom::simulation::objects::time;
use elbowroom::simulation::world::{Action, NodeChange};

#[test]
fn c14_a_pod_of_equal_priority_is_never_a_victim() {
    let mut case = stage("c14");
    case.until(600);
    assert_eq!(case.calls(), []);
    assert_eq!(case.reason("r"), "InsufficientVictims");
    assert_eq!(case.told("r", "ResizePreemptionBlocked"), 1, "said once in ten minutes");
    case.until(720);
    assert_eq!(case.calls(), []);
    assert_eq!(case.allocated("r", "cpu"), "3000m");
}

#[test]
fn c15_a_missing_priority_is_zero_and_negative_ones_are_below_it() {
    let end = play("c15");
    assert_eq!(end.evicted(), ["b"]);
    assert_eq!(end.allocated("r", "cpu"), "4000m");
    assert!(!end.pod("a").leaving());
}

#[test]
fn c16_the_big_low_pod_goes_not_the_small_ones_above_it() {
    let end = play("c16");
    end.only_call("d");
    assert_eq!(end.allocated("r", "cpu"), "5000m");
    assert!(["a", "b", "c"].iter().all(|name| !end.pod(name).leaving()));
}

#[test]
fn c18_idle_room_counts_before_victims() {
    let end = play("c18");
    // The one that started last.
    end.only_call("v4");
    assert_eq!(end.allocated("r", "cpu"), "7000m");
}

#[test]
fn c19_one_call_goes_out_for_a_victim_whatever_happens_around_it() {
    let mut case = stage("c19");
    for round in 0..25 {
        let at = Span::from_millis(2000 + 1500 * round);
        let labels = [("round".to_owned(), Some(round.to_string()))].into();
        let change = NodeChange { labels, ..NodeChange::default() };
        case.0.plan(at, Action::Node("n1".into(), Box::new(change)));
        let memory = if round % 2 == 0 { "2Gi" } else { "1Gi" };
        let resize = elbowroom::simulation::api::Resize::of([("memory", memory)]);
        case.0.plan(at, Action::Resize(Key::new("default", "idle"), resize));
    }
    case.until(40);
    assert!(case.pod("v").leaving() && case.pod("idle").generation() == 26);
    case.only_call("v");
    case.until(120);
    case.only_call("v");
    assert_eq!(case.told("v", "Preempted"), 1);
    assert_eq!(case.allocated("r", "cpu"), "5000m");
}

#[test]
fn c20_a_daemonset_pod_stays_where_it_is() {
    let end = play("c20");
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "ProtectedVictims");
}

#[test]
fn c20_a_daemonset_pod_that_may_go_goes_once_and_its_successor_waits() {
    let protect = Protect { daemon_sets: false, ..Protect::default() };
    let mut case = stage_with(&read(&file("c20")), ResizePolicy { protect, ..ResizePolicy::default() });
    case.until(240);
    case.only_call("ds");
    assert_eq!(case.allocated("r", "cpu"), "5000m");
    assert_eq!(case.node("ds-r1"), None, "one core is left for three");
    assert!(!case.pod("w").leaving(), "another node is no concern of a resize");
}

#[test]
fn c22_of_the_victims_status_nothing_is_ours() {
    let end = play("c22");
    end.only_call("v");
    let forms: Vec<&Pod> = end.forms("v").collect();
    assert!(forms.len() > 2);
    for pod in forms {
        let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let known = ["example.com/Warm", "PodScheduled", "Ready", "DisruptionTarget"];
        assert!(conditions.into_iter().all(|one| known.contains(&one.type_.as_str())), "{pod:?}");
        assert_eq!(pod.condition("example.com/Warm").and_then(|one| one.reason.as_deref()), Some("Filled"));
        let placed = pod.condition("PodScheduled").and_then(|one| one.last_transition_time.clone());
        assert_eq!(placed, Some(time(EPOCH + Span::from_seconds(-13 * 3600))));
    }
}

#[test]
fn c37_neighbours_count_at_what_they_hold_not_at_what_they_ask_for() {
    let end = play("c37");
    end.only_call("l3");
    assert_eq!(end.allocated("r", "cpu"), "6000m");
}

#[test]
fn c59_nobody_goes_when_it_would_not_be_enough() {
    let end = play("c59");
    assert_eq!(end.calls(), []);
    assert_eq!(end.reason("r"), "InsufficientVictims");
}

#[test]
fn c63_a_resize_from_before_the_start_is_served_once() {
    let end = play("c63");
    let at = end.only_call("v");
    assert!(at < 1.0, "{at}");
    assert_eq!(end.allocated("r", "cpu"), "4000m");
}

#[test]
fn c109_pods_of_other_schedulers_may_go_and_are_not_served() {
    let end = play("c109");
    end.only_call("v");
    assert_eq!(end.allocated("r2", "cpu"), "4000m");
    for other in ["r1", "z"] {
        let key = Key::new("default", other);
        let ours =
            |event: &&elbowroom::simulation::api::Recorded| event.pod == key && event.from != "kubelet";
        assert_eq!(end.0.api().events.iter().filter(ours).count(), 0, "{other}");
        assert_eq!(end.patches(other), 0, "{other}");
    }
    assert_eq!(end.node("z"), None);
    // 3 for r1, 4 for r2: one core is left for two.
    assert_eq!(end.node("q"), None);
}

#[test]
fn c131_a_filler_of_negative_priority_makes_room_and_then_waits() {
    let end = play("c131");
    end.only_call("filler");
    assert_eq!(end.allocated("app", "cpu"), "5000m");
    assert_eq!(end.node("filler-r1"), None);
}
