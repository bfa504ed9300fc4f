//! Amounts of a resource, read and rounded as Kubernetes does.
//!
//! Invariant: a [`Quantity`] is an exact number of nano-units. What does not fit saturates, it never wraps.

mod parse;

pub use parse::QuantityError;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

const NANO: i128 = 1_000_000_000;
const MICRO: i128 = 1_000_000;

/// An exact decimal in nano-units, the finest that Kubernetes keeps.
///
/// It reaches to about 1.7e29 units. Kubernetes knows larger ones, but no cluster has them: they saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(i128);

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Reads a quantity as Go's `resource.ParseQuantity` does: an optional sign, digits with an optional point,
    /// then one of `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei`, or an exponent such as `e3` or `E-2`.
    ///
    /// What is finer than a nano-unit is rounded away from zero; a binary suffix caps the amount at 2^63-1 units.
    ///
    /// # Errors
    /// The text is empty, or holds something else than that grammar.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        parse::nanos(text).map(Self)
    }

    /// That many whole units: bytes, cores, devices.
    pub fn from_units(units: i64) -> Self {
        Self(i128::from(units) * NANO)
    }

    /// That many thousandths: milli-CPU.
    pub fn from_milli(milli: i64) -> Self {
        Self(i128::from(milli) * MICRO)
    }

    /// The exact amount in nano-units.
    pub fn nanos(self) -> i128 {
        self.0
    }

    /// Whole thousandths, rounded up (a negative amount away from zero), saturating.
    ///
    /// Go's `MilliValue` wraps instead: `1E` of cpu becomes 0 there, and a Pod that asks for it fits everywhere.
    pub fn ceil_milli(self) -> i64 {
        self.ceil(MICRO)
    }

    /// Whole units, rounded up (a negative amount away from zero), saturating. As Go's `Value`, except that it
    /// never wraps.
    pub fn ceil_units(self) -> i64 {
        self.ceil(NANO)
    }

    fn ceil(self, step: i128) -> i64 {
        let up = self.0 / step + (self.0 % step).signum();
        i64::try_from(up).unwrap_or(if up < 0 { i64::MIN } else { i64::MAX })
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl Add for Quantity {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Quantity {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Quantity {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// The shortest text that reads back as the same amount. Kubernetes also keeps which family of suffixes the
/// author chose; this does not, so `1024Ki` shows as `1Mi`. For people, not for writing back to the API.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DECIMAL: [(&str, u32); 10] = [
            ("n", 0),
            ("u", 3),
            ("m", 6),
            ("", 9),
            ("k", 12),
            ("M", 15),
            ("G", 18),
            ("T", 21),
            ("P", 24),
            ("E", 27),
        ];
        const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
        if self.0 == 0 {
            return f.write_str("0");
        }
        let decimal = DECIMAL.iter().map(|(suffix, power)| (*suffix, 10_i128.pow(*power)));
        let binary = BINARY.iter().zip(1_u32..).map(|(suffix, step)| (*suffix, NANO << (10 * step)));
        let shortest = decimal
            .chain(binary)
            .filter(|(suffix, size)| self.0 % size == 0 && !self.passes_cap(suffix))
            .map(|(suffix, size)| format!("{}{suffix}", self.0 / size))
            .min_by_key(String::len);
        f.write_str(shortest.as_deref().unwrap_or("0"))
    }
}

impl Quantity {
    /// Reading a binary suffix caps the amount, so one beyond the cap cannot be shown with it.
    fn passes_cap(self, suffix: &str) -> bool {
        suffix.ends_with('i') && self.0.abs() > i128::from(i64::MAX) * NANO
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn quantity(text: &str) -> Quantity {
        Quantity::parse(text).unwrap()
    }

    #[test]
    fn a_fraction_of_a_byte_counts_as_a_byte() {
        assert_eq!(quantity("1.3Gi").ceil_units(), 1_395_864_372);
        assert_eq!(quantity("128974848m").ceil_units(), 128_975);
    }

    #[test]
    fn cpu_written_as_a_number_with_a_fraction_is_milli_cpu() {
        assert_eq!(quantity("2.5").ceil_milli(), 2500);
        assert_eq!(quantity("3.5").ceil_milli(), 3500);
    }

    #[test]
    fn a_huge_cpu_request_saturates_where_go_wraps_it_to_nothing() {
        assert_eq!(quantity("1E").ceil_milli(), i64::MAX);
        assert_eq!(quantity("-1E").ceil_milli(), i64::MIN);
        assert_eq!(quantity("1e300").ceil_units(), i64::MAX);
    }

    #[test]
    fn a_binary_suffix_caps_at_the_largest_i64() {
        assert_eq!(quantity("8Ei"), Quantity::from_units(i64::MAX));
        assert_eq!(quantity("-9999Ei"), Quantity::from_units(-i64::MAX));
    }

    #[test]
    fn a_wish_below_the_finest_unit_is_still_a_wish() {
        assert_eq!(quantity("0.1n").nanos(), 1);
        assert_eq!(quantity("-0.1n").nanos(), -1);
        assert_eq!(quantity("1e-2000000000000").nanos(), 1);
    }

    #[test]
    fn adding_stays_exact() {
        let sum: Quantity = [quantity("1.5"), quantity("1500m"), quantity("1n")].into_iter().sum();
        assert_eq!(sum.nanos(), 3_000_000_001);
        assert_eq!(sum.ceil_units(), 4);
    }

    #[test]
    fn adding_saturates() {
        let most = quantity("1e300");
        assert_eq!(most + most, most);
    }

    #[test]
    fn the_text_is_the_shortest_there_is() {
        for text in ["0", "1500m", "4Gi", "5G", "1n", "8", "-2Mi", "1k", "1Ki", "10E"] {
            assert_eq!(quantity(text).to_string(), text);
        }
        assert_eq!(quantity("1024Ki").to_string(), "1Mi");
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back_as_the_same_amount(units in any::<i64>(), nanos in any::<i64>()) {
            let exact = Quantity(i128::from(units) * 512_000_000 + i128::from(nanos % 3) * 7);
            prop_assert_eq!(quantity(&exact.to_string()), exact);
        }

        #[test]
        fn no_text_makes_it_fail_otherwise_than_by_an_error(text in "[-+.0-9eEinumkKMGTP]{0,12}|.{0,8}") {
            let _ = Quantity::parse(&text).map(|read| (read.ceil_milli(), read.to_string()));
        }

        #[test]
        fn rounding_up_loses_less_than_one_step(nanos in any::<i64>()) {
            let exact = Quantity(i128::from(nanos));
            let above = i128::from(exact.ceil_milli()) * MICRO - exact.0;
            prop_assert!(above.abs() < MICRO && above.signum() * exact.0.signum() >= 0);
        }
    }
}
