//! `elbowroom demo`: two stories, without a cluster.
//!
//! Invariant: the stories are part of the program; nothing is read from outside.

use crate::engine::Settings;
use crate::simulation::play;
use anyhow::Result;
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

    /// The name of its scenario file and the text of it.
    pub const fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::A => ("examples/story-a.yaml", include_str!("../../examples/story-a.yaml")),
            Self::B => ("examples/story-b.yaml", include_str!("../../examples/story-b.yaml")),
        }
    }
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
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<()> {
    for (index, story) in arguments.stories().enumerate() {
        if index > 0 {
            writeln!(out, "\n")?;
        }
        let (file, text) = story.file();
        write!(out, "{}", play(file, text, Settings::default())?)?;
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
