//! The history as lines.
//!
//! Invariant: a line is in the order of the history, and room is on the last line of what changed it.

use super::amount::shown;
use super::pods;
use crate::engine::Decision;
use crate::model::{PodRef, Span};
use crate::simulation::api::{Change, Recorded};
use crate::simulation::objects::Key;
use crate::simulation::world::{EPOCH, Moment, Room, What, World};
use std::collections::BTreeMap;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub at: Span,
    pub who: String,
    pub what: String,
    pub room: Vec<String>,
}

pub(super) fn lines(world: &World, resources: &[String]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut noted: BTreeMap<String, String> = BTreeMap::new();
    for moment in world.history() {
        let mut told = tell(moment);
        for line in &mut told {
            let Some((head, note)) = line.what.split_once(": ") else { continue };
            let repeated = noted.get(&line.who).is_some_and(|known| known == note);
            // A condition that says what an event has just said is told by its reason alone.
            if head.starts_with("condition ") && repeated {
                line.what = head.to_owned();
            } else if head.starts_with("event ") || head.starts_with("warning ") {
                noted.insert(line.who.clone(), note.to_owned());
            }
        }
        if let Some(last) = told.last_mut() {
            last.room = moment.room.iter().flat_map(|room| rooms(room, resources)).collect();
        }
        lines.append(&mut told);
    }
    lines
}

/// `n1 cpu 7/8 -> 4/8`, for each resource that is shown and changed.
fn rooms(room: &Room, resources: &[String]) -> Vec<String> {
    let get = |map: &BTreeMap<String, i64>, name: &String| map.get(name).copied().unwrap_or(0);
    resources
        .iter()
        .filter(|name| get(&room.before, name) != get(&room.after, name))
        .map(|name| {
            let of = |held| format!("{}/{}", shown(name, held), shown(name, get(&room.allocatable, name)));
            format!("{} {name} {} -> {}", room.node, of(get(&room.before, name)), of(get(&room.after, name)))
        })
        .collect()
}

fn tell(moment: &Moment) -> Vec<Line> {
    let at = moment.at - EPOCH;
    let line = |who: &str, what: String| Line { at, who: who.to_owned(), what, room: Vec::new() };
    match &moment.what {
        What::Done(what) => vec![line("", what.clone())],
        What::Refused(what, refusal) => {
            vec![line("", format!("{what}: refused, {} {}", refusal.code, refusal.message))]
        }
        What::Crashed => vec![line("", "elbowroom is killed".to_owned())],
        What::Restarted => vec![line("", "elbowroom is back and lists everything".to_owned())],
        What::Eviction(_, Ok(())) => Vec::new(),
        What::Eviction(pod, Err(refusal)) => {
            vec![line(&pod.to_string(), format!("eviction refused: {} {}", refusal.code, refusal.message))]
        }
        What::Decision(decision) => decided(decision, &line),
        What::Change(change) => match change.as_ref() {
            Change::Pod(pod, before) => {
                let who = Key::of(&pod.metadata).to_string();
                pods::changes(pod, before.as_deref()).into_iter().map(|what| line(&who, what)).collect()
            }
            Change::PodGone(pod) => vec![line(&Key::of(&pod.metadata).to_string(), "gone".to_owned())],
            Change::Event(event) => {
                recorded(event).map(|what| line(&event.pod.to_string(), what)).into_iter().collect()
            }
            _ => Vec::new(),
        },
    }
}

fn decided(decision: &Decision, line: &dyn Fn(&str, String) -> Line) -> Vec<Line> {
    let name = |pod: &PodRef| Key::new(pod.namespace.as_str(), pod.name.as_str()).to_string();
    match decision {
        Decision::Preempting { pod, node, victims, .. } => {
            let victims: Vec<String> = victims.iter().map(name).collect();
            vec![line(&name(pod), format!("elbowroom makes room on {node}: {} must go", victims.join(", ")))]
        }
        Decision::BindFailed { pod, node, message, .. } => {
            vec![line(&name(pod), format!("binding to {node} failed: {message}"))]
        }
        Decision::VictimOverdue { pod, victim, .. } => {
            vec![line(&name(pod), format!("still waits for {}, which should be gone by now", name(victim)))]
        }
        _ => Vec::new(),
    }
}

/// Events that no other line tells already.
fn recorded(event: &Recorded) -> Option<String> {
    let told = matches!(
        event.reason.as_str(),
        "ResizeDeferred"
            | "ResizeInfeasible"
            | "ResizeStarted"
            | "ResizeCompleted"
            | "Scheduled"
            | "FailedScheduling"
    );
    let kind = if event.warning { "warning" } else { "event" };
    (!told).then(|| format!("{kind} {}: {}", event.reason, event.note))
}
