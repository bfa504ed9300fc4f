//! Resource lists, parsed while they are read.
//!
//! Invariant: a text that is no quantity does not stop the parser; it is kept, and conversion refuses the
//! object by its name.

use crate::model::Quantity;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// Amounts by resource name, in the order of the object.
#[derive(Clone, Debug, Default)]
pub(super) struct Amounts(pub(super) Vec<(String, Amount)>);

/// `resources` of a container or a Pod.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Resources {
    pub(super) requests: Option<Amounts>,
    pub(super) limits: Option<Amounts>,
}

/// One quantity.
#[derive(Clone, Debug)]
pub(super) enum Amount {
    Exact(Quantity),
    /// Why it is none; the text is in it.
    Unreadable(String),
}

impl Amount {
    fn parse(text: &str) -> Self {
        Quantity::parse(text).map_or_else(|error| Self::Unreadable(error.to_string()), Self::Exact)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Amount;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
                Ok(Amount::parse(text))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Amount, E> {
                Ok(Amount::Exact(Quantity::from_units(number)))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Amount, E> {
                Ok(Amount::parse(&number.to_string()))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Amount, E> {
                Ok(Amount::parse(&number.to_string()))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl<'de> Deserialize<'de> for Amounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Amounts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from resource names to quantities")
            }
            fn visit_unit<E: Error>(self) -> Result<Amounts, E> {
                Ok(Amounts::default())
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Amounts, M::Error> {
                let mut amounts = Vec::with_capacity(map.size_hint().unwrap_or(4));
                while let Some(entry) = map.next_entry()? {
                    amounts.push(entry);
                }
                Ok(Amounts(amounts))
            }
        }
        deserializer.deserialize_any(List)
    }
}
