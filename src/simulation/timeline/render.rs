//! Lines as a table.
//!
//! Invariant: columns are aligned, and long sentences are wrapped inside theirs.

use super::WIDTH;
use super::lines::Line;
use super::pods::{desired, listed};
use crate::model::Span;
use crate::simulation::objects::{PodExt, allocatable, node_ready};
use crate::simulation::world::World;
use std::fmt::Write;

/// The widest that a Pod's name is shown.
const WHO: usize = 20;
/// Room is never narrower than its title.
const ROOM: &str = "ROOM (used/there is)";

/// The title and what there is at the beginning.
pub(super) fn head(title: &str, world: &World, resources: &[String]) -> String {
    let mut out = format!("{title}\n{}\n\n", "=".repeat(title.chars().count().min(WIDTH)));
    let first = world.first();
    for (name, node) in &first.nodes {
        let mut there = allocatable(node);
        there.retain(|name, _| resources.contains(name));
        let state = if node_ready(node) { "" } else { ", not Ready" };
        let _ = writeln!(out, "node {name}: {}{state}", listed(&there));
        for pod in first.pods_on(name) {
            let text = format!("{}, priority {}", listed(&desired(pod)), pod.priority());
            let _ = writeln!(out, "  {:WHO$} {text}", pod.key().to_string());
        }
    }
    for pod in first.pods.values().filter(|pod| pod.node().is_none()) {
        let _ = writeln!(out, "unbound: {} {}", pod.key(), listed(&desired(pod)));
    }
    for (key, budget) in &first.budgets {
        let allowed =
            budget.status.as_ref().and_then(|status| status.disruptions_allowed).unwrap_or_default();
        let _ = writeln!(out, "budget {key}: {allowed} disruptions allowed");
    }
    out.push('\n');
    out
}

pub(super) fn table(lines: &[Line]) -> String {
    let who = lines.iter().map(|line| line.who.chars().count()).max().unwrap_or(0).clamp(3, WHO);
    let rooms = lines.iter().flat_map(|line| &line.room).map(|room| room.chars().count());
    let room = rooms.max().unwrap_or(0).max(ROOM.len());
    let what = WIDTH.saturating_sub(8 + 2 + who + 2 + 2 + room).max(24);
    let mut out = format!("{:>8}  {:who$}  {:what$}  {ROOM}\n", "TIME", "POD", "WHAT HAPPENED");
    for line in lines {
        let texts = wrapped(&line.what, what);
        let rows = texts.len().max(line.room.len());
        for row in 0..rows {
            let time = if row == 0 { seconds(line.at) } else { String::new() };
            let name = if row == 0 { cut(&line.who) } else { String::new() };
            let text = texts.get(row).map_or("", String::as_str);
            let held = line.room.get(row).map_or("", String::as_str);
            let full = format!("{time:>8}  {name:who$}  {text:what$}  {held}");
            out.push_str(full.trim_end());
            out.push('\n');
        }
    }
    out
}

/// Seconds with milliseconds.
pub(super) fn seconds(span: Span) -> String {
    let millis = span.0 / 1000;
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

fn cut(name: &str) -> String {
    if name.chars().count() <= WHO {
        name.to_owned()
    } else {
        name.chars().take(WHO - 1).chain(['~']).collect()
    }
}

/// Breaks a sentence into rows, between words where it can.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        while word.len() > width {
            if !row.is_empty() {
                rows.push(std::mem::take(&mut row));
            }
            let rest = word.split_off(width);
            rows.push(word.into_iter().collect());
            word = rest;
        }
        let used = row.chars().count();
        if used > 0 && used + 1 + word.len() > width {
            rows.push(std::mem::take(&mut row));
        }
        if !row.is_empty() {
            row.push(' ');
        }
        row.extend(word);
    }
    if !row.is_empty() || rows.is_empty() {
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
    }

    #[test]
    fn a_word_that_is_too_long_breaks_anywhere() {
        assert_eq!(wrapped("a abcdefgh", 4), ["a", "abcd", "efgh"]);
    }

    #[test]
    fn times_are_seconds_with_milliseconds() {
        assert_eq!(seconds(Span::from_millis(12_034)), "12.034");
    }
}
