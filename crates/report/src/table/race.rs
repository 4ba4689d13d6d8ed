//! The table of a race: a line for each scheme, world and kind of visit, the columns that readers
//! compare.

use super::{Cell, Column, Row, Table};
use crate::quantity::{Median, Quantity};

/// A scheme's line in a race; `None` where a value is undefined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RaceRow {
    /// Name of the scheme.
    pub scheme: String,
    /// Kind of visit; the column exists if any line has it.
    pub visit: Option<String>,
    /// World in which it ran; the column exists if any line has it.
    pub world: Option<String>,
    /// The limit's own line.
    pub is_limit: bool,
    /// Seconds until the load ended.
    pub page_s: Option<Median>,
    /// Least and greatest of its repeats; the column is there if any line has them.
    pub page_extremes_s: Option<(f64, f64)>,
    /// `page_s` over the limit's; below 1 only for what needs fewer handshakes.
    pub ratio_to_limit: Option<Median>,
    /// 1 − `page_s` over the baseline's, paired by repeat; negative if slower. The baseline is
    /// linux, or the first variant of a comparison.
    pub gain: Option<Median>,
    /// `gain` in parts of that of perfect start; the column is there if any line has it.
    pub share_of_perfect: Option<f64>,
    /// The bound that took most of its loads' time, and its share of the time; the column exists if
    /// any line has it.
    pub bound_by: Option<(String, f64)>,
    /// Retransmitted segments, over all connections of the page.
    pub retransmissions: Option<Median>,
    /// Expiries of retransmission timers.
    pub timeouts: Option<Median>,
    /// The page's own packets dropped by queues or lost by links.
    pub drops: Option<Median>,
    /// Share of the background's bytes lost compared with a linux load; the column is there if any
    /// line has it.
    pub harm: Option<Median>,
    /// The page's milestones: [`Table::milestones`].
    pub milestones: Vec<MilestoneCells>,
}

/// A milestone of a scheme's loads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MilestoneCells {
    /// The milestone, such as "load".
    pub name: String,
    /// Seconds from the start of the load.
    pub time_s: Option<Median>,
    /// 1 − the time over the baseline's, paired by repeat.
    pub gain: Option<Median>,
}

/// A column.
struct RaceColumn {
    title: &'static str,
    quantity: Quantity,
    help: &'static str,
    /// Extracts its cell from a line.
    cell: fn(&RaceRow) -> Cell,
}

const fn column(
    title: &'static str,
    quantity: Quantity,
    help: &'static str,
    cell: fn(&RaceRow) -> Cell,
) -> RaceColumn {
    RaceColumn { title, quantity, help, cell }
}

/// In place of the name of the milestone that ends a load.
const END: &str = "end";

const COLUMNS: [RaceColumn; 13] = [
    column("scheme", Quantity::Text, "How the page's servers send", |row| {
        Cell::Text(row.scheme.clone())
    }),
    column("visit", Quantity::Text, "The first visit, or all repeated ones on average", |row| {
        row.visit.clone().map_or(Cell::Undefined, Cell::Text)
    }),
    column(
        "on",
        Quantity::Text,
        "Where it ran: simulated, by our endpoint, or by the Linux kernel",
        |row| row.world.clone().map_or(Cell::Undefined, Cell::Text),
    ),
    column(END, Quantity::Time, "Start of the load to its end, median", |row| {
        without_interval(row.page_s)
    }),
    column(
        "min – max",
        Quantity::Time,
        "The same in the fastest and in the slowest repeat",
        |row| {
            row.page_extremes_s.map_or(Cell::Undefined, |(least, most)| Cell::Extremes(least, most))
        },
    ),
    column(
        "× limit",
        Quantity::Ratio,
        "Its time over the limit's; below 1 only without its handshakes",
        |row| without_interval(row.ratio_to_limit),
    ),
    column(
        "gain",
        Quantity::Gain,
        "1 − its time over that of linux in the same repeat, and a 95 % interval; no difference where that holds zero",
        |row| row.gain.map_or(Cell::Undefined, Cell::Median),
    ),
    column(
        "of perfect",
        Quantity::Share,
        "Its gain in parts of the gain of perfect start, whose servers know the path",
        |row| row.share_of_perfect.map_or(Cell::Undefined, whole_per_cent),
    ),
    column(
        "bound by",
        Quantity::Text,
        "What bounded the page most, and for how much of its time: path, cwnd, rwnd, recovery, server, client, dns or rounds",
        |row| match &row.bound_by {
            Some((cause, share)) => most_bound(cause, *share),
            None => Cell::Undefined,
        },
    ),
    column("retrans.", Quantity::Count, "Segments of the page sent more than once", |row| {
        without_interval(row.retransmissions)
    }),
    column("timeouts", Quantity::Count, "Expiries of the page's retransmission timers", |row| {
        without_interval(row.timeouts)
    }),
    column("drops", Quantity::Count, "Packets of the page dropped on the way", |row| {
        without_interval(row.drops)
    }),
    column(
        "harm",
        Quantity::Share,
        "Background bytes lost compared with loading under linux",
        |row| without_interval(row.harm),
    ),
];

/// The first columns, which name a line.
const NAMES: usize = 3;

/// Columns that are left out where no line has anything to say there.
const OPTIONAL: [&str; 6] = ["visit", "on", "min – max", "of perfect", "bound by", "harm"];

impl Table {
    /// The table of a race: one line per scheme, the columns everybody compares. `end` names the
    /// milestone that ends a load.
    pub fn race(rows: &[RaceRow], end: &str) -> Self {
        let mut table = Self::lines(&COLUMNS, rows);
        if let Some(column) = table.columns.iter_mut().find(|column| column.title == END) {
            column.title = end.to_owned();
        }
        table
    }

    /// The columns that name a line, and a line for each row.
    pub(super) fn names<'a>(rows: impl IntoIterator<Item = &'a RaceRow> + Clone) -> Self {
        Self::lines(&COLUMNS[..NAMES], rows)
    }

    /// These columns, as far as a line has anything to say there.
    fn lines<'a>(
        columns: &[RaceColumn],
        rows: impl IntoIterator<Item = &'a RaceRow> + Clone,
    ) -> Self {
        let is_shown = |column: &&RaceColumn| {
            let mut cells = rows.clone().into_iter().map(|row| (column.cell)(row));
            !OPTIONAL.contains(&column.title) || cells.any(|cell| cell != Cell::Undefined)
        };
        let shown: Vec<&RaceColumn> = columns.iter().filter(is_shown).collect();
        let head = |column: &&RaceColumn| Column::new(column.title, column.quantity, column.help);
        let row = |row: &RaceRow| Row {
            cells: shown.iter().map(|column| (column.cell)(row)).collect(),
            is_reference: row.is_limit,
        };
        Self {
            columns: shown.iter().map(head).collect(),
            rows: rows.into_iter().map(row).collect(),
        }
    }
}

pub(super) fn without_interval(median: Option<Median>) -> Cell {
    median.map_or(Cell::Undefined, |median| Cell::Number(median.value.into()))
}

/// A ratio of two gains is not known to a tenth of a per cent.
fn whole_per_cent(share: f64) -> Cell {
    Cell::Text(format!("{:.0} %", share * 100.0).replace("-0 %", "0 %").replace('-', "−"))
}

/// Whole per cents: what repeats differ in is more than a tenth of one.
pub(super) fn most_bound(cause: &str, share: f64) -> Cell {
    Cell::Text(format!("{cause} {:.0} %", share * 100.0))
}
