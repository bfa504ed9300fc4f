//! `elbowroom demo`: two stories, without a cluster.
//!
//! Invariant: the stories are part of the program; nothing is read from outside.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use std::io::Write;

/// Play two stories of Pods that grow, without any cluster.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only this story.
    #[arg(long, value_enum)]
    story: Option<Story>,
}

/// One of the stories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Story {
    /// One node of 8 CPU: a high Pod grows from 4 to 6 CPU, a low one with 3 CPU goes.
    A,
    /// Three nodes: a high nginx grows from 1Gi to 3Gi, and the right two of the low busyboxes beside it go.
    B,
}

impl Story {
    /// All stories in the order in which they are played.
    pub const ALL: [Self; 2] = [Self::A, Self::B];
}

impl Arguments {
    /// The stories that are asked for.
    fn stories(&self) -> impl Iterator<Item = Story> {
        let only = self.story;
        Story::ALL.into_iter().filter(move |story| only.is_none_or(|only| only == *story))
    }
}

/// Plays the stories and prints their timelines.
///
/// # Errors
/// Output that cannot be written.
pub fn execute(arguments: &Arguments, _out: &mut dyn Write) -> Result<()> {
    if let Some(story) = arguments.stories().next() {
        bail!("story {story:?}: the simulation is not built in");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_stories_are_played_unless_one_is_asked_for() {
        let stories = |story| Arguments { story }.stories().collect::<Vec<_>>();
        assert_eq!(stories(None), [Story::A, Story::B]);
        assert_eq!(stories(Some(Story::B)), [Story::B]);
    }
}
