//! Where a Pod may run.
//!
//! Invariant: every demand on the node becomes either a checked part of the placement or an `Unsupported`
//! one.

use super::Converter;
use crate::model::Placement;
use crate::model::placement::{Ignored, PodTerm, Unsupported};
use crate::model::pod::HostPort;
use crate::model::taint::{TaintEffect, Toleration};
use crate::wire::pod::{self as wire, PodSpec};
use std::sync::Arc;

impl Converter {
    pub(super) fn placement(&mut self, spec: &PodSpec) -> Arc<Placement> {
        let affinity = &spec.affinity;
        let preferred = affinity.node_affinity.preferred.iter().filter(|one| one.weight != 0);
        let placement = Placement {
            node_selector: self.labels(Some(&spec.node_selector)),
            required: affinity.node_affinity.required.as_ref().map(|terms| self.node_selector(terms)),
            preferred: preferred.map(|one| (one.weight, self.node_term(&one.preference))).collect(),
            tolerations: spec.tolerations.iter().filter_map(|one| self.toleration(one)).collect(),
            anti_affinity: affinity.pod_anti_affinity.required.iter().map(|one| self.pod_term(one)).collect(),
            unsupported: self.unsupported(spec),
            ignored: ignored(spec),
        };
        self.shared(placement)
    }

    fn unsupported(&mut self, spec: &PodSpec) -> Vec<Unsupported> {
        let mut unsupported = Vec::new();
        for volume in &spec.volumes {
            if volume.claims() {
                unsupported.push(Unsupported::Claim(self.intern(&volume.name)));
            } else if volume.inline_csi() {
                unsupported.push(Unsupported::InlineCsi(self.intern(&volume.name)));
            } else if volume.exclusive() {
                unsupported.push(Unsupported::ExclusiveDisk(self.intern(&volume.name)));
            }
        }
        for constraint in &spec.topology_spread_constraints {
            if constraint.when_unsatisfiable != "ScheduleAnyway" {
                unsupported.push(Unsupported::HardSpread(self.intern(&constraint.topology_key)));
            }
        }
        for term in &spec.affinity.pod_affinity.required {
            unsupported.push(Unsupported::PodAffinity(self.intern(&term.topology_key)));
        }
        for term in &spec.affinity.pod_anti_affinity.required {
            unsupported.push(Unsupported::PodAntiAffinity(self.intern(&term.topology_key)));
        }
        for claim in &spec.resource_claims {
            unsupported.push(Unsupported::ResourceClaim(self.intern(&claim.name)));
        }
        if spec.scheduling_group.is_some() {
            unsupported.push(Unsupported::Gang);
        }
        unsupported
    }

    fn pod_term(&mut self, wire: &wire::PodTerm) -> PodTerm {
        PodTerm {
            selector: wire.label_selector.as_ref().map(|selector| self.selector(selector)),
            namespaces: wire.namespaces.iter().map(|namespace| self.intern(namespace)).collect(),
            namespace_selector: wire.namespace_selector.as_ref().map(|selector| self.selector(selector)),
            topology_key: self.intern(&wire.topology_key),
        }
    }

    /// `None` for a toleration that tolerates nothing: an operator or effect that is not known here.
    fn toleration(&mut self, wire: &wire::Toleration) -> Option<Toleration> {
        let any_value = match wire.operator.as_str() {
            "Exists" => true,
            "" | "Equal" => false,
            _ => return None,
        };
        let effect = match wire.effect.as_str() {
            "" => None,
            effect => Some(taint_effect(effect)?),
        };
        let value = if any_value { "" } else { wire.value.as_str() };
        Some(Toleration { key: self.intern(&wire.key), any_value, value: self.intern(value), effect })
    }

    /// Host ports of containers and sidecars; an ordinary init container has done with its ports before they
    /// matter (kube-scheduler `util.GetHostPorts`).
    pub(super) fn ports(&mut self, spec: &PodSpec) -> Arc<[HostPort]> {
        let sidecars = spec.init_containers.iter().filter(|one| one.restarts_always());
        let mut ports = Vec::new();
        for port in spec.containers.iter().chain(sidecars).flat_map(|one| &one.ports) {
            let Some(number) = port.host_port.filter(|number| *number > 0) else { continue };
            ports.push(HostPort {
                ip: self.intern(port.host_ip.as_deref().unwrap_or_default()),
                protocol: self.intern(port.protocol.as_deref().filter(|p| !p.is_empty()).unwrap_or("TCP")),
                port: number,
            });
        }
        if ports.is_empty() { Arc::clone(&self.no_ports) } else { ports.into() }
    }
}

/// The effect of that name; one that is not known repels and tolerates nothing.
pub(super) fn taint_effect(name: &str) -> Option<TaintEffect> {
    match name {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}

fn ignored(spec: &PodSpec) -> Vec<Ignored> {
    let soft = spec.topology_spread_constraints.iter().any(|one| one.when_unsatisfiable == "ScheduleAnyway");
    let affinity = &spec.affinity;
    let preferred =
        !affinity.pod_affinity.preferred.is_empty() || !affinity.pod_anti_affinity.preferred.is_empty();
    let terms = [(soft, Ignored::SoftSpread), (preferred, Ignored::PreferredPodAffinity)];
    terms.into_iter().filter_map(|(there, what)| there.then_some(what)).collect()
}
