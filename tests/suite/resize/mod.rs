//! What the resize queue does, one rule a test.

mod accounting;
mod answers;
mod blocked;
mod budgets;

use crate::world;
