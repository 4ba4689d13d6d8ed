//! The amount of a race that fits on the page.
//!
//! The page has a hard limit of size and the input none. Rendering starts with the detail that
//! suits the number of figures and reduces it until the page fits. Without any detail the rest (a
//! title, a bounded table, a note) is far below the limit, so the search always ends.

use crate::RaceReport;

/// Upper bounds on what is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Detail {
    /// Schemes with a panel of their own.
    pub(crate) schemes: usize,
    /// Rows of the table.
    pub(crate) table_rows: usize,
    /// Objects in a waterfall.
    pub(crate) objects: usize,
    /// Connections of a scheme that get figures.
    pub(crate) connections: usize,
    /// Queues of a scheme that get a figure.
    pub(crate) queues: usize,
    /// Points of one series.
    pub(crate) points: usize,
    /// Events of one kind in one figure.
    pub(crate) events: usize,
    /// Characters of a label.
    pub(crate) label: usize,
    /// Lines under the title.
    pub(crate) lines: usize,
}

/// Points over all series of a page, to begin with: about 10 bytes each.
const TOTAL_POINTS: usize = 240_000;
/// Events over all figures of a page, to begin with: about 200 bytes each.
const TOTAL_EVENTS: usize = 8_000;
/// Rows over all waterfalls of a page, to begin with: about 700 bytes each.
const TOTAL_ROWS: usize = 4_000;
/// If a scheme has more connections with figures, these are left out before rows are.
const KEPT_CONNECTIONS: usize = 8;
/// Series of a connection's two figures that may be long.
const SERIES_PER_CONNECTION: usize = 4;

impl Detail {
    /// The first detail to try.
    pub(crate) fn for_report(report: &RaceReport) -> Self {
        let connections = report.schemes.iter().map(|s| s.connections.len());
        let most = connections.clone().max().unwrap_or(0);
        let connections: usize = connections.sum();
        let queues: usize = report.schemes.iter().map(|s| s.queues.len()).sum();
        let series = (SERIES_PER_CONNECTION * connections + queues).max(1);
        Self {
            schemes: 64,
            table_rows: 512,
            objects: (TOTAL_ROWS / report.schemes.len().max(1)).clamp(100, 1000),
            connections: most.min(256),
            queues: 16,
            points: (TOTAL_POINTS / series).clamp(120, 3000),
            events: (TOTAL_EVENTS / (connections + queues).max(1)).clamp(40, 500),
            label: 120,
            lines: 64,
        }
    }

    /// Half of most of it; labels stay legible and the table keeps a core. Rows of waterfalls are
    /// left out last, an eighth at a time. The waterfall still names a connection that has no
    /// figure, but an object without a row is nowhere else.
    pub(crate) fn halved_limits(self) -> Self {
        Self {
            schemes: self.schemes / 2,
            table_rows: (self.table_rows / 2).max(16),
            objects: match self.connections > KEPT_CONNECTIONS {
                true => self.objects,
                false => self.objects * 7 / 8,
            },
            connections: self.connections / 2,
            queues: self.queues / 2,
            points: self.points / 2,
            events: self.events / 2,
            label: (self.label * 3 / 4).max(24),
            lines: (self.lines / 2).max(8),
        }
    }
}
