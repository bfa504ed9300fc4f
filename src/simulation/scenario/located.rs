//! Reads a typed API object out of a YAML tree, strictly, with the place of every fault.
//!
//! Invariant: a field that the type does not have is an error. The generated types skip such fields by asking for
//! an ignored value, and that request is what is refused here.

use crate::config::tree::{Entry, Fault, Node, Position, Value};
use crate::model::Quantity;
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt;

/// Reads an object of type `T`.
///
/// # Errors
/// A field of another type, an unknown field, a quantity or time that is none.
pub(super) fn read<'de, T: de::Deserialize<'de>>(node: &'de Node) -> Result<T, Fault> {
    T::deserialize(At { node, parent: None })
        .map_err(|error| Fault::new(error.at.unwrap_or(node.at), error.message))
}

/// A fault whose place may not be known yet.
#[derive(Debug)]
struct Wrong {
    at: Option<Position>,
    message: String,
}

impl Wrong {
    fn here(mut self, at: Position) -> Self {
        self.at.get_or_insert(at);
        self
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        Self { at: None, message: text.lines().next().unwrap_or_default().to_owned() }
    }
}

/// A value, and whose field it is.
#[derive(Clone, Copy)]
struct At<'de> {
    node: &'de Node,
    parent: Option<(&'de Entry, &'static [&'static str])>,
}

impl<'de> At<'de> {
    fn visit<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Wrong> {
        let read = match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(entries) => visitor.visit_map(Pairs { rest: entries.iter(), next: None, fields }),
        };
        read.map_err(|wrong| wrong.here(self.node.at))
    }
}

impl<'de> Deserializer<'de> for At<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.visit(&[], visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.node.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.visit(fields, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        if name == "Quantity" {
            let text = match &self.node.value {
                Value::Text(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                _ => String::new(),
            };
            if let Err(error) = Quantity::parse(&text) {
                return Err(Wrong::custom(error).here(self.node.at));
            }
        }
        visitor.visit_newtype_struct(self).map_err(|wrong| wrong.here(self.node.at))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Wrong> {
        let Some((entry, fields)) = self.parent else { return Err(Wrong::custom("unexpected value")) };
        let message = format!("unknown field `{}`, expected {}", entry.key, nearest(&entry.key, fields));
        Err(Wrong { at: Some(entry.at), message })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map enum identifier
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Wrong;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Wrong> {
        self.0.next().map(|node| seed.deserialize(At { node, parent: None })).transpose()
    }
}

struct Pairs<'de> {
    rest: std::slice::Iter<'de, Entry>,
    next: Option<&'de Entry>,
    fields: &'static [&'static str],
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = Wrong;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Wrong> {
        self.next = self.rest.next();
        let Some(entry) = self.next else { return Ok(None) };
        let key: StrDeserializer<'de, Wrong> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        let Some(entry) = self.next else { return Err(Wrong::custom("a value without a key")) };
        seed.deserialize(At { node: &entry.value, parent: Some((entry, self.fields)) })
    }
}

/// The names there are, or, where they are many, the one that was probably meant.
fn nearest(key: &str, fields: &[&str]) -> String {
    if fields.len() <= 8 {
        let list: Vec<String> = fields.iter().map(|name| format!("`{name}`")).collect();
        return format!("one of {}", list.join(", "));
    }
    let close = fields.iter().map(|name| (distance(key, name), *name)).min();
    match close {
        Some((far, name)) if far <= 3 => format!("`{name}`"),
        _ => "a field of the Kubernetes API".to_owned(),
    }
}

/// Edits between two words (Levenshtein), upper and lower case being alike.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        let mut new = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            left = (corner + usize::from(x != *y)).min(left + 1).min(above + 1);
            corner = *above;
            new.push(left);
        }
        row = new;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use k8s_openapi::api::core::v1::Pod;

    fn fault(text: &str) -> String {
        let node = Node::parse(text).unwrap();
        let fault = read::<Pod>(&node).unwrap_err();
        format!("{}:{}: {}", fault.at.line, fault.at.column, fault.message)
    }

    const HEAD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n";

    #[test]
    fn a_misspelt_field_is_told_with_the_right_one() {
        let text = format!("{HEAD}spec:\n  nodename: n1\n  containers: []\n");
        assert_eq!(fault(&text), "5:3: unknown field `nodename`, expected `nodeName`");
    }

    #[test]
    fn a_field_of_a_small_type_is_told_with_all_there_are() {
        let text = format!("{HEAD}spec:\n  containers:\n  - name: c\n    resources: {{request: {{}}}}\n");
        assert_eq!(
            fault(&text),
            "7:17: unknown field `request`, expected one of `claims`, `limits`, `requests`"
        );
    }

    #[test]
    fn a_value_of_another_type_is_told_where_it_stands() {
        let text = format!("{HEAD}spec:\n  priority: high\n  containers: []\n");
        assert_eq!(fault(&text), "5:13: invalid type: string \"high\", expected i32");
    }

    #[test]
    fn a_bad_quantity_is_told_where_it_stands() {
        let text = format!("{HEAD}spec:\n  overhead:\n    cpu: 4 cores\n  containers: []\n");
        assert!(fault(&text).starts_with("6:10: "), "{}", fault(&text));
    }

    #[test]
    fn numbers_are_quantities_too() {
        let text = format!("{HEAD}spec:\n  overhead: {{cpu: 4}}\n  containers: []\n");
        let pod: Pod = read(&Node::parse(&text).unwrap()).unwrap();
        assert_eq!(pod.spec.unwrap().overhead.unwrap()["cpu"].0, "4");
    }

    #[test]
    fn the_nearest_word_is_the_one_with_the_fewest_edits() {
        assert_eq!(distance("nodename", "nodeName"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
