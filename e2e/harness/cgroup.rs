//! What the kernel holds a container to: read from its cgroup, version 1 or 2, on the machine of the test.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Pod;

use super::pods::container_id;

const MOUNT: &str = "/sys/fs/cgroup";

/// The microseconds of CPU time that the Pod's container may use in each period of 100 ms.
///
/// # Errors
/// When the container has no cgroup here or no limit.
pub fn cpu_quota(pod: &Pod) -> Result<u64> {
    number(pod, "cpu", "cpu.cfs_quota_us", "cpu.max")
}

/// The bytes of memory that the Pod's container uses.
///
/// # Errors
/// When the container has no cgroup here.
pub fn memory_in_use(pod: &Pod) -> Result<u64> {
    number(pod, "memory", "memory.usage_in_bytes", "memory.current")
}

/// The first number in the file of that name.
fn number(pod: &Pod, controller: &str, version_1: &str, version_2: &str) -> Result<u64> {
    let id = container_id(pod).context("the container has not started")?;
    let second = Path::new(MOUNT).join("cgroup.controllers").exists();
    let (top, file) = if second {
        (PathBuf::from(MOUNT), version_2)
    } else {
        (Path::new(MOUNT).join(controller), version_1)
    };
    let directory =
        find(&top, id).with_context(|| format!("no cgroup of container {id} in {}", top.display()))?;
    let path = directory.join(file);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let first = text.split_whitespace().next().unwrap_or_default();
    first.parse().with_context(|| format!("{}: {text}", path.display()))
}

/// The directory of that name, at whatever depth.
fn find(top: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(top).ok()?.flatten();
    let mut below = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    below.find_map(|path| if path.ends_with(name) { Some(path) } else { find(&path, name) })
}
