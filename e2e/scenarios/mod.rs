//! The tests. A name reads as a sentence; the number of each golden scenario is the reference's.

mod autoscaler;
mod beside;
mod check;
mod compare;
mod crash;
mod describe;
mod field_cases_budgets;
mod field_cases_victims;
mod field_cases_wishes;
mod golden_kubelet;
mod golden_node;
mod inspect;
mod outage;
mod pipeline;
mod real_node;
mod reload;
mod start;
mod stories;

use crate::harness::{Needs, Scenario};

macro_rules! scenarios {
    ($needs:ident; $($module:ident ($minutes:literal) :: { $($name:ident),+ $(,)? }),+ $(,)?) => {
        vec![$($(Scenario {
            name: concat!(stringify!($module), "::", stringify!($name)),
            needs: Needs::$needs,
            minutes: $minutes,
            body: |world| Box::pin($module::$name(world)),
        }),+),+]
    };
}

/// All of them; the long ones first.
pub fn all() -> Vec<Scenario> {
    let mut all = scenarios![StockScheduler; beside(5)::{freed_room_is_never_lost}];
    all.extend(scenarios![RealNode;
        real_node(3)::{
            quota_grows_in_place_and_everybody_says_so,
            slow_victim_delays_and_is_the_only_one,
            memory_that_is_not_given_back_costs_nobody_else,
            job_counts_no_failure_for_a_victim,
        },
    ]);
    all.extend(scenarios![Cluster;
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
        autoscaler(3)::{
            victim_that_outlasts_the_deadline_stays,
            resize_given_up_by_reverting_costs_nobody,
            resize_given_up_by_evicting_costs_nobody,
            fallback_obeys_the_budget_of_the_growing_pod,
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
        field_cases_victims(3)::{
            c09_room_that_is_refilled_is_freed_in_growing_intervals,
            c20_a_daemonset_pod_goes_once_or_not_at_all,
            c61_a_resize_and_a_bind_that_cross_end_well,
            c08_an_equal_pod_that_leaves_by_itself_is_waited_for,
            c109_only_our_own_pods_are_served,
            c131_a_filler_makes_room_and_then_waits,
            c14_c59_nobody_goes_who_is_equal_or_not_enough,
            c15_a_missing_priority_is_zero,
            c16_c18_what_need_not_go_stays,
            c19_c22_a_victim_gets_one_call_and_keeps_its_status,
            c62_a_neighbour_that_shrinks_makes_the_room,
        },
        field_cases_budgets(3)::{
            c03_two_resizes_on_two_nodes_share_one_budget,
            c128_a_budget_that_allows_nothing_keeps_the_least_important,
            c24_a_pod_under_two_budgets_stays,
            c26_an_unready_pod_goes_where_it_always_may,
            c28_a_budget_does_not_keep_a_pod_that_never_started,
            c29_a_budget_that_is_used_up_is_not_hammered,
        },
        field_cases_wishes(3)::{
            c34_what_is_allocated_counts_while_a_shrink_is_under_way,
            c35_c52_in_progress_is_not_pending,
            c36_c49_an_infeasible_wish_counts_for_nothing,
            c41_c75_a_resize_that_fits_is_left_to_its_kubelet,
            c45_a_wish_that_is_taken_back_is_forgotten,
            c48_cordon_and_new_taints_do_not_matter,
            c50_a_growing_pod_that_leaves_claims_nothing,
            c51_another_pod_of_the_same_name_inherits_no_wish,
            c53_a_resize_that_a_quota_refuses_claims_nothing,
            c55_the_request_of_the_pod_as_a_whole_counts,
            c58_a_node_smaller_than_the_wish_is_not_emptied,
        },
        reload(3)::{
            rules_are_felt_without_a_restart,
            new_annotation_protects_pods_that_have_it_already,
            best_effort_deletes_what_no_budget_allows,
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
        inspect(3)::{
            explain_names_the_budget_and_writes_nothing,
            explain_tells_of_pods_that_do_not_grow,
            a_user_of_one_namespace_hears_which_right_is_missing,
        },
        outage(3)::{node_is_deleted_in_the_middle_of_a_resize},
    ]);
    // Last: it waits until it is alone, and keeps everybody else waiting.
    all.push(Scenario {
        name: "outage::api_server_is_away_for_20_s",
        needs: Needs::Outage,
        minutes: 5,
        body: |world| Box::pin(outage::api_server_is_away_for_20_s(world)),
    });
    all
}
