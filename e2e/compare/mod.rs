//! kube-scheduler and elbowroom on the same cases, on a real API server.
//!
//! Invariant: one file a case, one runner, two schedulers; nothing is known of a case but what its file says.

mod audit;
mod case;
mod contender;
mod play;
mod record;
mod stage;
mod steps;
pub mod table;

pub use case::{Case, files, id};
pub use contender::Contender;
pub use play::play;
