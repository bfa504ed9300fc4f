//! The configuration file: a kube-scheduler's `KubeSchedulerConfiguration` v1, read as it is, with our own
//! plugin args in it.
//!
//! Invariant: nothing in a file is passed over in silence. A field is obeyed, or named in a warning because it
//! only changes speed or serving, or it is an error with its line and column.

pub mod duration;
pub mod fields;
mod file;
mod plugins;
mod profile;
mod resize_args;
mod selector;
pub mod tree;

pub use tree::Position;

use crate::engine;
use crate::model::{Span, Str};
use crate::resize::ResizePolicy;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// The scheduler name that is served when no profile gives one.
pub const DEFAULT_SCHEDULER_NAME: &str = "elbowroom";

/// What a configuration file, or its absence, comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// One for each scheduler name; at least one, names are unique.
    pub profiles: Vec<Profile>,
    /// How to reach the API server.
    pub client: ClientConnection,
    /// First backoff of a Pod that did not fit.
    pub initial_backoff: Span,
    /// Longest backoff of such a Pod; never below the first.
    pub max_backoff: Span,
}

/// One profile: the Pods of one `spec.schedulerName`.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// `schedulerName`.
    pub scheduler_name: Str,
    /// Whether its new Pods are placed; without it the profile only helps Pods that grow.
    pub bind: bool,
    /// Rules for its Deferred resizes.
    pub resize: ResizePolicy,
}

/// `clientConnection`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientConnection {
    /// Path of a kubeconfig; `None`: the service account, or the usual places.
    pub kubeconfig: Option<String>,
    /// Calls a second as the file has it; `None`: not limited. Nothing enforces it yet, which a warning says.
    pub qps: Option<f64>,
    /// Calls above `qps` at a time as the file has it.
    pub burst: Option<u32>,
}

impl Default for Config {
    /// The configuration without a file.
    fn default() -> Self {
        Self {
            profiles: vec![Profile::default()],
            client: ClientConnection::default(),
            initial_backoff: Span::from_seconds(1),
            max_backoff: Span::from_seconds(10),
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self { scheduler_name: DEFAULT_SCHEDULER_NAME.into(), bind: true, resize: ResizePolicy::default() }
    }
}

impl Config {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or says what [`Config::parse`] refuses.
    pub fn read(path: &Path) -> Result<(Self, Vec<Warning>), Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::Unreadable { file: path.display().to_string(), cause })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads a file's text; `file` is its name in messages.
    ///
    /// # Errors
    /// The first thing in it that is no YAML, unknown, of the wrong kind, contradictory, or that elbowroom
    /// cannot do yet and that would place or evict Pods differently if it were ignored.
    pub fn parse(file: &str, text: &str) -> Result<(Self, Vec<Warning>), Error> {
        let (config, notes) =
            tree::Node::parse(text).and_then(|root| file::read(&root)).map_err(|fault| Error::Invalid {
                file: file.to_owned(),
                at: fault.at,
                message: fault.message,
            })?;
        let warning =
            |note: tree::Fault| Warning { file: file.to_owned(), at: note.at, message: note.message };
        Ok((config, notes.into_iter().map(warning).collect()))
    }

    /// What the engine has to know of it.
    pub fn settings(&self) -> engine::Settings {
        let profile = |one: &Profile| engine::Profile {
            name: one.scheduler_name.clone(),
            bind: one.bind,
            resize: one.resize.clone(),
        };
        engine::Settings {
            profiles: self.profiles.iter().map(profile).collect(),
            initial_backoff: self.initial_backoff,
            max_backoff: self.max_backoff,
        }
    }

    /// The keys of the annotations of Pods that some profile asks about, sorted.
    pub fn annotations(&self) -> Vec<String> {
        let protections = self.profiles.iter().map(|profile| &profile.resize.protect);
        let keys: BTreeSet<String> =
            protections.flat_map(|protect| protect.annotation_keys()).map(|key| key.to_string()).collect();
        keys.into_iter().collect()
    }

    /// Whether some profile places new Pods, which takes the right to bind.
    pub fn binds(&self) -> bool {
        self.profiles.iter().any(|profile| profile.bind)
    }
}

/// Something in the file that is known, has no effect, and changes no placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file's name.
    pub file: String,
    /// Where it stands.
    pub at: Position,
    /// One line.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.at.line, self.at.column, self.message)
    }
}

/// Why a configuration cannot be used. Each renders as one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{file}: {cause}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file says something that cannot be used.
    #[error("{file}:{}:{}: {message}", at.line, at.column)]
    Invalid {
        /// The file's name.
        file: String,
        /// Where it stands.
        at: Position,
        /// What was found and what was expected.
        message: String,
    },
}

#[cfg(test)]
mod tests;
