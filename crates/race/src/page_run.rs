//! A run of a page in a few numbers, beside the medians over all runs.

use super::{VisitKind, World};
use serde::Serialize;

/// A run of the page by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageRun {
    /// The run's id in the recording; `None` for a page that is no recording.
    pub id: Option<String>,
    /// The rows of the race.
    pub schemes: Vec<PageRunRow>,
}

/// A row of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageRunRow {
    /// The scheme, or a limit.
    pub name: String,
    /// The world; `None` for a limit.
    pub on: Option<World>,
    /// The kind of visit.
    pub visit: VisitKind,
    /// Seconds until the end of the load, median over repeats.
    pub page_s: Option<f64>,
    /// 1 − the time over `linux`'s, median over repeats.
    pub gain_over_linux: Option<f64>,
}
