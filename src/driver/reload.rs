//! The configuration file, read again when it changes: the way to `mode: Off` without a restart.
//!
//! Invariant: a file that cannot be used changes nothing; what was in force stays so, and one line says it.

use super::rights;
use super::watch::Rules;
use crate::config::{Config, Profile};
use crate::serve::Metrics;
use kube::Client;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;
use tracing::{info, warn};

/// How often the file is looked at. A mounted ConfigMap is swapped as a whole, so its content says all.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What it takes to follow the file.
pub(super) struct Reload {
    /// The file.
    pub(super) path: PathBuf,
    /// What is in force.
    pub(super) config: Config,
    /// Who may do what is asked.
    pub(super) client: Client,
    pub(super) metrics: Metrics,
    /// Where new rules go.
    pub(super) rules: watch::Sender<Rules>,
}

impl Reload {
    /// Follows the file until the process ends.
    pub(super) async fn run(mut self) {
        let mut known = None;
        loop {
            let found = self.read().await;
            if known.as_ref() != Some(&found) {
                // The first time it is what was read at the start, unless it changed since.
                match self.take_over(&found).await {
                    Ok(changed) if changed || known.is_some() => self.metrics.reloaded(true),
                    Ok(_) => {}
                    Err(problem) => {
                        self.metrics.reloaded(false);
                        warn!(problem, "Configuration is not taken over; what was in force stays");
                    }
                }
            }
            known = Some(found);
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn read(&self) -> Result<String, String> {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(path)).await;
        let text = read.map_err(|error| error.to_string())?;
        text.map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// Puts in force what was found. False if that is what is in force already.
    async fn take_over(&mut self, found: &Result<String, String>) -> Result<bool, String> {
        let (file, text) = (self.path.display().to_string(), found.as_ref().map_err(String::clone)?);
        let (new, warnings) = Config::parse(&file, text).map_err(|error| error.to_string())?;
        let merged = merged(&self.config, &new);
        if merged.config == self.config && merged.after_restart.is_empty() {
            return Ok(false);
        }
        rights::check(&self.client, &merged.config).await.map_err(|error| error.to_string())?;
        for warning in warnings {
            warn!("{warning}");
        }
        for what in &merged.after_restart {
            warn!(
                what,
                "Configuration changed in something that needs a restart; until then it stays as it was"
            );
        }
        for Profile { scheduler_name, resize, .. } in &merged.config.profiles {
            info!(schedulerName = %scheduler_name, resizePreemption = ?resize.mode, "Configuration is taken over");
        }
        self.config = merged.config;
        // The watch of Pods lives as long as the process.
        let _ = self.rules.send(Rules::of(&self.config));
        Ok(true)
    }
}

impl Rules {
    /// The rules of a configuration.
    pub(super) fn of(config: &Config) -> Self {
        Self { annotations: config.annotations(), policies: config.settings().policies() }
    }
}

/// A new configuration, as far as it can be put in force.
struct Merged {
    config: Config,
    /// What of it has to wait for a restart.
    after_restart: Vec<String>,
}

/// The rules for resizes of the new one in the frame of the old.
fn merged(old: &Config, new: &Config) -> Merged {
    let mut config = old.clone();
    let mut after_restart = Vec::new();
    for profile in &mut config.profiles {
        let name = &profile.scheduler_name;
        match new.profiles.iter().find(|one| one.scheduler_name == *name) {
            Some(one) => {
                if one.bind != profile.bind {
                    after_restart.push(format!("bind of profile {name}"));
                }
                profile.resize = one.resize.clone();
            }
            None => after_restart.push(format!("removal of profile {name}")),
        }
    }
    for one in &new.profiles {
        if !old.profiles.iter().any(|known| known.scheduler_name == one.scheduler_name) {
            after_restart.push(format!("new profile {}", one.scheduler_name));
        }
    }
    // The flag --kubeconfig may have replaced the file's.
    let calls = |config: &Config| (config.client.qps, config.client.burst);
    if calls(old) != calls(new) {
        after_restart.push("clientConnection".to_owned());
    }
    if (old.initial_backoff, old.max_backoff) != (new.initial_backoff, new.max_backoff) {
        after_restart.push("podInitialBackoffSeconds and podMaxBackoffSeconds".to_owned());
    }
    Merged { config, after_restart }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Span;
    use crate::resize::policy::Mode;

    fn profile(name: &str, mode: Mode) -> Profile {
        let mut profile = Profile { scheduler_name: name.into(), ..Profile::default() };
        profile.resize.mode = mode;
        profile
    }

    fn config(profiles: Vec<Profile>) -> Config {
        Config { profiles, ..Config::default() }
    }

    #[test]
    fn rules_for_resizes_are_taken_over() {
        let old = config(vec![profile("a", Mode::Enforce)]);
        let merged = merged(&old, &config(vec![profile("a", Mode::Off)]));
        assert_eq!(merged.config, config(vec![profile("a", Mode::Off)]));
        assert!(merged.after_restart.is_empty());
    }

    #[test]
    fn a_profile_that_vanishes_keeps_its_rules_until_a_restart() {
        let old = config(vec![profile("a", Mode::Observe)]);
        let merged = merged(&old, &config(vec![profile("b", Mode::Enforce)]));
        assert_eq!(merged.config, old);
        assert_eq!(merged.after_restart, ["removal of profile a", "new profile b"]);
    }

    #[test]
    fn what_needs_a_restart_is_named_and_left_as_it_was() {
        let old = config(vec![profile("a", Mode::Enforce)]);
        let mut new = old.clone();
        new.max_backoff = Span::from_seconds(60);
        new.profiles[0].bind = false;
        let merged = merged(&old, &new);
        assert_eq!(merged.config, old);
        assert_eq!(
            merged.after_restart,
            ["bind of profile a", "podInitialBackoffSeconds and podMaxBackoffSeconds"]
        );
    }
}
