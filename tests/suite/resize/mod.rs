//! What the resize queue does, one rule a test.

mod accounting;
mod answers;
mod blocked;
mod budgets;
mod rules;
mod together;
mod unattainable;

use crate::world;
