//! ns-2's figures where they are known: rows of the measurements that come with headstart.

use super::curve::CurvePoint;
use super::sample::Measured;
use std::collections::BTreeMap;

/// A file of measurements: rows by column.
pub(super) struct Ns2(Vec<BTreeMap<String, String>>);

impl Ns2 {
    /// Reads CSV that comes with headstart.
    pub(super) fn read(text: &str) -> Self {
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
        Self(rows.map_while(Result::ok).collect())
    }

    /// Returns a column of the first row with these values, with the standard error beside it if
    /// the column is called `<what>_mean`.
    pub(super) fn measured(&self, at: &[(&str, &str)], what: &str) -> Option<Measured> {
        let row = self
            .0
            .iter()
            .find(|row| at.iter().all(|(column, value)| has_value(row, column, value)))?;
        let number = |column: &str| row.get(column)?.parse::<f64>().ok();
        let mean = number(&format!("{what}_mean")).or_else(|| number(what))?;
        Some(Measured { mean, standard_error: number(&format!("{what}_se")).unwrap_or(0.0) })
    }

    /// Returns a column over another, of all rows with these values.
    pub(super) fn curve_points(&self, at: &[(&str, &str)], x: &str, what: &str) -> Vec<CurvePoint> {
        let rows = self
            .0
            .iter()
            .filter(|row| at.iter().all(|(column, value)| has_value(row, column, value)));
        let point = |row: &BTreeMap<String, String>| {
            let number = |column: &str| row.get(column)?.parse::<f64>().ok();
            let mean = number(&format!("{what}_mean")).or_else(|| number(what))?;
            let standard_error = number(&format!("{what}_se")).unwrap_or(0.0);
            Some(CurvePoint { x: number(x)?, y: Measured { mean, standard_error } })
        };
        rows.filter_map(point).collect()
    }
}

fn has_value(row: &BTreeMap<String, String>, column: &str, value: &str) -> bool {
    row.get(column).is_some_and(|found| found == value)
}
