//! New Pods through the whole engine: tried, assumed, bound, confirmed or put back.

mod accounting;
mod binding;
mod claims;
mod nodes;
mod ours;
mod property;
mod support;
mod telling;
mod watches;

use crate::world;
