//! The `elbowroom` program.
fn main() {}
