//! `manifest.json`: the contents of a folder of results, and their origin.
//!
//! It names no time of day, so the same plan gives the same bytes. It carries the plan's text:
//! parts can be merged, and results shown, without the plan file.

use crate::plan::Plan;
use crate::results::{ResultsError, Shard};
use report::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Name of the manifest's file.
pub(crate) const FILE: &str = "manifest.json";

/// A run that ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRun {
    /// Number of the run, from 0.
    pub run: usize,
    /// Number of its cell, from 0.
    pub cell: usize,
    /// Number of its repeat, from 0.
    pub repeat: u32,
    /// The cell's coordinates, as `key=value`.
    pub coordinates: Vec<String>,
    /// The error.
    pub why: String,
}

/// Contents of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of headstart.
    pub headstart: String,
    /// Identifies the plan and the files it names.
    pub plan_sha256: String,
    /// Title of the plan.
    pub title: String,
    /// Seed of the plan.
    pub seed: u64,
    /// Cells of the plan.
    pub cells: usize,
    /// Runs of each cell.
    pub repeats: u32,
    /// Runs of the whole plan.
    pub runs: usize,
    /// The part of them in this folder, as `i/n`; `null` for all.
    pub shard: Option<String>,
    /// Runs of this part that have a result.
    pub done: usize,
    /// Runs of this part that have been tried in vain.
    pub failed: Vec<FailedRun>,
    /// The plan itself.
    pub plan: String,
}

impl Manifest {
    /// The manifest of a part of a plan before its first run.
    pub fn new(plan: &Plan<'_>, shard: Shard) -> Self {
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
    ///
    /// # Errors
    /// If the file cannot be read, or is no manifest.
    pub fn read(folder: &Path) -> Result<Option<Self>, ResultsError> {
        let path = folder.join(FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(ResultsError::refused(format!("{}: {error}", path.display())));
            }
        };
        let manifest = serde_json::from_slice(&text).map_err(|error| {
            ResultsError::refused(format!(
                "{}: not a manifest of headstart: {error}",
                path.display()
            ))
        })?;
        Ok(Some(manifest))
    }

    /// The manifest in `folder`, which has to be there.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub(crate) fn expect(folder: &Path) -> Result<Self, ResultsError> {
        Self::read(folder)?.ok_or_else(|| {
            let shown = folder.display();
            ResultsError::refused(match folder.is_dir() {
                true => format!(
                    "{shown}: holds no results, since it has no manifest.json; name a folder of `headstart lab sim`"
                ),
                false => format!("{shown}: no such folder"),
            })
        })
    }

    /// Writes the manifest into `folder`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ResultsError> {
        let text = serde_json::to_string_pretty(self).map_err(ResultsError::failed)? + "\n";
        write_atomically(&folder.join(FILE), text.as_bytes()).map_err(ResultsError::failed)
    }

    /// Whether results of both may share a folder: the same part of the same plan.
    pub fn is_same_part(&self, other: &Self) -> bool {
        self.is_same_plan(other) && self.shard == other.shard
    }

    /// Whether both describe the same plan, run by the same version.
    pub fn is_same_plan(&self, other: &Self) -> bool {
        self.headstart == other.headstart && self.plan_sha256 == other.plan_sha256
    }
}
