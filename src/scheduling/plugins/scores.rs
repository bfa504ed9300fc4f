//! All scores of one Pod, summed by weight.
//!
//! Invariant: integers as kube-scheduler computes them, so that the same nodes tie
//! (`framework/runtime/framework.go`, `RunScorePlugins`).

use super::balanced_allocation::{self, Use};
use super::least_allocated;
use super::node_affinity::{self, NodeAffinity};
use super::node_resources_fit::cell;
use super::normalize::normalize;
use super::taint_toleration::{self, TaintToleration};
use crate::cluster::{Cluster, NodeId, PodRow, ResourceId};

/// The scores that apply to one Pod; a plugin that has nothing to say about it is left out.
#[derive(Debug)]
pub struct Scores<'a> {
    cluster: &'a Cluster,
    taints: TaintToleration<'a>,
    affinity: Option<NodeAffinity<'a>>,
    /// Milli-CPU and bytes that the Pod asks for, with a default where it asks for nothing.
    nonzero: (i64, i64),
    /// The same as it really asks; `None` for a Pod that asks for neither, which no balance is kept for.
    asked: Option<(i64, i64)>,
    cpu: Columns<'a>,
    memory: Columns<'a>,
}

#[derive(Debug)]
struct Columns<'a> {
    allocatable: &'a [i64],
    requested: &'a [i64],
    nonzero: &'a [i64],
}

impl<'a> Scores<'a> {
    /// Prepares the scores of a Pod.
    pub fn new(cluster: &'a Cluster, row: &'a PodRow) -> Self {
        let (placement, nodes) = (&*row.pod.placement, &cluster.nodes);
        let columns = |resource, nonzero| Columns {
            allocatable: nodes.allocatable().column(resource),
            requested: nodes.requested().column(resource),
            nonzero,
        };
        let asked = (row.charge.desired.get(ResourceId::CPU), row.charge.desired.get(ResourceId::MEMORY));
        Self {
            cluster,
            taints: TaintToleration::new(&placement.tolerations),
            affinity: NodeAffinity::score(placement),
            nonzero: row.charge.nonzero_new,
            asked: (asked != (0, 0)).then_some(asked),
            cpu: columns(ResourceId::CPU, nodes.nonzero_cpu()),
            memory: columns(ResourceId::MEMORY, nodes.nonzero_memory()),
        }
    }

    /// Writes the weighted sum of each node into `totals`; `raw` is room to work in.
    pub fn totals(&self, nodes: &[NodeId], raw: &mut Vec<i64>, totals: &mut Vec<i64>) {
        totals.clear();
        totals.extend(nodes.iter().map(|node| self.resources(node.index())));
        let mut add = |weight: i64, reverse: bool, score: &dyn Fn(NodeId) -> i64| {
            raw.clear();
            raw.extend(nodes.iter().map(|node| score(*node)));
            normalize(raw, reverse);
            totals.iter_mut().zip(&*raw).for_each(|(total, score)| *total += weight * score);
        };
        let node = |id| &self.cluster.nodes.row(id).node;
        add(taint_toleration::WEIGHT, true, &|id| self.taints.raw_score(node(id)));
        if let Some(affinity) = &self.affinity {
            add(node_affinity::WEIGHT, false, &|id| affinity.raw_score(node(id)));
        }
    }

    /// What does not need to be compared among nodes: free share and balance.
    fn resources(&self, slot: usize) -> i64 {
        let (cpu, memory) = (&self.cpu, &self.memory);
        let allocatable = (cell(cpu.allocatable, slot), cell(memory.allocatable, slot));
        let with_pod = |column, asked: i64| cell(column, slot).saturating_add(asked);
        let free = least_allocated::score([
            (with_pod(cpu.nonzero, self.nonzero.0), allocatable.0),
            (with_pod(memory.nonzero, self.nonzero.1), allocatable.1),
        ]);
        let balance = self.asked.map_or(0, |asked| {
            let uses = [(cpu, asked.0, allocatable.0), (memory, asked.1, allocatable.1)];
            balanced_allocation::score(uses.map(|(column, asked, allocatable)| Use {
                requested: cell(column.requested, slot),
                asked,
                allocatable,
            }))
        });
        least_allocated::WEIGHT * free + balanced_allocation::WEIGHT * balance
    }
}
