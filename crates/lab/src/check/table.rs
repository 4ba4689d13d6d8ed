//! The comparison as a table for each suite and metric.

use cmdline::{Failure, stdout};
use report::{Cell, Column, Estimate, Quantity, Table};
use reproduction::check::ns2::{ComparisonRow, Field, MetricUnit, Ns2Verdict};

/// Prints `rows`, a table for each suite and metric in the order in which they first come.
pub(super) fn print(rows: &[ComparisonRow]) -> Result<(), Failure> {
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        if !kinds.contains(&row_kind(row)) {
            kinds.push(row_kind(row));
        }
    }
    for wanted in kinds {
        let of_kind: Vec<&ComparisonRow> =
            rows.iter().filter(|row| row_kind(row) == wanted).collect();
        let outside = of_kind.iter().filter(|row| row.verdict == Ns2Verdict::Outside).count();
        let (suite, metric) = wanted;
        let count = of_kind.len();
        stdout::print(&format!("\n{suite}: {metric}, {count} compared, {outside} outside\n\n"))?;
        stdout::print_table(&comparison_table(&of_kind))?;
    }
    Ok(())
}

fn row_kind(row: &ComparisonRow) -> (&'static str, &'static str) {
    (row.suite, row.metric.name)
}

fn comparison_table(rows: &[&ComparisonRow]) -> Table {
    let quantity = rows.first().map_or(Quantity::Ratio, |row| match row.metric.unit {
        MetricUnit::Seconds => Quantity::Time,
        MetricUnit::Plain => Quantity::Ratio,
        MetricUnit::Share => Quantity::Share,
    });
    let names: Vec<&str> = rows
        .first()
        .map(|row| row.beside.iter().map(|(name, _)| name).collect())
        .unwrap_or_default();
    let mut columns = [
        Column::new("case", Quantity::Text, "What was run"),
        Column::new("ns-2", quantity, "Measured with ns-2"),
        Column::new("ours", quantity, "Measured here"),
        Column::new("at least", quantity, "Lowest figure that agrees"),
        Column::new("at most", quantity, "Highest figure that agrees"),
    ]
    .to_vec();
    let beside = |name: &&str| Column::new(name.replace('_', " "), Quantity::Text, "ns-2 / ours");
    columns.extend(names.iter().map(beside));
    columns.push(Column::new("verdict", Quantity::Text, "Whether it agrees"));
    Table { columns, rows: rows.iter().map(|row| line(row, &names)).collect() }
}

fn line(row: &ComparisonRow, beside: &[&str]) -> report::Row {
    let number = |mean: f64, error: f64| match mean.is_finite() {
        true => Cell::Number(Estimate { mean, standard_error: (error > 0.0).then_some(error) }),
        false => Cell::Undefined,
    };
    let mut cells = vec![
        Cell::Text(label(row)),
        number(row.ns2, row.ns2_se),
        number(row.ours, row.ours_se),
        number(row.bound[0], 0.0),
        number(row.bound[1], 0.0),
    ];
    cells.extend(beside.iter().map(|name| match row.beside.value(name) {
        Some(Field::Undefined) | None => Cell::Undefined,
        Some(field) => Cell::Text(field.to_string()),
    }));
    cells.push(Cell::Text(match row.verdict {
        Ns2Verdict::Inside => "inside".to_owned(),
        Ns2Verdict::Outside => "OUTSIDE".to_owned(),
    }));
    report::Row { cells, is_reference: false }
}

/// `reno, npkts 100, buffer 10`: words as they are, numbers with their names, flags only if set.
fn label(row: &ComparisonRow) -> String {
    let parts = row.case.iter().filter_map(|(name, field)| match field {
        Field::Text(text) => Some(text.clone()),
        Field::Flag(set) => set.then(|| name.to_owned()),
        Field::Undefined => None,
        other => Some(format!("{name} {other}")),
    });
    parts.collect::<Vec<_>>().join(", ")
}
