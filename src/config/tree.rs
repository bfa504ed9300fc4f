//! A YAML document as a tree that remembers where everything stands.
//!
//! Invariant: every node has the line and column of its text, so no error about a file is without a place.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Location, Spanned};
use std::fmt;

/// A place in a file; both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

impl Position {
    /// Where a document begins.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl From<Location> for Position {
    fn from(at: Location) -> Self {
        Self { line: at.line().max(1), column: at.column().max(1) }
    }
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands.
    pub at: Position,
    /// What was found and what was expected, in one line.
    pub message: String,
}

impl Fault {
    /// A fault at a place.
    pub fn new(at: Position, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// One value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where its text begins.
    pub at: Position,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number that is no integer.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file; keys are unique.
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub at: Position,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// Reads a single document.
    ///
    /// # Errors
    /// Text that is no YAML, a key given twice, several documents.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        serde_yaml::from_str(text).map_err(|error| fault_of(&error))
    }

    /// Reads a file of several documents. Places count from the beginning of the file.
    ///
    /// # Errors
    /// Text that is no YAML, a key given twice.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, Fault> {
        serde_yaml::from_multiple(text).map_err(|error| fault_of(&error))
    }

    /// Whether it says nothing.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }
}

/// The value as it is shown in an error: short, on one line.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Null => f.write_str("nothing"),
            Value::Bool(flag) => write!(f, "`{flag}`"),
            Value::Integer(number) => write!(f, "`{number}`"),
            Value::Float(number) => write!(f, "`{number}`"),
            Value::Text(text) => {
                let cut: String = text.chars().take(60).collect();
                let dots = if cut.len() < text.len() { "…" } else { "" };
                write!(f, "`{}{dots}`", cut.escape_debug())
            }
            Value::List(_) => f.write_str("a list"),
            Value::Map(_) => f.write_str("a mapping"),
        }
    }
}

fn fault_of(error: &serde_yaml::Error) -> Fault {
    use serde_yaml::Error;
    let error = error.without_snippet();
    let at = error.location().map_or(Position::START, Position::from);
    let message = match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate field `{key}`"),
        Error::DuplicateMappingKey { key: None, .. } => "duplicate field".to_owned(),
        Error::MultipleDocuments { .. } => "a second document begins here, expected only one".to_owned(),
        other => {
            // The parser's own text ends with the place, which is told already, and may span lines.
            let text = other.to_string();
            let text = text.lines().next().unwrap_or_default();
            text.split_once(" at line ").map_or(text, |(before, _)| before).to_owned()
        }
    };
    Fault { at, message }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { at: spanned.referenced.into(), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        i64::try_from(number).map(Value::Integer).map_err(|_| E::custom(format!("{number} is too large")))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = pairs.next_key::<Spanned<String>>()? {
            let value = pairs.next_value()?;
            map.push(Entry { key: key.value, at: key.referenced.into(), value });
        }
        Ok(Value::Map(map))
    }
}
