//! The parts of a sharded sweep, put together.
//!
//! The result is byte for byte that of one run of the whole plan: runs are the same wherever they
//! are made, and everything else is computed from them.

use crate::results::run::link_run;
use crate::results::{Folder, Manifest, ResultsError, Shard};
use std::path::{Path, PathBuf};

/// Parts that fit together.
#[derive(Debug)]
pub struct Merge {
    parts: Vec<Part>,
    /// Manifest of the whole.
    manifest: Manifest,
}

/// One part: its folder, its contents, its share of the runs.
#[derive(Debug)]
struct Part {
    folder: PathBuf,
    manifest: Manifest,
    shard: Shard,
}

impl Merge {
    /// Reads the parts and checks them: all of one plan, each once, each complete. With
    /// `incomplete`, parts and runs may be missing.
    ///
    /// # Errors
    /// If a folder is no part of a sweep, or the parts do not fit together.
    pub fn of(folders: &[PathBuf], incomplete: bool) -> Result<Self, ResultsError> {
        let parts = folders.iter().map(|folder| Part::read(folder));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let Some(first) = parts.first() else {
            return Err(ResultsError::refused("name the folders of all parts"));
        };
        check(&parts, first, incomplete)?;
        let mut manifest = first.manifest.clone();
        manifest.shard = None;
        manifest.failed = parts.iter().flat_map(|part| part.manifest.failed.clone()).collect();
        manifest.failed.sort_by_key(|failed| failed.run);
        Ok(Self { parts, manifest })
    }

    /// The manifest of the whole; its list of completed runs is still the first part's.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where the first part is, for messages about the plan in its manifest.
    pub fn first_folder(&self) -> &Path {
        &self.parts[0].folder
    }

    /// Lets the runs of all parts count in `folder`, too. Returns the manifest of the whole, and
    /// which runs are there and which are missing.
    ///
    /// # Errors
    /// If a run cannot be copied.
    pub fn link_into(self, folder: &Folder) -> Result<Merged, ResultsError> {
        for part in &self.parts {
            part.link_runs(folder.path())?;
        }
        let (done, missing) = folder.split(0..self.manifest.runs);
        let manifest = Manifest { done: done.len(), ..self.manifest };
        Ok(Merged { manifest, done, missing })
    }
}

/// Contents of a folder after a merge.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Manifest of the whole.
    pub manifest: Manifest,
    /// Runs with a result.
    pub done: Vec<usize>,
    /// Runs without results.
    pub missing: Vec<usize>,
}

impl Part {
    fn read(folder: &Path) -> Result<Self, ResultsError> {
        let manifest = Manifest::expect(folder)?;
        let shard = match &manifest.shard {
            None => Shard::WHOLE,
            Some(text) => text.parse().map_err(|why| {
                ResultsError::refused(format!("{}: shard {text:?}: {why}", folder.display()))
            })?,
        };
        Ok(Self { folder: folder.to_owned(), manifest, shard })
    }

    /// Its share of all runs.
    fn share(&self) -> impl Iterator<Item = usize> {
        self.shard.runs(self.manifest.runs)
    }

    fn merge_error(&self, why: &str) -> ResultsError {
        ResultsError::refused(format!("{}: {why}", self.folder.display()))
    }

    fn link_runs(&self, to: &Path) -> Result<(), ResultsError> {
        for run in self.share() {
            link_run(&self.folder, to, run).map_err(|error| {
                ResultsError::failed(format!("cannot copy run {run} to {}: {error}", to.display()))
            })?;
        }
        Ok(())
    }
}

/// Refuses parts of several sweeps, parts named twice, and incomplete parts.
fn check(parts: &[Part], first: &Part, incomplete: bool) -> Result<(), ResultsError> {
    for (n, part) in parts.iter().enumerate() {
        if part.manifest.plan_sha256 != first.manifest.plan_sha256 {
            let why = format!("of another plan than {}", first.folder.display());
            return Err(part.merge_error(&why));
        }
        if part.manifest.headstart != first.manifest.headstart {
            let (theirs, ours) = (&part.manifest.headstart, &first.manifest.headstart);
            return Err(part.merge_error(&format!("by headstart {theirs}, others by {ours}")));
        }
        if part.shard.count != first.shard.count {
            let why = format!("part {}, others are parts of {}", part.shard, first.shard.count);
            return Err(part.merge_error(&why));
        }
        if let Some(other) = parts[..n].iter().find(|other| other.shard == part.shard) {
            let why = format!("part {} is {} already", part.shard, other.folder.display());
            return Err(part.merge_error(&why));
        }
        let (done, share) = (part.manifest.done, part.share().count());
        if !incomplete && done < share {
            let why = format!(
                "{done} of {share} runs are done, {} failed; run it again, or merge with \
                 --incomplete",
                part.manifest.failed.len()
            );
            return Err(part.merge_error(&why));
        }
    }
    let absent: Vec<String> = (1..=first.shard.count)
        .filter(|number| parts.iter().all(|part| part.shard.number != *number))
        .map(|number| format!("{number}/{}", first.shard.count))
        .collect();
    match absent.is_empty() || incomplete {
        true => Ok(()),
        false => {
            let absent = absent.join(", ");
            Err(ResultsError::refused(format!(
                "missing: part {absent}; or merge with --incomplete"
            )))
        }
    }
}
