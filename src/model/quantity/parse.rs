//! The grammar of quantities.
//!
//! Invariant: a text is accepted here exactly when Go's `resource.ParseQuantity` accepts it
//! (apimachinery `pkg/api/resource/quantity.go`).

use super::NANO;

const EXPECTED: &str = "expected a number with one of the suffixes n u m k M G T P E, Ki Mi Gi Ti Pi Ei, \
                        or an exponent such as e3";

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// There is no text.
    #[error("an empty text is not a quantity: {EXPECTED}")]
    Empty,
    /// A character stands where the grammar has none.
    #[error("{text:?} is not a quantity: unexpected {found:?}; {EXPECTED}")]
    Unexpected {
        /// The whole text.
        text: String,
        /// The character.
        found: char,
    },
    /// There is no digit before the suffix.
    #[error("{text:?} is not a quantity: no digits before the suffix; {EXPECTED}")]
    NoDigits {
        /// The whole text.
        text: String,
    },
    /// The suffix is none of those known.
    #[error("{text:?} is not a quantity: unknown suffix {suffix:?}; {EXPECTED}")]
    Suffix {
        /// The whole text.
        text: String,
        /// The suffix.
        suffix: String,
    },
}

/// What a suffix multiplies by.
#[derive(Clone, Copy, Debug)]
enum Scale {
    Ten(i64),
    Two(u32),
}

/// Reads a text as nano-units.
pub(super) fn nanos(text: &str) -> Result<i128, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Empty);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = split(unsigned, |c| c.is_ascii_digit());
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => split(rest, |c| c.is_ascii_digit()),
        None => ("", rest),
    };
    let (_, tail) = split(suffix, |c| "eEinumkKMGTP".contains(c));
    let (_, tail) = split(tail.strip_prefix(['-', '+']).unwrap_or(tail), |c| c.is_ascii_digit());
    if let Some(found) = tail.chars().next() {
        return Err(QuantityError::Unexpected { text: text.to_owned(), found });
    }
    let Some(scale) = scale(suffix) else {
        return Err(QuantityError::Suffix { text: text.to_owned(), suffix: suffix.to_owned() });
    };
    if whole.is_empty() && fraction.is_empty() {
        // Go reads no digits as zero wherever its fast path applies, so `m` is 0 and `Ei` is an error.
        return match scale {
            Scale::Two(50..) | Scale::Ten(..=-10) => Err(QuantityError::NoDigits { text: text.to_owned() }),
            _ => Ok(0),
        };
    }
    let size = match scale {
        Scale::Ten(exponent) => product(whole, fraction, exponent, NANO),
        Scale::Two(bits) => product(whole, fraction, 0, NANO << bits).min(i128::from(i64::MAX) * NANO),
    };
    Ok(if text.starts_with('-') { -size } else { size })
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

fn scale(suffix: &str) -> Option<Scale> {
    Some(match suffix {
        "n" => Scale::Ten(-9),
        "u" => Scale::Ten(-6),
        "m" => Scale::Ten(-3),
        "" => Scale::Ten(0),
        "k" => Scale::Ten(3),
        "M" => Scale::Ten(6),
        "G" => Scale::Ten(9),
        "T" => Scale::Ten(12),
        "P" => Scale::Ten(15),
        "E" => Scale::Ten(18),
        "Ki" => Scale::Two(10),
        "Mi" => Scale::Two(20),
        "Gi" => Scale::Two(30),
        "Ti" => Scale::Two(40),
        "Pi" => Scale::Two(50),
        "Ei" => Scale::Two(60),
        _ => Scale::Ten(suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

/// `whole.fraction` × 10^exponent × `step`, rounded up and saturating. `step` is at most 2^60 × 10^9, so that a
/// digit times it fits.
fn product(whole: &str, fraction: &str, exponent: i64, step: i128) -> i128 {
    // Beyond this many places the amount saturates or is below a nano-unit anyway.
    let places = i64::try_from(whole.len() + fraction.len()).unwrap_or(i64::MAX).saturating_add(64);
    let exponent = exponent.clamp(-places, places);
    let zeros = usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
    let (before, after) = if exponent < 0 { (zeros, 0) } else { (0, zeros) };
    let digits = || {
        let given = whole.bytes().chain(fraction.bytes()).map(|digit| i128::from(digit - b'0'));
        let padded = std::iter::repeat_n(0, before).chain(given);
        padded.chain(std::iter::repeat_n(0, after))
    };
    // Where the point stands once the exponent has moved it.
    let point = if exponent < 0 { whole.len() } else { whole.len() + after };
    let units = digits().take(point).fold(0_i128, |sum, digit| sum.saturating_mul(10).saturating_add(digit));

    let mut part = 0;
    let mut inexact = false;
    let below: Vec<i128> = digits().skip(point).collect();
    for digit in below.iter().rev() {
        let tenfold = digit * step + part;
        inexact |= tenfold % 10 != 0;
        part = tenfold / 10;
    }
    units.saturating_mul(step).saturating_add(part + i128::from(inexact))
}
