//! `null` as Go reads it.
//!
//! Invariant: a field that is `null` reads like one that is absent.

use serde::{Deserialize, Deserializer};

/// Reads a value, `null` as its default.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
