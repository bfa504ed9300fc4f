//! The objects that an explanation rests on, from files or from the API.
//!
//! Invariant: an object of a kind that decides nothing is passed over; a text that cannot be read is refused by
//! name and place.

use crate::wire;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Objects as they came.
#[derive(Debug, Default)]
pub struct Objects {
    /// Pods.
    pub pods: Vec<wire::Pod>,
    /// Nodes.
    pub nodes: Vec<wire::Node>,
    /// PodDisruptionBudgets.
    pub budgets: Vec<wire::Budget>,
    /// Namespaces.
    pub namespaces: Vec<wire::Namespace>,
    /// PriorityClasses, which explain nothing and are there for `check`.
    pub classes: Vec<wire::PriorityClass>,
    /// What they lack, one sentence each.
    pub notes: Vec<String>,
}

/// Why a dump cannot be used. Renders as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct Unusable {
    /// The file's name.
    pub file: String,
    /// What was found, and what was expected.
    pub problem: String,
}

impl Objects {
    /// Takes in one file: JSON or YAML, single objects or lists, several documents too. `file` is its name in
    /// messages.
    ///
    /// # Errors
    /// Text that is neither, an object without a kind, one that lacks what its kind must have, or nothing of the
    /// kinds that matter.
    pub fn read(&mut self, file: &str, text: &str) -> Result<(), Unusable> {
        let refuse = |problem: String| Unusable { file: file.to_owned(), problem };
        let before = self.count();
        for document in documents(text).map_err(refuse)? {
            self.take(document, None).map_err(refuse)?;
        }
        if self.count() == before {
            let wanted = "expected Pods, Nodes, PodDisruptionBudgets or Namespaces, found none";
            return Err(refuse(wanted.to_owned()));
        }
        Ok(())
    }

    /// Notes what is missing, once every file is read.
    ///
    /// # Errors
    /// There is no Node, so that no room is known.
    pub fn complete(&mut self, files: &str) -> Result<(), Unusable> {
        if self.nodes.is_empty() {
            let problem =
                "expected Nodes beside the Pods, found none: add `kubectl get nodes -o yaml`".to_owned();
            return Err(Unusable { file: files.to_owned(), problem });
        }
        if self.budgets.is_empty() {
            self.notes.push("no PodDisruptionBudget was given, so none counts".to_owned());
        }
        Ok(())
    }

    fn count(&self) -> usize {
        let own = self.pods.len() + self.nodes.len() + self.budgets.len();
        own + self.namespaces.len() + self.classes.len()
    }

    /// `kind` is what a typed list says of its items, which need not say it themselves.
    fn take(&mut self, object: Value, kind: Option<&str>) -> Result<(), String> {
        let Value::Object(mut fields) = object else {
            return Err(format!("expected a Kubernetes object, found {}", described(&object)));
        };
        let own = fields.get("kind").and_then(Value::as_str).or(kind).map(str::to_owned);
        let Some(kind) = own else {
            return Err("expected a Kubernetes object, found a mapping without `kind`".to_owned());
        };
        if let Some(of) = kind.strip_suffix("List") {
            let items = match fields.remove("items") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(items)) => items,
                Some(other) => {
                    return Err(format!("{kind}: items: expected a list, found {}", described(&other)));
                }
            };
            let of = Some(of).filter(|of| !of.is_empty());
            return items.into_iter().try_for_each(|item| self.take(item, of));
        }
        let object = Value::Object(fields);
        match kind.as_str() {
            "Pod" => self.pods.push(typed(&kind, object)?),
            "Node" => self.nodes.push(typed(&kind, object)?),
            "PodDisruptionBudget" => self.budgets.push(typed(&kind, object)?),
            "Namespace" => self.namespaces.push(typed(&kind, object)?),
            "PriorityClass" => self.classes.push(typed(&kind, object)?),
            _ => {}
        }
        Ok(())
    }
}

fn documents(text: &str) -> Result<Vec<Value>, String> {
    if text.trim_start().starts_with('{') {
        let stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        return stream.collect::<Result<_, _>>().map_err(|error| format!("not JSON: {error}"));
    }
    // A dump of a large cluster is larger than what the parser puts up with from strangers.
    let options = serde_yaml::options! { budget: None };
    serde_yaml::from_multiple_with_options(text, options).map_err(|error| {
        let error = error.without_snippet();
        let text = error.to_string();
        format!("neither YAML nor JSON: {}", text.lines().next().unwrap_or_default())
    })
}

fn typed<T: DeserializeOwned>(kind: &str, object: Value) -> Result<T, String> {
    let metadata = |field: &str| object.pointer(&format!("/metadata/{field}")).and_then(Value::as_str);
    let name = match (metadata("namespace"), metadata("name")) {
        (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
        (_, name) => name.unwrap_or("without a name").to_owned(),
    };
    T::deserialize(object).map_err(|error| format!("{kind} {name}: {error}"))
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(text) => format!("`{}`", text.chars().take(60).collect::<String>().escape_debug()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a mapping".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str) -> Result<Objects, String> {
        let mut objects = Objects::default();
        objects.read("dump", text).map(|()| objects).map_err(|error| error.to_string())
    }

    const POD: &str = r#"{"kind": "Pod", "metadata": {"name": "a"}}"#;

    #[test]
    fn a_list_of_kubectl_is_taken_apart() {
        let text = format!(r#"{{"kind": "List", "items": [{POD}, {{"kind": "Secret"}}]}}"#);
        assert_eq!(read(&text).unwrap().pods.len(), 1);
    }

    #[test]
    fn items_of_a_typed_list_need_no_kind() {
        let objects = read("kind: NodeList\nitems:\n- metadata: {name: n1}\n").unwrap();
        assert_eq!(objects.nodes.len(), 1);
    }

    #[test]
    fn several_documents_are_read_in_either_language() {
        let yaml = "kind: Pod\nmetadata: {name: a}\n---\nkind: Namespace\nmetadata: {name: shop}\n";
        let objects = read(yaml).unwrap();
        assert_eq!((objects.pods.len(), objects.namespaces.len()), (1, 1));
        assert_eq!(read(&format!("{POD}\n{POD}")).unwrap().pods.len(), 2);
    }

    #[test]
    fn an_empty_list_is_nothing_to_go_by() {
        let told = read("kind: PodList\nitems: []\n").unwrap_err();
        assert_eq!(told, "dump: expected Pods, Nodes, PodDisruptionBudgets or Namespaces, found none");
    }

    #[test]
    fn what_is_no_object_is_refused_in_one_line() {
        for (text, told) in [
            ("- 1", "dump: expected a Kubernetes object, found a list"),
            ("hello", "dump: expected a Kubernetes object, found `hello`"),
            ("a: 1", "dump: expected a Kubernetes object, found a mapping without `kind`"),
            ("kind: PodList\nitems: 3", "dump: PodList: items: expected a list, found `3`"),
            ("kind: Pod\nmetadata: 7", "dump: Pod without a name: invalid type"),
            ("{", "dump: not JSON: EOF while parsing an object at line 1 column 1"),
            ("a: [", "dump: neither YAML nor JSON: "),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.starts_with(told), "{found}");
            assert_eq!(found.lines().count(), 1, "{found}");
        }
    }
}
