//! Placeholder.
/// An exact decimal in nano-units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(pub i128);
impl Quantity {
    /// Up.
    pub fn ceil_milli(self) -> i64 {
        0
    }
    /// Up.
    pub fn ceil_units(self) -> i64 {
        0
    }
}
