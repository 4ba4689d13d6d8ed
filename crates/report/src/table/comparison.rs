//! The tables of a comparison: a line for each scheme and variant of a race.

use super::race::{MilestoneCells, RaceRow, most_bound, without_interval};
use super::{Cell, Column, Row, Table};
use crate::quantity::Quantity;

/// A scheme's line under one variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariantRow {
    /// The value of what is varied.
    pub variant: String,
    /// True for the first variant, which gains nothing over itself.
    pub is_first: bool,
    /// The row of the variant's race. Its gains are over the same row of the first variant.
    pub row: RaceRow,
}

/// The time that each cause took of a variant's loads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CausesRow {
    /// The value of what is varied.
    pub variant: String,
    /// Seconds until the load ended.
    pub page_s: f64,
    /// Each cause and its seconds, in the order of the columns.
    pub causes: Vec<(String, f64)>,
}

impl Table {
    /// A line for each scheme and variant: times, and gains over the first variant. `varied` names
    /// what differs, and `end` the milestone that ends a load.
    pub fn comparison(rows: &[VariantRow], varied: &str, end: &str) -> Self {
        let mut table = Self::name_columns(rows, varied);
        table.columns.extend([
            Column::new(end, Quantity::Time, "Start of the load to its end, median"),
            Column::new("gain", Quantity::Gain, GAIN),
            Column::new(
                "× limit",
                Quantity::Ratio,
                "Its time over the limit's of the same variant",
            ),
            Column::new(
                "bound by",
                Quantity::Text,
                "What bounded the page most, and its share of the time",
            ),
        ]);
        for (line, VariantRow { row, is_first, .. }) in table.rows.iter_mut().zip(rows) {
            let gain = row.gain.filter(|_| !is_first);
            let bound = row.bound_by.as_ref();
            line.cells.extend([
                without_interval(row.page_s),
                gain.map_or(Cell::Undefined, Cell::Median),
                without_interval(row.ratio_to_limit),
                bound.map_or(Cell::Undefined, |(cause, share)| most_bound(cause, *share)),
            ]);
        }
        table
    }

    /// The same lines with the times of all milestones, each with its gain. Rows have the same
    /// milestones in the same order.
    pub fn compared_milestones(rows: &[VariantRow], varied: &str) -> Self {
        let mut table = Self::name_columns(rows, varied);
        let known = rows.first().map_or(&[][..], |one| &one.row.milestones);
        table.columns.extend(known.iter().flat_map(|one| one.columns(GAIN)));
        for (line, VariantRow { row, is_first, .. }) in table.rows.iter_mut().zip(rows) {
            let own = |one: &MilestoneCells| {
                let [time, gain] = one.time_and_gain();
                [time, if *is_first { Cell::Undefined } else { gain }]
            };
            line.cells.extend(row.milestones.iter().flat_map(own));
        }
        table
    }

    /// A line for each variant: its time, and how much of it each cause took. Causes of no time are
    /// left out.
    pub fn causes(rows: &[CausesRow], varied: &str, end: &str) -> Self {
        let mut columns = vec![
            Column::new(varied, Quantity::Text, VARIED),
            Column::new(end, Quantity::Time, "Start of the load to its end, median"),
        ];
        let causes = rows.first().map_or(&[][..], |row| &row.causes);
        let help = "The part of the time that this cause bounded";
        columns.extend(causes.iter().map(|(name, _)| Column::new(name, Quantity::Time, help)));
        let row = |row: &CausesRow| {
            let times = row.causes.iter().map(|(_, seconds)| *seconds);
            let times = [row.page_s].into_iter().chain(times);
            let cells = times.map(|seconds| Cell::Number(seconds.into()));
            Row {
                cells: [Cell::Text(row.variant.clone())].into_iter().chain(cells).collect(),
                is_reference: false,
            }
        };
        let mut table = Self { columns, rows: rows.iter().map(row).collect() };
        let is_zero = |name: &str| {
            let mut own =
                rows.iter().flat_map(|row| &row.causes).filter(|(cause, _)| cause == name);
            own.all(|(_, seconds)| *seconds == 0.0)
        };
        causes.iter().filter(|(name, _)| is_zero(name)).for_each(|(n, _)| table.remove_column(n));
        table
    }

    /// The columns that name a line.
    fn name_columns(rows: &[VariantRow], varied: &str) -> Self {
        let mut table = Self::names(rows.iter().map(|one| &one.row));
        table.columns.push(Column::new(varied, Quantity::Text, VARIED));
        for (line, one) in table.rows.iter_mut().zip(rows) {
            line.cells.push(Cell::Text(one.variant.clone()));
        }
        table
    }
}

/// The definition of the column that names the variants.
const VARIED: &str = "The value that differs between the lines";
/// The definition of a gain.
const GAIN: &str = "1 − the time over that of the first variant in the same repeat, median";
