//! The shell around the engine: watches in, calls out.
//!
//! Invariant: nothing here decides. Each effect becomes one call, each call one answer, each watch event one
//! fact.

mod calls;
mod client;
mod engine_loop;
mod events;
mod reader;
mod reload;
mod report;
mod rights;
mod start;
mod survey;
mod watch;

pub use reader::Reader;
pub use start::run;
pub use survey::{Survey, survey};
