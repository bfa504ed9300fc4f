//! `explain` and `plan`: why a Pod is not growing or has no node, and what a resize would cost, for people.
//!
//! Invariant: the same engine decides here as in production, on a copy; nothing is ever written.

mod advice;
mod case;
mod names;
mod neighbours;
mod objects;
mod placement;
mod plan;
mod resize;
mod rules;
pub mod shape;
mod tables;
mod text;

pub use objects::{Objects, Unusable};
pub use plan::{Plan, Senseless};
pub use text::{WIDTH, text};

use crate::config::Config;
use crate::model::Timestamp;
use crate::wire::{self, Converter, Unreadable};
use case::Case;
use kube::Resource;
use rules::Rules;
use shape::Explanation;
use tables::Facts;

/// The group and version of what `-o json` and `-o yaml` print.
pub const API_VERSION: &str = "elbowroom.dev/v1alpha1";

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The Pod's namespace; `None` asks for the only Pod of that name.
    pub namespace: Option<String>,
    /// The Pod's name.
    pub name: String,
    /// A resize that is only considered; without it the Pod is explained as it is.
    pub plan: Option<Plan>,
}

/// Why there is no answer. Each renders as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// There is no such Pod.
    #[error("no Pod {0} was found")]
    NotFound(String),
    /// Several namespaces have one.
    #[error("several Pods are named {name}: say which with -n, one of {namespaces}")]
    Ambiguous {
        /// The name.
        name: String,
        /// Those that have one.
        namespaces: String,
    },
    /// The Pod itself cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The plan does not fit the Pod.
    #[error(transparent)]
    Senseless(#[from] Senseless),
    /// The engine does not look at it, for a cause that is not known here.
    #[error("nothing is decided about Pod {0}: please report it with a dump")]
    Undecided(String),
    /// A resize of a Pod without a node is a matter of its placement.
    #[error("Pod {0} is on no node: nobody would be evicted for its resize; ask `explain` why it has none")]
    Nowhere(String),
}

/// Answers the question from these objects, under this configuration, as of `now`.
///
/// # Errors
/// The Pod is not among them, cannot be read, or cannot be resized as asked.
pub fn inspect(
    mut objects: Objects,
    question: &Question,
    config: &Config,
    now: Timestamp,
) -> Result<Explanation, NoAnswer> {
    objects.pods.iter_mut().for_each(complete);
    let at = find(&objects.pods, question)?;
    let mut notes = std::mem::take(&mut objects.notes);
    let mut converter = Converter::new(config.annotations());
    let Some(wire) = objects.pods.get(at).cloned() else {
        return Err(NoAnswer::NotFound(question.name.clone()));
    };
    let before = converter.pod(wire.clone())?;
    let path = names::path(&before.id);
    let planned = match &question.plan {
        Some(_) if before.node.is_none() => return Err(NoAnswer::Nowhere(path)),
        Some(plan) => Some(plan.applied(&path, &wire, now)?),
        None => None,
    };
    let pod = match &planned {
        Some(planned) => converter.pod(planned.pod.clone())?,
        None => before.clone(),
    };
    objects.pods.remove(at);
    let mut case = Case {
        rules: Rules::of(config, &pod),
        facts: Facts::of(objects, &mut converter, &mut notes),
        config,
        pod,
        now,
    };
    case.narrow();
    case.answer(planned.map(|planned| (planned, before)), &mut converter, notes)
}

/// Gives a Pod of a hand-written dump what the API gives every Pod.
fn complete(pod: &mut wire::Pod) {
    let metadata = pod.meta_mut();
    let namespace = metadata.namespace.get_or_insert_with(|| "default".to_owned()).clone();
    let name = metadata.name.clone().unwrap_or_default();
    metadata.uid.get_or_insert_with(|| format!("{namespace}/{name}"));
}

fn find(pods: &[wire::Pod], question: &Question) -> Result<usize, NoAnswer> {
    let named = |pod: &wire::Pod| {
        let metadata = pod.meta();
        metadata.name.as_ref() == Some(&question.name)
            && (question.namespace.is_none() || metadata.namespace == question.namespace)
    };
    let found: Vec<usize> = pods.iter().enumerate().filter(|(_, pod)| named(pod)).map(|(at, _)| at).collect();
    let mut namespaces: Vec<&str> =
        found.iter().filter_map(|at| pods.get(*at)?.meta().namespace.as_deref()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    match (found.last(), namespaces.as_slice()) {
        (Some(last), [_]) => Ok(*last),
        (Some(_), several) => {
            Err(NoAnswer::Ambiguous { name: question.name.clone(), namespaces: several.join(", ") })
        }
        (None, _) => Err(NoAnswer::NotFound(match &question.namespace {
            Some(namespace) => format!("{namespace}/{}", question.name),
            None => question.name.clone(),
        })),
    }
}
