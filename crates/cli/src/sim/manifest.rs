//! `manifest.json`: what a folder of results holds, and what made it. No times of day: the same
//! plan gives the same bytes.

use super::args::Shard;
use crate::failure::Failure;
use plan::Plan;
use report::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

const FILE: &str = "manifest.json";

/// A run that has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailedRun {
    pub(crate) run: usize,
    pub(crate) cell: usize,
    pub(crate) repeat: u32,
    /// The cell's coordinates, as `key=value`.
    pub(crate) coordinates: Vec<String>,
    pub(crate) why: String,
}

/// What a folder holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// Version of headstart.
    pub(crate) headstart: String,
    /// Identifies the plan and the files it names.
    pub(crate) plan_sha256: String,
    pub(crate) title: String,
    pub(crate) seed: u64,
    pub(crate) cells: usize,
    pub(crate) repeats: u32,
    /// Runs of the whole plan.
    pub(crate) runs: usize,
    /// Which part of them this is, as `i/n`; `null` for all.
    pub(crate) shard: Option<String>,
    /// Runs of this part that have a result.
    pub(crate) done: usize,
    /// Runs of this part that have been tried in vain.
    pub(crate) failed: Vec<FailedRun>,
    /// The plan itself.
    pub(crate) plan: String,
}

impl Manifest {
    /// Of a part of a plan of which nothing has been run.
    pub(crate) fn new(plan: &Plan<'_>, shard: Shard) -> Self {
        Self {
            headstart: env!("CARGO_PKG_VERSION").to_owned(),
            plan_sha256: plan.hash(),
            title: plan.title().to_owned(),
            seed: plan.seed(),
            cells: plan.cell_count(),
            repeats: plan.repeats(),
            runs: plan.run_count(),
            shard: (shard != Shard::WHOLE).then(|| shard.to_string()),
            done: 0,
            failed: Vec::new(),
            plan: plan.text().to_owned(),
        }
    }

    /// The manifest in `folder`; `None` if there is none.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = folder.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::input(format!("{}: {error}", path.display()))),
        };
        let manifest = serde_json::from_slice(&text).map_err(|error| {
            Failure::input(format!("{}: not a manifest of headstart: {error}", path.display()))
        })?;
        Ok(Some(manifest))
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).map_err(Failure::failed)? + "\n";
        write_atomically(&folder.join(FILE), text.as_bytes()).map_err(Failure::failed)
    }

    /// Whether results of `other` may stand beside those of this one.
    pub(crate) fn is_same_part(&self, other: &Self) -> bool {
        self.is_same_plan(other) && self.shard == other.shard
    }

    /// Whether both are of the same plan, run by the same version.
    pub(crate) fn is_same_plan(&self, other: &Self) -> bool {
        self.headstart == other.headstart && self.plan_sha256 == other.plan_sha256
    }
}
