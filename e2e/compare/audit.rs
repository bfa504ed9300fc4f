//! What the API server's audit log says about a scheduler's calls.
//!
//! Invariant: only calls that were done count, and dry runs are not among them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    verb: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    user: User,
    object_ref: Option<Object>,
    response_status: Option<Answer>,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize)]
struct Object {
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    subresource: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    code: u16,
}

impl Entry {
    /// Whose end this asked for, if a scheduler did and the API server agreed.
    fn victim(self, namespace: &str) -> Option<String> {
        let object = self.object_ref?;
        let ends = match object.subresource.as_deref() {
            None => self.verb == "delete",
            Some(subresource) => subresource == "eviction" && self.verb == "create",
        };
        // Tests, controllers and kubelets have no service account.
        let scheduler = self.user.username.starts_with("system:serviceaccount:");
        let done = self.response_status.is_some_and(|answer| (200..300).contains(&answer.code));
        let here = object.resource == "pods" && object.namespace.as_deref() == Some(namespace);
        let dry = self.request_uri.contains("dryRun");
        (ends && scheduler && done && here && !dry).then_some(object.name)?
    }
}

/// How many evictions and deletions of Pods in that namespace were asked for again although they were done.
///
/// # Errors
/// When the log cannot be read.
pub fn repeated(log: &Path, namespace: &str) -> Result<usize> {
    let file = std::fs::File::open(log).with_context(|| log.display().to_string())?;
    let mut calls = BTreeMap::<String, usize>::new();
    for line in BufReader::new(file).lines() {
        let line = line?;
        // Most lines are about other worlds; reading all of them as JSON would take a while. The last one may
        // be half written.
        if line.contains(namespace)
            && let Ok(entry) = serde_json::from_str::<Entry>(&line)
            && let Some(name) = entry.victim(namespace)
        {
            *calls.entry(name).or_default() += 1;
        }
    }
    Ok(calls.values().map(|count| count - 1).sum())
}
