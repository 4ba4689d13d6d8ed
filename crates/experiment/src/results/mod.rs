//! Results of plans on disk: a folder of runs, and the tables computed from them.
//!
//! Every run has a folder of its own under `runs/`, which appears when the run is done. The tables
//! are computed from these folders, in the order of runs. So the tables depend neither on the
//! number of jobs, nor on interruptions, nor on how the runs were spread over machines.
//!
//! [`Folder`] is the way in: it checks the [`Manifest`] and locks the folder. [`make_runs`] makes
//! the runs that are missing, [`write_tables`] writes the tables and gives the [`Summary`].
//! [`Merge`] puts the parts of a sharded sweep together. [`StoredResults`] shows finished results
//! again, and [`Plots`] draws any [`Measure`] over any axis. Nothing here prints; the caller shows
//! progress and results.

mod error;
mod folder;
mod key;
mod manifest;
mod measure;
mod merge;
mod parquet;
mod plots;
mod run;
mod runner;
mod shard;
mod stored;
mod summary;
mod tables;

pub use error::ResultsError;
pub use folder::Folder;
pub use key::short_key;
pub use manifest::{FailedRun, Manifest};
pub use measure::{MEASURES, Measure};
pub use merge::{Merge, Merged};
pub use plots::{PlotRequest, Plots, schemes};
pub use runner::{RunsOutcome, Workers, make_runs};
pub use shard::Shard;
pub use stored::StoredResults;
pub use summary::{Summary, SummaryEntry};
pub use tables::{SweepTable, TableFormat, to_parquet, write_tables};
