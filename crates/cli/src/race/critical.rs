//! The critical path as the report shows it: the time of each object first, and its largest phase.

use super::diagnosis::{self, TIME, WITHOUT};
use super::phases;
use race::{CriticalPath, CriticalWait, RaceResult};
use report::{Block, Cell, Column, Quantity, Row, Section, Table, seconds};

/// The section of a race's critical path, if there is one.
pub(super) fn section(result: &RaceResult) -> Option<Section> {
    let path = result.critical.as_ref()?;
    let load = if result.repeats > 1 { "first load" } else { "load" };
    let about = format!(
        "The {load} under {} waits for these objects, one after the other. Sizes include response headers.",
        path.scheme
    );
    let blocks = vec![Block::Text(about), Block::Table(critical_path_table(path))];
    Some(Section { heading: "Critical path".to_owned(), blocks })
}

/// All objects. A narrow page shows the columns up to the largest phase without scrolling.
fn critical_path_table(path: &CriticalPath) -> Table {
    let Table { columns, rows } = diagnosis::wait_table(path, true);
    let find = |title: &str| columns.iter().position(|column| column.title == title);
    let (Some(time), Some(without)) = (find(TIME), find(WITHOUT)) else {
        return Table { columns, rows };
    };
    let others = (1..columns.len()).filter(|at| ![time, without].contains(at));
    let order: Vec<usize> = [0, time, without].into_iter().chain(others).collect();
    let reordered = |(row, object): (&Row, &CriticalWait)| {
        let mut cells: Vec<Cell> = order.iter().map(|at| row.cells[*at].clone()).collect();
        cells.insert(2, largest(object));
        Row { cells, ..*row }
    };
    let rows = rows.iter().zip(&path.objects).map(reordered).collect();
    let help = "The phase that takes the largest part of this time";
    let mut columns: Vec<Column> = order.iter().map(|at| columns[*at].clone()).collect();
    columns.insert(2, Column::new("mostly", Quantity::Text, help));
    Table { columns, rows }
}

/// The name and the time of the largest phase.
fn largest(object: &CriticalWait) -> Cell {
    phases::largest(object).map_or(Cell::Undefined, |(phase, time)| {
        Cell::Text(format!("{} {}", phase.title, seconds(time.as_secs_f64())))
    })
}
