//! What the API says to an eviction, and what follows.

use super::world::*;
use elbowroom::engine::{Answer, Decision, Effect, EvictAnswer, Fact, Input};
use elbowroom::model::{Pod, Timestamp};
use elbowroom::resize::Reason;

fn story() -> World {
    World::new(vec![node("n1", "8")], vec![pod("v", 1, "3"), deferred("p", 50, "4", "6")], vec![])
}

#[test]
fn one_call_goes_out_for_a_victim_however_often_it_is_seen() {
    let mut world = story();
    let (call, _) = world.evictions().remove(0);
    world.answer(call, EvictAnswer::Evicted);
    for _ in 0..50 {
        world.leaving(pod("v", 1, "3"));
        world.see(deferred("p", 50, "4", "6"));
    }
    assert_eq!(world.evictions(), []);
}

#[test]
fn a_refusal_is_tried_again_with_growing_backoff() {
    let mut world = story();
    let mut calls = 0;
    for _ in 0..120 {
        for (call, _) in world.evictions() {
            calls += 1;
            world.answer(call, EvictAnswer::Throttled("slow down".into()));
        }
        world.wait(1);
    }
    // At 0, 1, 3, 7, 15, 31 and 63 seconds, then once a minute.
    assert_eq!(calls, 7);
    assert_eq!(world.reason("p"), Some(Reason::EvictionFailed));
    assert!(world.message("p").contains("slow down. Tried again at"), "{}", world.message("p"));
}

#[test]
fn an_eviction_without_answer_is_looked_up_before_anything_else() {
    let mut world = story();
    let (call, _) = world.evictions().remove(0);
    world.answer(call, EvictAnswer::Unknown("time-out".into()));
    let look = world.take().into_iter().find_map(|effect| match effect {
        Effect::Read { call, .. } => Some(call),
        _ => None,
    });
    let mut leaving = pod("v", 1, "3");
    leaving.deletion = Some(Timestamp::from_seconds(3030));
    world.step(Input::Answer(look.expect("a look"), Answer::Read(Some(Box::new(leaving)), vec![])));
    assert_eq!(world.evictions(), []);
    assert_eq!(world.reason("p"), Some(Reason::WaitingForVictims));
}

#[test]
fn an_eviction_stays_credit_until_the_api_can_say_whether_it_happened() {
    let pods = vec![pod("v", 1, "3"), deferred("p", 50, "4", "6")];
    let mut world = World::new(vec![node("n1", "8")], pods, vec![]);
    let (call, _) = world.evictions().remove(0);
    world.answer(call, EvictAnswer::Unknown("time-out".into()));
    // Meanwhile a Pod comes that would be the better victim.
    world.see(pod("w", 0, "3"));
    let mut looks = 0;
    for _ in 0..10 {
        for effect in world.take() {
            match effect {
                Effect::Read { call, .. } => {
                    looks += 1;
                    world.step(Input::Answer(call, Answer::ReadFailed("no API server".into())));
                }
                Effect::Evict { pod, .. } => panic!("{} is evicted too", pod.name),
                _ => {}
            }
        }
        world.wait(1);
    }
    assert_eq!(looks, 5);
}

#[test]
fn a_check_that_ends_during_a_relist_evicts_nobody_until_the_list_is_complete() {
    let pods = vec![pod("v", 1, "200m"), deferred("p", 100, "100m", "300m")];
    let mut world = World::new(vec![node("n1", "300m")], pods, vec![budget("all", 1)]);
    let read = world.take().into_iter().find_map(|effect| match effect {
        Effect::Read { call, .. } => Some(call),
        _ => None,
    });
    world.step(Input::Budget(Fact::Begin));
    let seen = Answer::Read(Some(Box::new(pod("v", 1, "200m"))), vec![budget("all", 1)]);
    world.step(Input::Answer(read.expect("a read"), seen));
    assert_eq!(world.evictions(), []);
    world.see_budget(budget("all", 0));
    world.step(Input::Budget(Fact::End));
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::BlockedByPdb));
}

#[test]
fn nobody_goes_unless_all_may_go() {
    let pods = vec![pod("v1", 1, "1"), pod("v2", 1, "1"), deferred("p", 50, "4", "6")];
    let mut world = World::new(vec![node("n1", "6")], pods, vec![]);
    let asked: Vec<_> = world
        .take()
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Evict { call, dry_run, .. } => Some((call, dry_run)),
            _ => None,
        })
        .collect();
    assert!(asked.len() == 2 && asked.iter().all(|(_, dry_run)| *dry_run), "{asked:?}");
    world.answer(asked[0].0, EvictAnswer::Evicted);
    world.answer(asked[1].0, EvictAnswer::Error("a webhook says no".into()));
    assert_eq!(world.evictions(), []);
    assert_eq!(world.reason("p"), Some(Reason::EvictionFailed));
}

#[test]
fn the_plan_is_dropped_when_the_wish_is_taken_back_meanwhile() {
    let pods = vec![pod("v1", 1, "1"), pod("v2", 1, "1"), deferred("p", 50, "4", "6")];
    let mut world = World::new(vec![node("n1", "6")], pods, vec![]);
    world.see(pod("p", 50, "4"));
    assert_eq!(world.agree(), Vec::<String>::new());
}

#[test]
fn a_victim_that_is_gone_already_is_no_failure() {
    let mut world = story();
    let (call, _) = world.evictions().remove(0);
    world.answer(call, EvictAnswer::Gone);
    world.gone(pod("v", 1, "3"));
    assert_eq!(world.reason("p"), Some(Reason::WaitingForKubelet));
}

#[test]
fn room_that_others_refill_is_freed_again_only_after_a_growing_pause() {
    let mut world = story();
    let mut evicted = world.agree().len();
    for round in 0..300 {
        world.gone(pod(&format!("v{}", round - 1), 1, "3"));
        world.gone(pod("v", 1, "3"));
        world.see(pod(&format!("v{round}"), 1, "3"));
        world.wait(1);
        evicted += world.agree().len();
    }
    assert!((5..=12).contains(&evicted), "{evicted} evictions in five minutes");
}

#[test]
fn a_victim_that_outlives_its_grace_period_is_reported_and_not_replaced() {
    let pods = vec![pod("v", 1, "3"), pod("w", 1, "1"), deferred("p", 50, "4", "6")];
    let mut world = World::new(vec![node("n1", "8")], pods, vec![]);
    assert_eq!(world.agree(), ["v"]);
    let leaving = Pod { deletion: Some(Timestamp::from_seconds(3030)), ..pod("v", 1, "3") };
    world.see(leaving.clone());
    world.take();
    world.wait(200);
    world.see(leaving);
    let overdue = |effect: &&Effect| matches!(effect, Effect::Report(Decision::VictimOverdue { victim, .. }) if victim.name == "v");
    assert_eq!(world.effects.iter().filter(overdue).count(), 1);
    assert!(world.message("p").contains("still there: v. Look at"), "{}", world.message("p"));
    assert_eq!(world.agree(), Vec::<String>::new());
}

#[test]
fn a_kubelet_that_still_names_a_shortage_is_believed_and_nobody_else_goes() {
    let mut world = story();
    assert_eq!(world.agree(), ["v"]);
    world.gone(pod("v", 1, "3"));
    assert_eq!(world.reason("p"), Some(Reason::WaitingForKubelet));
    world.wait(10);
    let mut again = deferred("p", 50, "4", "6");
    let said = "Node didn't have enough resource: cpu, requested: 6000, used: 2500, capacity: 8000";
    again.resize.as_mut().expect("a condition").message = said.into();
    world.see(again);
    assert_eq!(world.agree(), Vec::<String>::new());
    assert_eq!(world.reason("p"), Some(Reason::KubeletDisagrees));
    assert!(world.message("p").contains("used: 2500"), "{}", world.message("p"));
}

#[test]
fn a_restart_adds_no_victim() {
    let mut leaving = pod("v", 1, "3");
    leaving.deletion = Some(Timestamp::from_seconds(3030));
    let pods = vec![leaving, pod("w", 1, "3"), deferred("p", 50, "4", "6")];
    let mut world = World::new(vec![node("n1", "10")], pods, vec![]);
    assert_eq!(world.agree(), Vec::<String>::new());
}

#[test]
fn the_victim_is_told_in_upstreams_words_and_learns_no_name_of_another_namespace() {
    let mut stranger = pod("v", 1, "3");
    stranger.id.namespace = "elsewhere".into();
    let mut world = World::new(vec![node("n1", "8")], vec![stranger, deferred("p", 50, "4", "6")], vec![]);
    world.agree();
    world.see(pod("x", 50, "1"));
    let mut world = story();
    let (call, _) = world.evictions().remove(0);
    world.answer(call, EvictAnswer::Evicted);
    let effects = world.take();
    let told = events(&effects).into_iter().find(|event| event.reason == "Preempted").expect("an event");
    assert_eq!(told.note, "Preempted by pod p on node n1");
    assert_eq!(told.related.as_ref().map(|pod| pod.name.to_string()).as_deref(), Some("p"));
}

#[test]
fn an_allocated_resize_ends_with_an_event_and_without_condition() {
    let mut world = story();
    assert_eq!(world.agree(), ["v"]);
    world.gone(pod("v", 1, "3"));
    world.agree();
    let mut grown = pod("p", 50, "6");
    grown.generation = 2;
    world.take();
    world.see(grown);
    let effects = world.take();
    assert!(events(&effects).iter().any(|event| event.reason == "ResizePreempted"));
    assert!(decisions(&effects).iter().any(|one| matches!(one, Decision::ResizeActuated { .. })));
    assert_eq!(world.reason("p"), None);
}

#[test]
fn answers_to_a_plan_that_was_dropped_count_for_no_other() {
    let pods = vec![pod("v1", 1, "1"), pod("v2", 1, "1"), deferred("p", 50, "4", "6")];
    let mut world = World::new(vec![node("n1", "6")], pods, vec![]);
    let dry_runs = |world: &mut World| -> Vec<_> {
        let asked = world.take().into_iter().filter_map(|effect| match effect {
            Effect::Evict { call, dry_run: true, .. } => Some(call),
            _ => None,
        });
        asked.collect()
    };
    let dropped = dry_runs(&mut world);
    world.see(pod("p", 50, "4"));
    world.see(Pod { generation: 3, observed_generation: Some(3), ..deferred("p", 50, "4", "6") });
    let asked = dry_runs(&mut world);
    assert_eq!((dropped.len(), asked.len()), (2, 2));
    // The old plan's answers come late; of the new plan nothing is known yet.
    dropped.into_iter().for_each(|call| world.answer(call, EvictAnswer::Evicted));
    assert_eq!(world.evictions(), []);
    world.answer(asked[0], EvictAnswer::Evicted);
    world.answer(asked[1], EvictAnswer::Evicted);
    assert_eq!(world.evictions().len(), 2);
}
