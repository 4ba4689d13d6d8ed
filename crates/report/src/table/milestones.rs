//! The milestones of a race: for each scheme their times, and what it gains over linux.

use super::race::{MilestoneCells, RaceRow};
use super::{Cell, Column, Table};
use crate::format::NO_DIFFERENCE;
use crate::quantity::Quantity;

impl Table {
    /// A line for each row, and for each milestone a column of its times and one of its gains. Rows
    /// have the same milestones in the same order.
    pub fn milestones(rows: &[RaceRow]) -> Self {
        let gain = "1 − the time over that of linux in the same repeat, median";
        let known = rows.first().map_or(&[][..], |row| &row.milestones);
        let mut table = Self::names(rows);
        table.columns.extend(known.iter().flat_map(|one| one.columns(gain)));
        for (line, row) in table.rows.iter_mut().zip(rows) {
            line.cells.extend(row.milestones.iter().flat_map(MilestoneCells::time_and_gain));
        }
        table
    }
}

impl MilestoneCells {
    /// The columns of the time and the gain; `help` defines the gain.
    pub(super) fn columns(&self, help: &str) -> [Column; 2] {
        let time = format!("Start of the load to its milestone {}, median", self.name);
        [
            Column::new(self.name.clone(), Quantity::Time, time),
            Column::new("gain", Quantity::Gain, help),
        ]
    }

    /// The time and the gain.
    pub(super) fn time_and_gain(&self) -> [Cell; 2] {
        let time = self.time_s.map_or(Cell::Undefined, |time| Cell::Number(time.value.into()));
        [time, self.gain()]
    }

    /// The gain without its interval, which would double the width; in words if there is no
    /// difference.
    fn gain(&self) -> Cell {
        match self.gain {
            None => Cell::Undefined,
            Some(gain) if gain.is_no_difference() => Cell::Text(NO_DIFFERENCE.to_owned()),
            Some(gain) => Cell::Number(gain.value.into()),
        }
    }
}
