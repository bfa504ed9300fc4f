//! What the scenarios stand on: a control plane, nodes with and without a kubelet, the scheduler as a
//! process.

mod access;
mod cgroup;
mod control_plane;
mod describe;
mod expect;
mod judgement;
mod kubelet;
mod nodes;
mod observe;
mod pods;
mod proxy;
mod scheduler;
mod stock;
mod suite;
mod workers;
mod world;

pub use access::{Rule, token};
pub use cgroup::{cpu_quota, memory_in_use};
pub use control_plane::program;
pub use describe::golden;
pub use judgement::settled;
pub use kubelet::SimulatedNode;
pub use observe::Seen;
pub use pods::{
    PodSpec, Priority, allocated_cpu, allocated_memory, condition, container_id, is_leaving, node_of,
};
pub use proxy::{KillAt, Proxy};
pub use scheduler::{Scheduler, free_port, run_to_end};
pub use stock::Attempts;
pub use suite::{Needs, Scenario, Suite};
pub use world::World;

/// The condition that elbowroom keeps on a growing Pod.
pub const OURS: &str = "elbowroom.dev/PodResizePreemption";
/// The kubelet's condition for a resize that is not allocated.
pub const PENDING: &str = "PodResizePending";
/// The kubelet's condition for a resize that is allocated and not in force.
pub const IN_PROGRESS: &str = "PodResizeInProgress";

/// Prints a line for the person who watches; the test results themselves go to stdout.
pub fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}
