//! The milestones of a race: for each scheme their times, and what it gains over linux.

use super::race::{MilestoneCells, RaceRow};
use super::{Cell, Column, Row, Table};
use crate::quantity::{Median, Quantity};

impl Table {
    /// A line for each row, and for each milestone a column of its times and one of its gains. Rows
    /// have the same milestones in the same order.
    pub fn milestones(rows: &[RaceRow]) -> Self {
        let known = rows.first().map_or(&[][..], |row| &row.milestones);
        let pairs = known.iter().flat_map(|one| {
            let help = format!("Start of the load to its milestone {}, median", one.name);
            let gain = format!("1 − {} over that of linux in the same repeat, median", one.name);
            [
                Column::new(one.name.clone(), Quantity::Time, help),
                Column::new("gain", Quantity::Gain, gain),
            ]
        });
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
            let times = row.milestones.iter().flat_map(|one| [time(one), gain(one)]);
            Row {
                cells: names.into_iter().flatten().chain(times).collect(),
                is_reference: row.is_limit,
            }
        };
        Self { columns: names.chain(pairs).collect(), rows: rows.iter().map(row).collect() }
    }
}

fn time(milestone: &MilestoneCells) -> Cell {
    milestone.time_s.map_or(Cell::Undefined, |time| Cell::Number(time.value.into()))
}

/// Without its interval, which would double the width; in words if there is no difference.
fn gain(milestone: &MilestoneCells) -> Cell {
    match milestone.gain_over_linux {
        None => Cell::Undefined,
        Some(Median { interval: Some((least, most)), .. })
            if least <= 0.0 && most >= 0.0 && least < most =>
        {
            Cell::Text("no difference".to_owned())
        }
        Some(gain) => Cell::Number(gain.value.into()),
    }
}
