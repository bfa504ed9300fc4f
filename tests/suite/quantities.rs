//! Quantities against Go's own reading of them (`e2e/golden`).
//!
//! Invariant: whatever differs from Go is named here with the reason.

use elbowroom::model::Quantity;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    text: String,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    milli: i64,
    #[serde(default)]
    value: i64,
    #[serde(default)]
    nanos: String,
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../golden/quantities.json")).unwrap();
    assert!(cases.len() >= 400, "{} cases", cases.len());
    cases
}

/// Go's exact amount, cut to what a `Quantity` can hold.
fn exact(case: &Case) -> i128 {
    let beyond = if case.nanos.starts_with('-') { -i128::MAX } else { i128::MAX };
    case.nanos.parse().unwrap_or(beyond)
}

/// Go keeps the exponent in 32 bits, so this one reads as 1 there. Ours saturates.
const WRAPPED_EXPONENT: &str = "1e4294967296";

#[test]
fn the_same_texts_are_quantities() {
    for case in cases() {
        let read = Quantity::parse(&case.text);
        assert_eq!(
            read.is_err(),
            case.error.is_some(),
            "{:?}: {read:?}, Go says {:?}",
            case.text,
            case.error
        );
    }
}

#[test]
fn a_quantity_is_exactly_what_go_reads() {
    for case in cases().iter().filter(|case| case.error.is_none() && case.text != WRAPPED_EXPONENT) {
        assert_eq!(Quantity::parse(&case.text).unwrap().nanos(), exact(case), "{:?}", case.text);
    }
}

#[test]
fn an_exponent_beyond_32_bits_saturates_where_go_wraps_it() {
    let case = cases().into_iter().find(|case| case.text == WRAPPED_EXPONENT).unwrap();
    assert_eq!(case.value, 1);
    assert_eq!(Quantity::parse(WRAPPED_EXPONENT).unwrap().ceil_units(), i64::MAX);
}

/// Rounding of one amount to `step` nano-units.
struct Rounding {
    text: String,
    up: i128,
    ours: i64,
    go: i64,
}

fn roundings() -> Vec<Rounding> {
    let mut all = Vec::new();
    for case in cases() {
        let Ok(read) = Quantity::parse(&case.text) else { continue };
        for (step, ours, go) in
            [(1_000_000, read.ceil_milli(), case.milli), (1_000_000_000, read.ceil_units(), case.value)]
        {
            let up = read.nanos() / step + (read.nanos() % step).signum();
            all.push(Rounding { text: case.text.clone(), up, ours, go });
        }
    }
    all
}

#[test]
fn rounding_agrees_with_go_for_every_amount_that_fits() {
    for one in roundings().iter().filter(|one| (0..=i128::from(i64::MAX)).contains(&one.up)) {
        assert_eq!(one.ours, one.go, "{:?}", one.text);
    }
}

/// Go's `Value` and `MilliValue` wrap, mostly to 0. That would make the largest wish the smallest.
#[test]
fn an_amount_beyond_64_bits_saturates() {
    let beyond: Vec<_> = roundings().into_iter().filter(|one| one.up > i128::from(i64::MAX)).collect();
    assert!(beyond.len() > 20);
    for one in beyond {
        assert_eq!(one.ours, i64::MAX, "{:?}", one.text);
    }
}

/// Go rounds negative amounts away from zero or toward it, and wraps some that fit, depending on how the text was
/// written. The API allows no negative request, so ours only has to be well defined: away from zero.
#[test]
fn a_negative_amount_is_rounded_away_from_zero() {
    let negative: Vec<_> = roundings().into_iter().filter(|one| one.up < 0).collect();
    assert!(negative.iter().any(|one| one.ours != one.go), "Go is consistent now: compare with it");
    for one in negative {
        assert_eq!(one.ours, i64::try_from(one.up).unwrap_or(i64::MIN), "{:?}", one.text);
    }
}
