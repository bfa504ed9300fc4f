//! All filters of one Pod, prepared once and then asked node by node.
//!
//! Invariant: asking a node allocates nothing; texts are made only for the fit error.

use super::existing_anti_affinity::{self, ExistingAntiAffinity};
use super::node_affinity::{self, Named, NodeAffinity};
use super::node_ports::{self, NodePorts};
use super::node_resources_fit::{self, NodeResourcesFit};
use super::node_unschedulable::{self, NodeUnschedulable};
use super::taint_toleration::{self, TaintToleration};
use super::{Plugin, PluginSet, node_name, unsupported};
use crate::cluster::{Amounts, Cluster, NodeId, PodRow, ResourceId, ResourceNames};
use crate::model::Str;
use smallvec::SmallVec;

/// The filters that apply to one Pod; a plugin that the Pod does not use is left out.
#[derive(Debug)]
pub struct Filters<'a> {
    cluster: &'a Cluster,
    cordon: NodeUnschedulable,
    taints: TaintToleration<'a>,
    affinity: Option<NodeAffinity<'a>>,
    ports: Option<NodePorts<'a>>,
    fit: NodeResourcesFit<'a>,
    guards: Option<ExistingAntiAffinity<'a>>,
    /// The only nodes worth asking, and who says so; `None` for all.
    only: Option<(Vec<NodeId>, PluginSet)>,
}

/// Why a Pod is rejected before any node is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreFilterRejection {
    /// Who rejects.
    pub rejectors: PluginSet,
    /// In words.
    pub message: String,
}

impl<'a> Filters<'a> {
    /// Does once per Pod what does not depend on the node.
    pub fn new(cluster: &'a Cluster, row: &'a PodRow) -> Result<Self, PreFilterRejection> {
        let (pod, placement) = (&row.pod, &*row.pod.placement);
        let rejected = |plugin, message| {
            Err(PreFilterRejection { rejectors: PluginSet::default().with(plugin), message })
        };
        let mut names = node_name::only_node(pod).map(|name| vec![name]);
        let mut by = PluginSet::from_iter(names.is_some().then_some(Plugin::NodeName));
        match node_affinity::named(placement.required.as_ref()) {
            Named::Any => {}
            Named::Conflict => return rejected(Plugin::NodeAffinity, node_affinity::CONFLICT.to_owned()),
            Named::Only(affine) => {
                by = by.with(Plugin::NodeAffinity);
                names = Some(match names {
                    Some(names) => names.into_iter().filter(|name| affine.contains(name)).collect(),
                    None => affine,
                });
            }
        }
        if names.as_ref().is_some_and(Vec::is_empty) {
            let message = format!("node(s) didn't satisfy plugin(s) {} simultaneously", list(by));
            return Err(PreFilterRejection { rejectors: by, message });
        }
        if let Some(message) = unsupported::message(&placement.unsupported) {
            return rejected(Plugin::Unsupported, message);
        }
        Ok(Self {
            cluster,
            cordon: NodeUnschedulable::new(&placement.tolerations),
            taints: TaintToleration::new(&placement.tolerations),
            affinity: NodeAffinity::filter(placement),
            ports: NodePorts::new(pod, &cluster.pods),
            fit: NodeResourcesFit::new(&row.charge.desired, &cluster.nodes),
            guards: ExistingAntiAffinity::new(pod, cluster),
            only: names.map(|names| (existing(cluster, &names), by)),
        })
    }

    /// The nodes to ask.
    pub fn nodes(&self) -> &[NodeId] {
        self.only.as_ref().map_or(self.cluster.nodes.listed(), |(nodes, _)| nodes)
    }

    /// Who left the other nodes out; empty when all are asked.
    pub fn narrowed_by(&self) -> PluginSet {
        self.only.as_ref().map(|(_, by)| *by).unwrap_or_default()
    }

    /// The first plugin that rejects the node.
    pub fn rejector(&self, node: NodeId) -> Option<Plugin> {
        self.ask(node, |fit| fit.admits(node.index()))
    }

    /// Whether the node would take the Pod if `credit` were given back there first.
    pub fn admits_with(&self, node: NodeId, credit: &Amounts) -> bool {
        self.ask(node, |fit| fit.admits_with(node.index(), credit)).is_none()
    }

    /// Counts a rejection.
    pub fn count(&self, plugin: Plugin, node: NodeId, tally: &mut Tally) {
        tally.rejectors = tally.rejectors.with(plugin);
        if plugin != Plugin::NodeResourcesFit {
            if let Some(count) = tally.nodes.get_mut(plugin as usize) {
                *count += 1;
            }
            return;
        }
        for lack in self.fit.lacks(node.index()) {
            match tally.short.iter_mut().find(|(known, _)| *known == lack.resource) {
                Some((_, count)) => *count += 1,
                None => tally.short.push((lack.resource, 1)),
            }
        }
    }

    fn ask(&self, id: NodeId, fits: impl Fn(&NodeResourcesFit<'a>) -> bool) -> Option<Plugin> {
        let row = self.cluster.nodes.row(id);
        let node = &row.node;
        if !self.cordon.admits(node) {
            Some(Plugin::NodeUnschedulable)
        } else if !self.taints.admits(node) {
            Some(Plugin::TaintToleration)
        } else if !self.affinity.as_ref().is_none_or(|affinity| affinity.admits(node)) {
            Some(Plugin::NodeAffinity)
        } else if !self.ports.as_ref().is_none_or(|ports| ports.admits(row)) {
            Some(Plugin::NodePorts)
        } else if !fits(&self.fit) {
            Some(Plugin::NodeResourcesFit)
        } else if !self.guards.as_ref().is_none_or(|guards| guards.admits(node)) {
            Some(Plugin::InterPodAffinity)
        } else {
            None
        }
    }
}

/// Those of the names that are nodes.
fn existing(cluster: &Cluster, names: &[&Str]) -> Vec<NodeId> {
    let ids = names.iter().filter_map(|name| cluster.nodes.id(name));
    ids.filter(|id| cluster.nodes.row(*id).exists).collect()
}

/// The plugins as Go prints a list of strings.
fn list(plugins: PluginSet) -> String {
    let mut names: Vec<&str> = plugins.iter().map(Plugin::name).collect();
    names.sort_unstable();
    format!("[{}]", names.join(" "))
}

/// How many nodes were rejected, and for what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Who rejected at least one node.
    pub rejectors: PluginSet,
    nodes: [u32; Plugin::COUNT],
    short: SmallVec<[(ResourceId, u32); 4]>,
}

impl Tally {
    /// Counts in words; `left_out` nodes were not asked because `narrowed_by` said so.
    pub fn reasons(
        &self,
        names: &ResourceNames,
        left_out: usize,
        narrowed_by: PluginSet,
    ) -> Vec<(u32, String)> {
        let by_plugin = Plugin::ALL.into_iter().zip(self.nodes).filter(|(_, count)| *count > 0);
        let mut reasons: Vec<(u32, String)> =
            by_plugin.map(|(plugin, count)| (count, reason(plugin).to_owned())).collect();
        reasons.extend(self.short.iter().map(|(resource, count)| match *resource {
            ResourceId::PODS => (*count, node_resources_fit::TOO_MANY_PODS.to_owned()),
            other => (*count, format!("Insufficient {}", names.name(other))),
        }));
        if left_out > 0 && !narrowed_by.is_empty() {
            let count = u32::try_from(left_out).unwrap_or(u32::MAX);
            reasons.push((count, format!("node(s) didn't satisfy plugin(s) {}", list(narrowed_by))));
        }
        reasons
    }
}

/// What is counted for a node that the plugin rejects.
fn reason(plugin: Plugin) -> &'static str {
    match plugin {
        Plugin::NodeUnschedulable => node_unschedulable::REASON,
        Plugin::TaintToleration => taint_toleration::REASON,
        Plugin::NodeAffinity => node_affinity::REASON,
        Plugin::NodePorts => node_ports::REASON,
        Plugin::InterPodAffinity => existing_anti_affinity::REASON,
        // These give no reason for a single node: they reject before, or count by resource.
        Plugin::NodeName | Plugin::NodeResourcesFit | Plugin::Unsupported => "",
    }
}
