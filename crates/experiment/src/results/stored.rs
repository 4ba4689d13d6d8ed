//! Results that are on disk already, to be shown without running anything.

use crate::plan::Plan;
use crate::results::{Manifest, ResultsError, Summary, run};
use std::path::{Path, PathBuf};

/// A folder of results, read only.
#[derive(Clone, Debug)]
pub struct StoredResults {
    /// Path of the results.
    pub path: PathBuf,
    /// Manifest of the results.
    pub manifest: Manifest,
}

impl StoredResults {
    /// Opens a folder of results. Another process may go on writing to it: runs appear whole or not
    /// at all.
    ///
    /// # Errors
    /// If the folder holds no results, or another version of headstart has made them.
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        let manifest = Manifest::expect(path)?;
        if manifest.headstart != env!("CARGO_PKG_VERSION") {
            return Err(ResultsError::refused(format!(
                "{}: results of headstart {}; show them with that version, or run their plan again",
                path.display(),
                manifest.headstart
            )));
        }
        Ok(Self { path: path.to_owned(), manifest })
    }

    /// The summary of all runs that are done, and their number. `plan` is the one in the manifest.
    ///
    /// # Errors
    /// If a run's result cannot be read.
    pub fn summary(&self, plan: &Plan<'_>) -> Result<(Summary, usize), ResultsError> {
        let runs = 0..self.manifest.runs;
        let done: Vec<usize> = runs.filter(|run| run::is_done(&self.path, *run)).collect();
        Ok((Summary::read(&self.path, plan, &done)?, done.len()))
    }
}
