//! The critical path as the report shows it: the time of each object first, and its largest phase.

use super::diagnosis;
use race::{CriticalPath, CriticalWait, RaceResult};
use report::{Block, Cell, Column, Quantity, Section, Table, seconds};

/// The title of the column that comes right after the object.
const TIME: &str = "time";

/// The section of a race's critical path, if there is one.
pub(super) fn section(result: &RaceResult) -> Option<Section> {
    let path = result.critical.as_ref()?;
    let load = if result.repeats > 1 { "first load" } else { "load" };
    let about = format!(
        "The {load} under {} waits for these objects, one after the other. Sizes include response headers.",
        path.scheme
    );
    let blocks = vec![Block::Text(about), Block::Table(table(path))];
    Some(Section { heading: "Critical path".to_owned(), blocks })
}

/// All objects. A narrow page shows the columns up to the largest phase without scrolling.
fn table(path: &CriticalPath) -> Table {
    let Table { mut columns, mut rows } = diagnosis::table(path, true);
    let time = columns.iter().position(|column| column.title == TIME).unwrap_or(1);
    columns[1..=time].rotate_right(1);
    let help = "The phase that takes the largest part of this time";
    columns.insert(2, Column::new("mostly", Quantity::Text, help));
    for (row, wait) in rows.iter_mut().zip(&path.objects) {
        row.cells[1..=time].rotate_right(1);
        row.cells.insert(2, Cell::Text(largest_phase(wait)));
    }
    Table { columns, rows }
}

/// The name and the time of an object's largest phase.
fn largest_phase(wait: &CriticalWait) -> String {
    let phases = wait.wait.phases.named().into_iter().rev();
    let largest = phases.max_by_key(|(_, time)| *time);
    largest.map_or(String::new(), |(name, time)| {
        let name = match name {
            "client" => "browser",
            "tcp" => "TCP",
            "tls" => "TLS",
            name => name,
        };
        format!("{name} {}", seconds(time.as_secs_f64()))
    })
}
