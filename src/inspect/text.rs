//! An explanation on one screen.
//!
//! Invariant: after the first, which is the whole answer in one line, no line is wider than [`WIDTH`] unless one word
//! is; long lists are cut and say so.

use super::names::{count, few, listed};
use super::shape::{Explanation, Group, NodeLine, Placement, Resize, RoomLine, Said, Victim};
use std::fmt::Write;

/// Columns.
pub const WIDTH: usize = 100;
/// Where the text after a label begins.
const INDENT: usize = 12;
/// Characters of a condition's sentence.
const SENTENCE: usize = 320;
/// Beyond this the node's name has a line of its own above the table.
const LONGEST_HEAD: usize = 18;
/// Victims that are listed one by one.
const VICTIMS: usize = 6;
/// Groups of neighbours.
const GROUPS: usize = 8;
/// Nodes that are listed one by one.
const NODES: usize = 10;

/// The explanation as people read it.
pub fn text(explanation: &Explanation) -> String {
    let mut page = Page::default();
    page.line(&explanation.summary);
    if explanation.resize.is_some() || explanation.placement.is_some() {
        page.line("");
        subject(&mut page, explanation);
    }
    if let Some(one) = &explanation.resize {
        resize(&mut page, one, explanation);
    }
    if let Some(one) = &explanation.placement {
        placement(&mut page, one);
    }
    if !explanation.blocked_by.is_empty() || !explanation.next_steps.is_empty() {
        page.line("");
    }
    let mut label = "Blocked by";
    for one in explanation.blocked_by.iter().take(4) {
        page.labelled(label, &format!("{} {}: {}", one.kind, one.name, one.detail));
        label = "";
    }
    if let Some(more) = explanation.blocked_by.len().checked_sub(4).filter(|more| *more > 0) {
        page.labelled("", &format!("and {more} more"));
    }
    let mut label = "Next step";
    for step in &explanation.next_steps {
        page.labelled(label, step);
        label = "";
    }
    if let Some(because) = &explanation.policy.because {
        page.labelled(
            "Note",
            &format!("no elbowroom with this configuration looks after the Pod: {because}"),
        );
    }
    explanation.notes.iter().take(3).for_each(|note| page.labelled("Note", note));
    if let Some(more) = explanation.notes.len().checked_sub(3).filter(|more| *more > 0) {
        page.labelled("Note", &format!("and {more} more"));
    }
    page.0
}

fn subject(page: &mut Page, explanation: &Explanation) {
    let (pod, policy) = (&explanation.pod, &explanation.policy);
    let asks = if pod.asks.is_empty() { "nothing".to_owned() } else { listed(&pod.asks) };
    if explanation.resize.is_some() {
        page.labelled("Asks for", &format!("{asks}; holds {}", listed(&pod.holds)));
    } else {
        page.labelled("Asks for", &asks);
    }
    let profile = if policy.looked_after {
        format!("profile {} ({})", policy.profile, policy.mode)
    } else {
        format!("scheduler {}, explained by profile {} ({})", pod.scheduler_name, policy.profile, policy.mode)
    };
    page.labelled("Ranks", &format!("priority {}, QoS {}; {profile}", pod.priority, pod.qos_class));
}

fn resize(page: &mut Page, resize: &Resize, explanation: &Explanation) {
    if let Some(kubelet) = &resize.kubelet {
        page.labelled(
            "Kubelet",
            &if kubelet.message.is_empty() {
                kubelet.reason.clone()
            } else {
                format!("{}: {}", kubelet.reason, kubelet.message)
            },
        );
    }
    for refusal in &resize.refusals {
        page.labelled(
            "Refused",
            &format!("the API server would answer {}: {}", refusal.code, refusal.message),
        );
    }
    if let Some(told) = resize.told.as_ref().filter(|told| !same(told, &resize.state)) {
        page.labelled("Told", &format!("{}: {}", told.reason, what(&told.message)));
    }
    if resize.told.is_none() && !resize.planned && explanation.policy.looked_after {
        page.labelled(
            "Told",
            "nothing about this generation yet: is elbowroom running with this configuration?",
        );
    }
    let label = if resize.planned { "Would be" } else { "State" };
    page.labelled(label, &format!("{}: {}", resize.state.reason, what(&resize.state.message)));
    if !resize.room.is_empty() {
        page.line("");
        room(page, &resize.room, explanation.pod.node.as_deref().unwrap_or_default());
    }
    if !resize.tried_before.is_empty() {
        page.labelled("Before it", &format!("the kubelet tries {}", few(&resize.tried_before, 4)));
    }
    page.line("");
    match resize.victims.as_slice() {
        [] => page.labelled("Goes", "nobody"),
        victims => {
            victims.iter().take(VICTIMS).enumerate().for_each(|(at, one)| {
                page.labelled(if at == 0 { "Goes" } else { "" }, &victim(one));
            });
            if victims.len() > VICTIMS {
                page.labelled("", &format!("and {} more", victims.len() - VICTIMS));
            }
            let why = "of all sets that are enough: the fewest of the highest priority first, then the least \
                       that is freed in vain, then the youngest";
            let cut = if resize.exact { "" } else { "; the search was cut short, a better set may exist" };
            page.labelled("", &format!("why these: {why}{cut}"));
        }
    }
    resize.neighbours.iter().take(GROUPS).enumerate().for_each(|(at, one)| {
        page.labelled(if at == 0 { "Stays" } else { "" }, &group(one));
    });
    if let Some(more) = resize.neighbours.len().checked_sub(GROUPS).filter(|more| *more > 0) {
        page.labelled("", &format!("and more, for {}", count(more, "further reason")));
    }
}

fn same(told: &Said, state: &Said) -> bool {
    told.reason == state.reason && told.message == state.message
}

/// A sentence of a condition without its advice, which is among the next steps, and not longer than four lines.
fn what(message: &str) -> String {
    let message = message.trim();
    let what = message.rsplit_once(". ").map_or(message, |(what, _)| what);
    let cut: String = what.chars().take(SENTENCE).collect();
    if cut.len() == what.len() {
        cut
    } else {
        format!("{} …", cut.rsplit_once(' ').map_or("", |(cut, _)| cut))
    }
}

fn victim(one: &Victim) -> String {
    let budget = match (&one.budget, one.deleted) {
        (Some(budget), true) => format!(", deleted although budget {budget} does not allow it"),
        (None, true) => ", deleted although budgets do not allow it".to_owned(),
        (Some(budget), false) => format!(", paid by budget {budget}"),
        (None, false) => String::new(),
    };
    format!(
        "{}/{}: priority {}, frees {}, grace {}s{budget}",
        one.namespace,
        one.name,
        one.priority,
        listed(&one.frees),
        one.grace_period_seconds
    )
}

fn group(one: &Group) -> String {
    let names: Vec<String> = one.pods.iter().map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect();
    format!("{} ({})", few(&names, 3), one.detail)
}

fn room(page: &mut Page, lines: &[RoomLine], node: &str) {
    let head =
        ["allocatable", "others hold", "leaving", "taken before", "left for it", "asks for", "short of"];
    let mut first = format!("Room on {node}");
    if first.len() > LONGEST_HEAD {
        page.line(&first);
        first.clear();
    }
    let names = lines.iter().map(|line| line.resource.len() + 2).chain([first.len()]);
    let width = names.max().unwrap_or_default();
    let cells = |line: &RoomLine| {
        [
            line.allocatable.clone(),
            line.held_by_others.clone(),
            line.leaving.clone(),
            line.taken_before.clone(),
            line.left.clone(),
            line.asks.clone(),
            line.short.clone(),
        ]
    };
    let rows: Vec<[String; 7]> = lines.iter().map(cells).collect();
    let row = |first: &str, cells: &[String]| {
        let mut text = format!("{first:width$}");
        for (at, cell) in cells.iter().enumerate() {
            let inner = rows.iter().filter_map(|row| row.get(at)).map(String::len);
            let wide = inner.chain(head.get(at).map(|name| name.len())).max().unwrap_or_default();
            let _ = write!(text, "  {cell:>wide$}");
        }
        text
    };
    page.line(&row(&first, &head.map(str::to_owned)));
    for (line, cells) in lines.iter().zip(&rows) {
        page.line(&row(&format!("  {}", line.resource), cells));
    }
}

fn placement(page: &mut Page, placement: &Placement) {
    page.labelled("Scheduler", &placement.message);
    if !placement.nodes.is_empty() {
        page.line("");
    }
    placement.nodes.iter().take(NODES).for_each(|one| page.wrapped("  ", &node(one), 4));
    let more = placement.nodes.len().saturating_sub(NODES) + placement.more_nodes;
    if more > 0 {
        page.line(&format!("  and {more} more"));
    }
}

fn node(one: &NodeLine) -> String {
    let plugin = one.plugin.map(|plugin| format!("{plugin}: ")).unwrap_or_default();
    let mut text = format!("{}: {plugin}{}", one.node, one.detail);
    for claim in &one.claims {
        let _ =
            write!(text, "; {} (priority {}) claims {}", claim.pod, claim.priority, listed(&claim.amounts));
    }
    text
}

/// Lines so far.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text.trim_end());
        self.0.push('\n');
    }

    fn labelled(&mut self, label: &str, text: &str) {
        self.wrapped(&format!("{label:INDENT$}"), text, INDENT);
    }

    /// `text` after `first`, its further lines set in.
    fn wrapped(&mut self, first: &str, text: &str, indent: usize) {
        let mut line = first.to_owned();
        let mut empty = true;
        for word in text.split_whitespace() {
            let wide = line.chars().count() + word.chars().count() + usize::from(!empty);
            if !empty && wide > WIDTH {
                self.line(&line);
                line = " ".repeat(indent);
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        self.line(&line);
    }
}
