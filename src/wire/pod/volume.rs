//! Volumes, as far as they keep a Pod from a node.
//!
//! Invariant: a volume that limits where a Pod may run is never read as one that does not.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// One volume; only whether a source is there is read, not what it holds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(in crate::wire) struct Volume {
    pub(in crate::wire) name: String,
    persistent_volume_claim: Option<IgnoredAny>,
    ephemeral: Option<IgnoredAny>,
    csi: Option<IgnoredAny>,
    azure_disk: Option<IgnoredAny>,
    cinder: Option<IgnoredAny>,
    vsphere_volume: Option<IgnoredAny>,
    portworx_volume: Option<IgnoredAny>,
    gce_persistent_disk: Option<IgnoredAny>,
    aws_elastic_block_store: Option<IgnoredAny>,
    iscsi: Option<IgnoredAny>,
    rbd: Option<IgnoredAny>,
}

impl Volume {
    /// Whether a claim stands behind it, named or made for the Pod.
    pub(in crate::wire) fn claims(&self) -> bool {
        self.persistent_volume_claim.is_some() || self.ephemeral.is_some()
    }

    /// Whether a CSI driver serves it without a claim. The in-tree kinds among them are served by their CSI
    /// drivers since their migration, and count towards the same limits.
    pub(in crate::wire) fn inline_csi(&self) -> bool {
        [&self.csi, &self.azure_disk, &self.cinder, &self.vsphere_volume, &self.portworx_volume]
            .iter()
            .any(|source| source.is_some())
    }

    /// Whether it is a disk that two nodes may not share (kube-scheduler `VolumeRestrictions`).
    pub(in crate::wire) fn exclusive(&self) -> bool {
        [&self.gce_persistent_disk, &self.aws_elastic_block_store, &self.iscsi, &self.rbd]
            .iter()
            .any(|source| source.is_some())
    }
}
