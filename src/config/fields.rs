//! Strict reading of mappings: which fields there may be, and of what kind.
//!
//! Invariant: a field that nobody named is an error; a field that is null counts as left out, as in the API.

use super::duration;
use super::tree::{Fault, Node, Position, Value};
use crate::model::Span;
use std::ops::RangeInclusive;

/// A mapping whose keys are all known.
pub struct Fields<'a> {
    /// Where it begins.
    pub at: Position,
    entries: &'a [super::tree::Entry],
}

impl<'a> Fields<'a> {
    /// Takes a mapping and refuses keys that are not among `known`. Null counts as an empty mapping.
    ///
    /// # Errors
    /// No mapping, or an unknown field.
    pub fn read(name: &str, node: &'a Node, known: &[&str]) -> Result<Self, Fault> {
        let entries = match &node.value {
            Value::Null => &[][..],
            Value::Map(entries) => entries,
            _ => return Err(Fault::new(node.at, format!("{name}: expected a mapping, found {node}"))),
        };
        match entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            None => Ok(Self { at: node.at, entries }),
            Some(entry) => Err(Fault::new(
                entry.at,
                format!("unknown field `{}`, expected one of {}", entry.key, listed(known)),
            )),
        }
    }

    /// The value of a field, if it is given and not null.
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value).filter(|n| !n.is_null())
    }

    /// Where a field's key stands, or the mapping itself when it is left out.
    pub fn place(&self, name: &str) -> Position {
        self.entries.iter().find(|entry| entry.key == name).map_or(self.at, |entry| entry.at)
    }

    /// All keys with their values, nulls included.
    pub fn iter(&self) -> impl Iterator<Item = &'a super::tree::Entry> {
        self.entries.iter()
    }

    /// A string.
    ///
    /// # Errors
    /// Another kind of value.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, Fault> {
        self.get(name).map(|node| text(name, node)).transpose()
    }

    /// A string that must be there and not be empty.
    ///
    /// # Errors
    /// Left out, empty, or another kind of value.
    pub fn required_text(&self, name: &str) -> Result<&'a str, Fault> {
        match self.text(name)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(Fault::new(self.place(name), format!("{name}: expected a name, found nothing"))),
        }
    }

    /// A truth value.
    ///
    /// # Errors
    /// Another kind of value.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Fault> {
        let Some(node) = self.get(name) else { return Ok(None) };
        match node.value {
            Value::Bool(flag) => Ok(Some(flag)),
            _ => Err(expected(name, "`true` or `false`", node)),
        }
    }

    /// An integer within bounds.
    ///
    /// # Errors
    /// Another kind of value, or one out of bounds.
    pub fn integer(&self, name: &str, bounds: RangeInclusive<i64>) -> Result<Option<i64>, Fault> {
        let Some(node) = self.get(name) else { return Ok(None) };
        match node.value {
            Value::Integer(number) if bounds.contains(&number) => Ok(Some(number)),
            _ if *bounds.end() == i64::MAX => {
                Err(expected(name, &format!("an integer of at least {}", bounds.start()), node))
            }
            _ => {
                let what = format!("an integer from {} to {}", bounds.start(), bounds.end());
                Err(expected(name, &what, node))
            }
        }
    }

    /// A number.
    ///
    /// # Errors
    /// Another kind of value.
    pub fn number(&self, name: &str) -> Result<Option<f64>, Fault> {
        let Some(node) = self.get(name) else { return Ok(None) };
        match node.value {
            Value::Integer(number) => Ok(Some(number as f64)),
            Value::Float(number) => Ok(Some(number)),
            _ => Err(expected(name, "a number", node)),
        }
    }

    /// A duration in Go's notation, not negative.
    ///
    /// # Errors
    /// Another kind of value, or a text that is no duration.
    pub fn duration(&self, name: &str) -> Result<Option<Span>, Fault> {
        let Some(node) = self.get(name) else { return Ok(None) };
        let span = match &node.value {
            Value::Text(text) => duration::parse(text),
            _ => None,
        };
        span.map(Some).ok_or_else(|| expected(name, "a duration such as `30s` or `1h30m`", node))
    }

    /// One of a few words.
    ///
    /// # Errors
    /// Any other value.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Fault> {
        let Some(node) = self.get(name) else { return Ok(None) };
        let chosen = match &node.value {
            Value::Text(text) => choices.iter().find(|(word, _)| word == text),
            // YAML reads a bare `Off` as false.
            Value::Bool(false) => choices.iter().find(|(word, _)| *word == "Off"),
            _ => None,
        };
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        chosen
            .map(|(_, value)| Some(*value))
            .ok_or_else(|| expected(name, &format!("one of {}", listed(&words)), node))
    }

    /// The items of a list; none when it is left out.
    ///
    /// # Errors
    /// Another kind of value.
    pub fn list(&self, name: &str) -> Result<&'a [Node], Fault> {
        let Some(node) = self.get(name) else { return Ok(&[]) };
        match &node.value {
            Value::List(items) => Ok(items),
            _ => Err(expected(name, "a list", node)),
        }
    }

    /// A mapping below this one; an empty one when it is left out.
    ///
    /// # Errors
    /// Another kind of value, or unknown fields in it.
    pub fn below(&self, name: &str, known: &[&str]) -> Result<Fields<'a>, Fault> {
        self.get(name)
            .map_or(Ok(Fields { at: self.at, entries: &[] }), |node| Fields::read(name, node, known))
    }

    /// `apiVersion` and `kind`, where they are given.
    ///
    /// # Errors
    /// Other values than the ones expected.
    pub fn type_meta(&self, api_versions: &[&str], kind: &str) -> Result<(), Fault> {
        let check = |name, allowed: &[&str]| match self.text(name)? {
            Some(text) if !allowed.contains(&text) => Err(Fault::new(
                self.get(name).map_or(self.at, |node| node.at),
                format!("{name}: expected {}, found `{text}`", listed(allowed)),
            )),
            _ => Ok(()),
        };
        check("apiVersion", api_versions)?;
        check("kind", &[kind])
    }
}

/// A string.
///
/// # Errors
/// Another kind of value.
pub fn text<'a>(name: &str, node: &'a Node) -> Result<&'a str, Fault> {
    match &node.value {
        Value::Text(text) => Ok(text),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) => {
            Err(expected(name, "a string (put it in quotes)", node))
        }
        _ => Err(expected(name, "a string", node)),
    }
}

/// The fault of a value that is of the wrong kind.
pub fn expected(name: &str, what: &str, node: &Node) -> Fault {
    Fault::new(node.at, format!("{name}: expected {what}, found {node}"))
}

/// Names in backquotes, separated by commas.
pub fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
