//! The tests. A name reads as a sentence; the number of each golden scenario is the reference's.

mod golden_kubelet;
mod golden_node;

use crate::harness::Scenario;

macro_rules! scenarios {
    ($($module:ident :: { $($name:ident),+ $(,)? }),+ $(,)?) => {
        vec![$($(Scenario {
            name: concat!(stringify!($module), "::", stringify!($name)),
            own_control_plane: false,
            body: |world| Box::pin($module::$name(world)),
        }),+),+]
    };
}

/// All of them; the long ones first.
pub fn all() -> Vec<Scenario> {
    scenarios![
        golden_kubelet::{a_low_pod_makes_room},
        golden_node::{c_full_pod_slots_are_not_a_shortage},
    ]
}
