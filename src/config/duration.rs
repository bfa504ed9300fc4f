//! Durations as Go writes them: `0s`, `5m`, `1h30m`, `1.5h`.
//!
//! Invariant: what Go's `time.ParseDuration` refuses is refused here.

use crate::model::Span;

/// Nanoseconds of each unit, the longer spellings first so that `ms` is not read as `m`.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration that is not negative; parts of a microsecond are dropped. `None` for anything else.
pub fn parse(text: &str) -> Option<Span> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Span::default());
    }
    let mut total: i128 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (unit, nanos) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        total = total.checked_add(scaled(whole, fraction, *nanos)?)?;
        rest = after.strip_prefix(unit)?;
    }
    // Go keeps durations in 63 bits of nanoseconds.
    let nanos = i64::try_from(total).ok()?;
    Some(Span(nanos / 1_000))
}

/// Splits leading ASCII digits off.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn scaled(whole: &str, fraction: &str, nanos: i128) -> Option<i128> {
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    // Beyond 18 places no unit has anything left to say.
    let fraction = fraction.get(..18).unwrap_or(fraction);
    let places = u32::try_from(fraction.len()).ok()?;
    let parts = number(fraction)?.checked_mul(nanos)? / 10_i128.pow(places);
    number(whole)?.checked_mul(nanos)?.checked_add(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_add_up() {
        assert_eq!(parse("1h30m"), Some(Span::from_seconds(5400)));
        assert_eq!(parse("1m0.5s"), Some(Span::from_millis(60_500)));
        assert_eq!(parse("1500us"), Some(Span(1500)));
        assert_eq!(parse("1500µs"), Some(Span(1500)));
    }

    #[test]
    fn a_bare_zero_needs_no_unit() {
        assert_eq!(parse("0"), Some(Span::default()));
        assert_eq!(parse("0s"), Some(Span::default()));
        assert_eq!(parse("5"), None);
    }

    #[test]
    fn fractions_are_exact() {
        assert_eq!(parse("1.5h"), Some(Span::from_seconds(5400)));
        assert_eq!(parse(".25s"), Some(Span::from_millis(250)));
        assert_eq!(parse("1.s"), Some(Span::from_seconds(1)));
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for text in ["", "s", "5 m", "5min", "1h30", ".s", "-", "five", "3d", "1e3s"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_negative_duration_is_refused() {
        assert_eq!(parse("-5s"), None);
    }

    #[test]
    fn more_than_go_can_hold_is_refused() {
        assert_eq!(parse("2562047h"), Some(Span::from_seconds(2_562_047 * 3600)));
        assert_eq!(parse("2562048h"), None);
        assert_eq!(parse("99999999999999999999999999999999999999999h"), None);
    }
}
