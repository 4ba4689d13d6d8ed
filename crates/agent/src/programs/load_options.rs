//! Options for loading the programs, as data: mode and settings. [`crate::config`] makes them;
//! [`crate::programs::mode`] and `programs::loader` act on them.

use crate::contract::{ConnectionSettings, Override, PortKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Options for loading the programs.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadOptions {
    /// Mode that is asked for.
    pub wanted: Wanted,
    /// Connections are measured alone, and keep all that is theirs; `wanted` means nothing then.
    pub is_dry_run: bool,
    /// Settings for all connections.
    pub settings: ConnectionSettings,
    /// Rules for some prefixes.
    pub overrides: Vec<Override>,
    /// Rules for some ports.
    pub ports: BTreeMap<PortKey, u32>,
    /// Paths remembered at most.
    pub max_paths: u32,
    /// Connections report their path by a TCP option when they close.
    pub writes_option: bool,
}

/// The agent's response if another process detaches its programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum DetachResponse {
    /// Attaches them again, at most six times in ten minutes, and reports it
    #[default]
    Attach,
    /// Reports it in status, metrics and log, and leaves them detached
    Report,
}

/// Mode that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// wrap; if the kernel does not support it, window
    #[default]
    Auto,
    /// A congestion control of the agent that uses the kernel's own; or the agent does not start
    Wrap,
    /// The first window alone; connections keep their congestion control
    Window,
}

/// Mode in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Our congestion controls, each of which wraps one of the kernel's.
    Wrap,
    /// First windows alone.
    Window,
    /// A dry run: connections are measured, and nothing of them is set.
    Measure,
}

impl Display for Mode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wrap => "wrap",
            Self::Window => "window",
            Self::Measure => "measure",
        })
    }
}

/// Returns the mount point of the cgroups of version 2; `None` if they are not mounted.
pub fn cgroup_root() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let mut fields = mounts.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mount = fields.find(|fields| fields.get(2) == Some(&"cgroup2"))?;
    mount.get(1).map(PathBuf::from)
}
