//! The milestones of a race: for each scheme their times, and what it gains over linux.

use super::race::{MilestoneCells, RaceRow};
use super::{Cell, Column, Row, Table};
use crate::quantity::{Median, Quantity};

impl Table {
    /// A line for each row, and for each milestone a column of its times and one of its gains. Rows
    /// have the same milestones in the same order.
    pub fn milestones(rows: &[RaceRow]) -> Self {
        let known = rows.first().map_or(&[][..], |row| &row.milestones);
        let gain = "1 − the time over that of linux in the same repeat, median";
        let pairs = known.iter().flat_map(|one| one.columns(gain));
        let said = |of: fn(&RaceRow) -> &Option<String>| rows.iter().any(|row| of(row).is_some());
        let (visits, worlds) = (said(|row| &row.visit), said(|row| &row.world));
        let named = [("scheme", true), ("visit", visits), ("on", worlds)];
        let names = named.into_iter().filter(|(_, is_shown)| *is_shown);
        let names = names.map(|(name, _)| Column::new(name, Quantity::Text, "Which loads"));
        let row = |row: &RaceRow| {
            let text = |text: &Option<String>| text.clone().map_or(Cell::Undefined, Cell::Text);
            let names = [
                Some(Cell::Text(row.scheme.clone())),
                visits.then(|| text(&row.visit)),
                worlds.then(|| text(&row.world)),
            ];
            let times = row.milestones.iter().flat_map(MilestoneCells::cells);
            Row {
                cells: names.into_iter().flatten().chain(times).collect(),
                is_reference: row.is_limit,
            }
        };
        Self { columns: names.chain(pairs).collect(), rows: rows.iter().map(row).collect() }
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
    pub(super) fn cells(&self) -> [Cell; 2] {
        let time = self.time_s.map_or(Cell::Undefined, |time| Cell::Number(time.value.into()));
        [time, self.gain()]
    }

    /// The gain without its interval, which would double the width; in words if there is no
    /// difference.
    fn gain(&self) -> Cell {
        match self.gain {
            None => Cell::Undefined,
            Some(Median { interval: Some((least, most)), .. })
                if least <= 0.0 && most >= 0.0 && least < most =>
            {
                Cell::Text("no difference".to_owned())
            }
            Some(gain) => Cell::Number(gain.value.into()),
        }
    }
}
