//! The queue, one rule a test.
//!
//! Invariant: no test reads a clock; time is a number of seconds.

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(seconds)
}

fn queue(pods: &[(u32, i32)]) -> Queue {
    let mut queue = Queue::new(QueueSettings::default());
    pods.iter().for_each(|(pod, priority)| queue.add(PodId(*pod), *priority, false, at(0)));
    queue
}

fn drain(queue: &mut Queue, now: Timestamp) -> Vec<u32> {
    std::iter::from_fn(|| queue.pop(now)).map(|pod| pod.0).collect()
}

fn fit() -> Failure {
    Failure::Unschedulable(PluginSet::default().with(Plugin::NodeResourcesFit))
}

fn rejected(plugin: Plugin) -> Failure {
    Failure::Unschedulable(PluginSet::default().with(plugin))
}

/// A queue whose only Pod, 1, was rejected at that time.
fn rejected_at(failure: Failure, now: Timestamp) -> Queue {
    let mut queue = queue(&[(1, 0)]);
    queue.pop(now);
    queue.fail(PodId(1), failure, now);
    queue.take_moves();
    queue
}

fn moves(queue: &mut Queue) -> Vec<(QueueName, &'static str)> {
    queue.take_moves().into_iter().map(|one| (one.queue, one.event)).collect()
}

mod order {
    use super::*;

    #[test]
    fn higher_priority_goes_first_and_then_who_came_first() {
        assert_eq!(drain(&mut queue(&[(1, 0), (2, 100), (3, 0), (4, -5), (5, 100)]), at(1)), [2, 5, 1, 3, 4]);
    }

    #[test]
    fn who_waits_longer_goes_before_who_came_with_a_lower_number() {
        let mut queue = Queue::new(QueueSettings::default());
        queue.add(PodId(1), 0, false, at(5));
        queue.add(PodId(2), 0, false, at(3));
        assert_eq!(drain(&mut queue, at(6)), [2, 1]);
    }

    #[test]
    fn a_failed_pod_goes_behind_the_others_of_its_priority() {
        let mut queue = queue(&[(1, 0), (2, 0)]);
        queue.pop(at(1));
        queue.fail(PodId(1), fit(), at(1));
        queue.wake(ClusterEvent::NodeAdd, at(20));
        assert_eq!(drain(&mut queue, at(20)), [2, 1]);
    }

    #[test]
    fn hopeless_important_pods_do_not_hold_the_others_back() {
        let mut queue = Queue::new(QueueSettings::default());
        (0..50).for_each(|pod| queue.add(PodId(pod), 1000, false, at(0)));
        (50..70).for_each(|pod| queue.add(PodId(pod), 1, false, at(0)));
        let mut bound = Vec::new();
        while let Some(pod) = queue.pop(at(1)) {
            if pod.0 < 50 {
                queue.fail(pod, fit(), at(1));
            } else {
                queue.remove(pod);
                bound.push(pod.0);
            }
        }
        assert_eq!(bound, (50..70).collect::<Vec<_>>());
        assert_eq!(queue.counts(), Counts { unschedulable: 50, ..Counts::default() });
    }

    #[test]
    fn a_changed_priority_changes_the_turn() {
        let mut queue = queue(&[(1, 0), (2, 5)]);
        queue.update(PodId(1), 9, false, true, at(1));
        assert_eq!(drain(&mut queue, at(1)), [1, 2]);
    }
}

mod waking {
    use super::*;

    #[test]
    fn a_rejected_pod_waits_for_an_event() {
        let mut queue = rejected_at(fit(), at(1));
        assert_eq!(queue.counts(), Counts { unschedulable: 1, ..Counts::default() });
        assert_eq!(queue.pop(at(100)), None);
    }

    #[test]
    fn an_event_that_does_not_concern_who_rejected_changes_nothing() {
        let mut queue = rejected_at(fit(), at(1));
        queue.wake(ClusterEvent::NodeTaint, at(20));
        queue.wake(ClusterEvent::NodeLabel, at(20));
        assert_eq!(queue.pop(at(20)), None);
        assert_eq!(moves(&mut queue), []);
    }

    #[test]
    fn room_wakes_a_pod_that_lacked_room() {
        for event in [
            ClusterEvent::AssignedPodDelete,
            ClusterEvent::AssignedPodScaleDown,
            ClusterEvent::NodeAdd,
            ClusterEvent::NodeAllocatable,
        ] {
            let mut queue = rejected_at(fit(), at(1));
            queue.wake(event, at(20));
            assert_eq!(moves(&mut queue), [(QueueName::Active, event.label())]);
            assert_eq!(queue.pop(at(20)), Some(PodId(1)), "{event:?}");
        }
    }

    #[test]
    fn every_plugin_that_answers_by_node_is_woken_by_a_new_node() {
        for plugin in Plugin::ALL.into_iter().filter(|plugin| *plugin != Plugin::Unsupported) {
            let mut queue = rejected_at(rejected(plugin), at(1));
            queue.wake(ClusterEvent::NodeAdd, at(20));
            assert_eq!(queue.pop(at(20)), Some(PodId(1)), "{plugin:?}");
        }
    }

    #[test]
    fn uncordoning_wakes_whom_the_cordon_rejected() {
        let mut queue = rejected_at(rejected(Plugin::NodeUnschedulable), at(1));
        queue.wake(ClusterEvent::NodeTaint, at(20));
        assert_eq!(queue.pop(at(20)), Some(PodId(1)));
    }

    #[test]
    fn an_event_that_comes_while_the_pod_is_tried_counts() {
        let mut queue = queue(&[(1, 0)]);
        queue.pop(at(1));
        queue.wake(ClusterEvent::AssignedPodDelete, at(1));
        queue.fail(PodId(1), fit(), at(1));
        assert_eq!(queue.counts(), Counts { backoff: 1, ..Counts::default() });
    }

    #[test]
    fn an_event_from_before_the_attempt_does_not_count() {
        let mut queue = queue(&[(1, 0)]);
        queue.wake(ClusterEvent::AssignedPodDelete, at(1));
        queue.pop(at(1));
        queue.fail(PodId(1), fit(), at(1));
        assert_eq!(queue.counts(), Counts { unschedulable: 1, ..Counts::default() });
    }

    #[test]
    fn an_event_for_somebody_else_while_the_pod_is_tried_does_not_count() {
        let mut queue = queue(&[(1, 0)]);
        queue.pop(at(1));
        queue.wake(ClusterEvent::NodeTaint, at(1));
        queue.fail(PodId(1), fit(), at(1));
        assert_eq!(queue.counts(), Counts { unschedulable: 1, ..Counts::default() });
    }

    #[test]
    fn its_own_change_wakes_a_pod_whoever_rejected_it() {
        let mut queue = rejected_at(rejected(Plugin::Unsupported), at(1));
        queue.update(PodId(1), 0, false, true, at(20));
        assert_eq!(moves(&mut queue), [(QueueName::Active, label::OWN_UPDATE)]);
    }

    #[test]
    fn a_change_that_placement_does_not_read_leaves_it_waiting() {
        let mut queue = rejected_at(fit(), at(1));
        queue.update(PodId(1), 0, false, false, at(20));
        assert_eq!(queue.counts(), Counts { unschedulable: 1, ..Counts::default() });
    }

    #[test]
    fn its_own_change_while_it_is_tried_counts() {
        let mut queue = queue(&[(1, 0)]);
        queue.pop(at(1));
        queue.update(PodId(1), 0, false, true, at(1));
        queue.fail(PodId(1), fit(), at(1));
        assert_eq!(queue.counts(), Counts { backoff: 1, ..Counts::default() });
    }

    #[test]
    fn a_pod_that_waits_for_an_event_for_five_minutes_is_tried_again() {
        let mut queue = rejected_at(fit(), at(1));
        queue.flush(at(301));
        assert_eq!(queue.counts(), Counts { unschedulable: 1, ..Counts::default() });
        let wake = queue.next_wake().unwrap_or_default();
        assert!(wake > at(301) && wake < at(302));
        queue.flush(wake);
        assert_eq!(moves(&mut queue), [(QueueName::Active, label::TIMEOUT)]);
    }

    #[test]
    fn the_count_by_plugin_follows_the_pods() {
        let mut queue = rejected_at(fit(), at(1));
        assert_eq!(queue.rejected_by(Plugin::NodeResourcesFit), 1);
        queue.wake(ClusterEvent::NodeAdd, at(20));
        assert_eq!(queue.rejected_by(Plugin::NodeResourcesFit), 0);
    }
}

mod backing_off {
    use super::*;

    #[test]
    fn an_early_event_leaves_the_pod_in_backoff() {
        let mut queue = rejected_at(fit(), at(1));
        queue.wake(ClusterEvent::AssignedPodDelete, at(1));
        assert_eq!(moves(&mut queue), [(QueueName::Backoff, "AssignedPodDelete")]);
        assert_eq!(queue.next_wake(), Some(at(3)));
    }

    #[test]
    fn with_nothing_else_to_do_backoff_is_cut_short() {
        let mut queue = rejected_at(fit(), at(1));
        queue.wake(ClusterEvent::AssignedPodDelete, at(1));
        queue.take_moves();
        assert_eq!(queue.pop(at(1)), Some(PodId(1)));
        assert_eq!(moves(&mut queue), [(QueueName::Active, label::POP_FROM_BACKOFF)]);
    }

    #[test]
    fn who_waits_out_a_backoff_comes_after_all_who_do_not() {
        let mut queue = rejected_at(fit(), at(1));
        queue.wake(ClusterEvent::AssignedPodDelete, at(1));
        queue.add(PodId(2), -100, false, at(1));
        assert_eq!(drain(&mut queue, at(1)), [2, 1]);
    }

    #[test]
    fn backoffs_that_end_in_one_second_go_by_priority() {
        let mut queue = queue(&[(1, 0), (2, 50)]);
        for pod in [2, 1] {
            assert_eq!(queue.pop(at(1)), Some(PodId(pod)));
        }
        queue.fail(PodId(1), fit(), Timestamp(1_100_000));
        queue.fail(PodId(2), fit(), Timestamp(1_900_000));
        queue.wake(ClusterEvent::NodeAdd, Timestamp(1_950_000));
        assert_eq!(queue.counts().backoff, 2);
        assert_eq!(drain(&mut queue, Timestamp(1_950_000)), [2, 1]);
    }

    #[test]
    fn a_backoff_that_is_over_is_flushed() {
        let mut queue = rejected_at(fit(), at(1));
        queue.wake(ClusterEvent::AssignedPodDelete, at(1));
        queue.take_moves();
        queue.flush(Timestamp(2_999_999));
        assert_eq!(moves(&mut queue), []);
        queue.flush(at(3));
        assert_eq!(moves(&mut queue), [(QueueName::Active, label::BACKOFF_COMPLETE)]);
    }

    #[test]
    fn an_error_is_tried_again_without_an_event_but_never_early() {
        let mut queue = rejected_at(Failure::Error, at(1));
        assert_eq!(queue.counts(), Counts { backoff: 1, ..Counts::default() });
        assert_eq!(queue.pop(at(1)), None);
        let wake = queue.next_wake().unwrap_or_default();
        assert_eq!(wake, at(3));
        queue.flush(wake);
        assert_eq!(queue.pop(wake), Some(PodId(1)));
    }

    #[test]
    fn errors_in_a_row_wait_longer_each_time_up_to_the_cap() {
        let mut queue = queue(&[(1, 0)]);
        let mut now = at(1);
        let mut waits = Vec::new();
        for _ in 0..6 {
            queue.pop(now);
            queue.fail(PodId(1), Failure::Error, now);
            let wake = queue.next_wake().unwrap_or_default();
            waits.push((wake - now).0 / 1_000_000);
            queue.flush(wake);
            now = wake;
        }
        assert_eq!(waits, [2, 3, 5, 9, 11, 11]);
        assert_eq!(queue.attempts(PodId(1)), 6);
    }

    #[test]
    fn a_rejection_ends_the_row_of_errors() {
        let mut queue = queue(&[(1, 0)]);
        let mut now = at(1);
        for failure in [Failure::Error, Failure::Error, Failure::Error, fit()] {
            queue.pop(now);
            queue.fail(PodId(1), failure, now);
            now = now + Span::from_seconds(30);
            queue.flush(now);
        }
        queue.wake(ClusterEvent::NodeAdd, now);
        queue.pop(now);
        queue.fail(PodId(1), Failure::Error, now);
        assert_eq!(queue.next_wake(), Some(now + Span::from_seconds(2)));
    }

    #[test]
    fn a_rejection_by_nobody_is_an_error() {
        let queue = rejected_at(Failure::Unschedulable(PluginSet::default()), at(1));
        assert_eq!(queue.counts(), Counts { backoff: 1, ..Counts::default() });
    }
}

mod gates {
    use super::*;

    #[test]
    fn a_gated_pod_is_left_alone() {
        let mut queue = Queue::new(QueueSettings::default());
        queue.add(PodId(1), 1000, true, at(0));
        assert_eq!(moves(&mut queue), [(QueueName::Gated, label::ADD)]);
        queue.wake(ClusterEvent::NodeAdd, at(5));
        queue.flush(at(1000));
        assert_eq!(queue.pop(at(1000)), None);
        assert_eq!(queue.next_wake(), None);
        assert_eq!(queue.counts(), Counts { gated: 1, ..Counts::default() });
    }

    #[test]
    fn when_the_last_gate_goes_it_is_tried_and_its_wait_begins() {
        let mut queue = Queue::new(QueueSettings::default());
        queue.add(PodId(1), 0, true, at(0));
        assert_eq!(queue.first_queued(PodId(1)), None);
        queue.update(PodId(1), 0, true, true, at(20));
        queue.update(PodId(1), 0, false, true, at(30));
        assert_eq!(queue.first_queued(PodId(1)), Some(at(30)));
        assert_eq!(moves(&mut queue).last(), Some(&(QueueName::Active, label::GATES_GONE)));
        assert_eq!(queue.pop(at(30)), Some(PodId(1)));
    }
}

mod bookkeeping {
    use super::*;

    #[test]
    fn a_new_pod_is_active_by_the_event_of_its_adding() {
        assert_eq!(moves(&mut queue(&[(1, 0)])), [(QueueName::Active, label::ADD)]);
    }

    #[test]
    fn adding_a_pod_twice_keeps_one() {
        let mut queue = queue(&[(1, 0)]);
        queue.add(PodId(1), 0, false, at(9));
        assert_eq!(drain(&mut queue, at(9)), [1]);
    }

    #[test]
    fn a_removed_pod_is_in_no_list() {
        let failures = [None, Some(fit()), Some(Failure::Error)];
        for failure in failures {
            let mut queue = queue(&[(1, 0)]);
            if let Some(failure) = failure {
                queue.pop(at(1));
                queue.fail(PodId(1), failure, at(1));
            }
            assert!(queue.remove(PodId(1)));
            assert!(!queue.remove(PodId(1)));
            queue.wake(ClusterEvent::NodeAdd, at(50));
            queue.flush(at(1000));
            assert_eq!((queue.pop(at(1000)), queue.counts()), (None, Counts::default()));
        }
    }

    #[test]
    fn a_pod_that_is_being_tried_is_in_no_queue_and_cannot_be_taken_twice() {
        let mut queue = queue(&[(1, 0)]);
        assert_eq!(queue.pop(at(1)), Some(PodId(1)));
        assert_eq!((queue.pop(at(1)), queue.counts()), (None, Counts::default()));
        assert!(queue.contains(PodId(1)));
    }

    #[test]
    fn a_failure_of_a_pod_that_is_gone_is_ignored() {
        let mut queue = queue(&[(1, 0)]);
        queue.pop(at(1));
        queue.remove(PodId(1));
        queue.fail(PodId(1), Failure::Error, at(1));
        assert_eq!(queue.counts(), Counts::default());
    }

    #[test]
    fn a_failure_of_a_pod_that_is_not_being_tried_is_ignored() {
        let mut queue = queue(&[(1, 0)]);
        queue.fail(PodId(1), Failure::Error, at(1));
        assert_eq!(queue.counts(), Counts { active: 1, ..Counts::default() });
    }
}

mod any_order {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Add(u32, bool),
        Update(u32, i32, bool),
        Remove(u32),
        Pop,
        Fail(u32, Option<Plugin>),
        Wake(ClusterEvent),
        Later(i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let plugin = prop::sample::select(Plugin::ALL.to_vec());
        let event = prop::sample::select(ClusterEvent::ALL.to_vec());
        prop_oneof![
            (0..6u32, any::<bool>()).prop_map(|(pod, gated)| Step::Add(pod, gated)),
            (0..6u32, -2..3, any::<bool>())
                .prop_map(|(pod, priority, gated)| Step::Update(pod, priority, gated)),
            (0..6u32).prop_map(Step::Remove),
            Just(Step::Pop),
            (0..6u32, prop::option::of(plugin)).prop_map(|(pod, plugin)| Step::Fail(pod, plugin)),
            event.prop_map(Step::Wake),
            (0..400i64).prop_map(Step::Later),
        ]
    }

    fn act(queue: &mut Queue, step: Step, now: &mut Timestamp) {
        match step {
            Step::Add(pod, gated) => queue.add(PodId(pod), 0, gated, *now),
            Step::Update(pod, priority, gated) => queue.update(PodId(pod), priority, gated, true, *now),
            Step::Remove(pod) => drop(queue.remove(PodId(pod))),
            Step::Pop => drop(queue.pop(*now)),
            Step::Fail(pod, plugin) => {
                queue.fail(PodId(pod), plugin.map_or(Failure::Error, rejected), *now);
            }
            Step::Wake(event) => queue.wake(event, *now),
            Step::Later(seconds) => {
                *now = *now + Span::from_seconds(seconds);
                queue.flush(*now);
            }
        }
    }

    proptest! {
        #[test]
        fn no_pod_is_lost_and_none_is_in_two_lists(steps in prop::collection::vec(step(), 0..60)) {
            let (mut queue, mut now) = (Queue::new(QueueSettings::default()), at(1));
            for step in steps {
                act(&mut queue, step, &mut now);
                let flying = queue.entries.values().filter(|e| matches!(e.place, Place::InFlight { .. }));
                let Counts { active, backoff, unschedulable, gated } = queue.counts();
                let waiting = active + backoff + unschedulable + gated;
                prop_assert_eq!(waiting + flying.count(), queue.entries.len());
            }
            // Time alone brings every Pod back that no gate holds and nobody tries.
            let expected = queue.counts().active + queue.counts().backoff + queue.counts().unschedulable;
            queue.flush(now + Span::from_seconds(1000));
            prop_assert_eq!(drain(&mut queue, now).len(), expected);
            let rejected: usize = Plugin::ALL.into_iter().map(|plugin| queue.rejected_by(plugin)).sum();
            prop_assert_eq!(rejected, 0);
        }
    }
}
