//! The tests. A name reads as a sentence; the number of each golden scenario is the reference's.

mod check;
mod compare;
mod crash;
mod describe;
mod golden_kubelet;
mod golden_node;
mod outage;
mod pipeline;
mod start;
mod stories;

use crate::harness::Scenario;

macro_rules! scenarios {
    ($($module:ident ($minutes:literal) :: { $($name:ident),+ $(,)? }),+ $(,)?) => {
        vec![$($(Scenario {
            name: concat!(stringify!($module), "::", stringify!($name)),
            own_control_plane: false,
            minutes: $minutes,
            body: |world| Box::pin($module::$name(world)),
        }),+),+]
    };
}

/// All of them; the long ones first.
pub fn all() -> Vec<Scenario> {
    let mut all = scenarios![
        crash(8)::{
            lane_1_killed_at_any_time,
            lane_2_killed_at_any_time,
            lane_3_killed_at_any_time,
            lane_4_killed_at_any_time,
            before_each_write,
            after_each_write,
        },
        compare(3)::{kube_scheduler_and_elbowroom_play_the_same_case},
        describe(3)::{reasons_are_told},
        stories(3)::{a_important_pod_grows_on_a_full_node, b_exactly_enough_leaves_and_only_there},
        golden_kubelet(4)::{
            r_restart_adds_no_victim,
            l_who_is_leaving_counts_whatever_the_budget_says,
            a_low_pod_makes_room,
            f_of_two_equals_the_first_is_helped,
            g_budget_holds,
            g2_one_big_pod_rather_than_three_small_ones,
            h_only_what_is_short_matters,
            n_never_means_never_and_is_said,
            k2_no_victim_for_what_room_cannot_cure,
            oh_overhead_counts_as_the_kubelet_counts_it,
        },
        golden_node(3)::{
            c_full_pod_slots_are_not_a_shortage,
            e_neighbours_count_with_what_they_hold,
            m_nobody_leaves_for_a_node_that_is_not_ready,
            q_newcomer_takes_the_claim_not_the_pod,
            s_claim_holds_against_lower_and_equal_priority,
            x_condition_that_is_false_asks_for_nothing,
            policy_of_the_node_is_obeyed,
        },
        pipeline(3)::{
            pod_is_bound_and_says_so,
            emptier_node_is_preferred,
            pod_that_fits_nowhere_says_why,
            higher_priority_goes_first,
            taint_and_cordon_keep_away,
            gated_pod_is_left_alone,
            unsupported_wish_is_refused_by_name,
            anti_affinity_of_neighbours_is_respected,
            pods_of_other_schedulers_are_left_alone,
        },
        start(3)::{
            pages_are_served_and_sigterm_ends_it,
            missing_rights_are_named_one_by_one,
            one_missing_right_is_named_alone,
            unreachable_api_server_is_one_line,
            bad_kubeconfig_is_one_line,
            bad_configuration_is_one_line,
            leader_election_is_warned_about,
        },
        check(3)::{
            deployed_rights_are_enough_and_nothing_is_an_error,
            missing_right_is_found_by_its_account_and_by_an_administrator,
            gate_of_the_control_plane_is_found,
            budgets_that_cannot_be_met_are_named_with_their_pods,
            resize_that_cannot_be_had_is_named_with_the_room_it_keeps,
        },
        outage(3)::{node_is_deleted_in_the_middle_of_a_resize},
    ];
    // Last: it waits until it is alone, and keeps everybody else waiting.
    all.push(Scenario {
        name: "outage::api_server_is_away_for_20_s",
        own_control_plane: true,
        minutes: 5,
        body: |world| Box::pin(outage::api_server_is_away_for_20_s(world)),
    });
    all
}
