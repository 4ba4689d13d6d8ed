//! Axes and cells: every combination of the axes' values, the schemes varying fastest.

use super::document::{At, AxisSpec, Written};
use super::error::Fault;
use super::tree::{self, Tree, Value};
use netsim::derive_seed;
use std::ops::Range;
use tcp::Scheme;
use toml::Spanned;
use toml::de::DeValue;

/// The name of the schemes' axis.
pub const SCHEME: &str = "scheme";

/// Bound on the cells of a plan: more are taken for a mistake.
const MAX_CELLS: usize = 1_000_000;

/// Keys that are no part of a single run, and so cannot be swept.
const UNSWEPT_KEYS: [&str; 6] = ["title", "seed", "repeats", "schemes", "sweep", "measure"];

/// Coordinate of a cell on one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// The swept key, or `scheme`.
    pub key: String,
    /// Its value, as the plan writes it, without quotes.
    pub value: String,
}

impl Coordinate {
    /// Whether it selects the TCP of a host: the random numbers of a cell do not depend on it.
    fn selects_tcp(&self) -> bool {
        // `workload.x.receiver` is a scheme, and `parameters` are those of schemes.
        let last = self.key.rsplit('.').next();
        matches!(last, Some(SCHEME | "receiver" | "parameters"))
    }
}

/// The seed of a repeat of a cell: a function of the plan's seed, the coordinates that are no
/// schemes, and the repeat. Cells that differ in schemes alone share their random numbers.
pub(super) fn seed_of(seed: u64, coordinates: &[Coordinate], repeat: u32) -> u64 {
    let mut name = String::from("cell");
    for Coordinate { key, value } in coordinates.iter().filter(|c| !c.selects_tcp()) {
        // Lengths make the name unambiguous if a key or a value contains `/`, `:` or `=`.
        name += &format!("/{}:{key}={}:{value}", key.len(), value.len());
    }
    derive_seed(derive_seed(seed, &name), &format!("repeat/{repeat}"))
}

/// One value for each key of an axis.
type Point<'a> = Vec<Value<'a>>;

/// An axis, checked.
#[derive(Clone, Debug)]
struct CheckedAxis<'a> {
    keys: Vec<At<String>>,
    points: Vec<Point<'a>>,
}

/// The axes of the sweep.
#[derive(Clone, Debug)]
pub(super) struct Sweep<'a> {
    axes: Vec<CheckedAxis<'a>>,
    schemes: Vec<Scheme>,
}

impl<'a> Sweep<'a> {
    /// The sweep of a plan; `raw` is its key `sweep`, in which values keep their byte spans, for
    /// errors.
    pub(super) fn new(
        axes: &[AxisSpec],
        raw: Option<&Value<'a>>,
        schemes: Vec<Scheme>,
    ) -> Result<Self, Fault> {
        let tables = match raw.map(Spanned::get_ref) {
            Some(DeValue::Array(tables)) => tables.iter().collect(),
            _ => Vec::new(),
        };
        let axes = axes.iter().zip(tables).map(|(axis, raw)| checked(axis, raw));
        let sweep = Self { axes: axes.collect::<Result<_, _>>()?, schemes };
        sweep.refuse_repeated_keys()?;
        sweep.refuse_excess()?;
        Ok(sweep)
    }

    fn refuse_repeated_keys(&self) -> Result<(), Fault> {
        let mut seen = Vec::new();
        for key in self.axes.iter().flat_map(|axis| &axis.keys) {
            if seen.contains(&key) {
                let why = format!("{:?} is swept twice: an axis has each key once", **key);
                return Err(Fault::new(key.span(), why));
            }
            seen.push(key);
        }
        Ok(())
    }

    fn refuse_excess(&self) -> Result<(), Fault> {
        let counts = self.axes.iter().map(|axis| axis.points.len());
        let cells = counts.chain([self.schemes.len()]).try_fold(1usize, usize::checked_mul);
        match cells {
            Some(cells) if cells <= MAX_CELLS => Ok(()),
            _ => {
                let span = self.axes.last().map_or(0..0, |axis| axis.keys[0].span());
                Err(Fault::new(span, format!("more than {MAX_CELLS} cells: use fewer values")))
            }
        }
    }

    /// Names of the coordinates, in order.
    pub(super) fn keys(&self) -> Vec<String> {
        let keys = self.axes.iter().flat_map(|axis| &axis.keys).map(|key| String::clone(key));
        keys.chain([SCHEME.to_owned()]).collect()
    }

    pub(super) fn cell_count(&self) -> usize {
        self.axes.iter().map(|axis| axis.points.len()).product::<usize>() * self.schemes.len()
    }

    /// Returns the scheme of a cell, and its point on each axis.
    fn scheme_and_points(&self, cell: usize) -> (&Scheme, Vec<&Point<'a>>) {
        let scheme = &self.schemes[cell % self.schemes.len()];
        let mut rest = cell / self.schemes.len();
        let mut points: Vec<&Point<'a>> = Vec::new();
        for axis in self.axes.iter().rev() {
            points.push(&axis.points[rest % axis.points.len()]);
            rest /= axis.points.len();
        }
        points.reverse();
        (scheme, points)
    }

    pub(super) fn scheme(&self, cell: usize) -> &Scheme {
        self.scheme_and_points(cell).0
    }

    pub(super) fn coordinates(&self, cell: usize, source: &str) -> Vec<Coordinate> {
        let (scheme, points) = self.scheme_and_points(cell);
        let keys = self.axes.iter().flat_map(|axis| &axis.keys);
        let values = points.into_iter().flatten();
        let swept = keys.zip(values).map(|(key, value)| Coordinate {
            key: String::clone(key),
            value: coordinate_text(value, source),
        });
        let scheme = Coordinate { key: SCHEME.to_owned(), value: scheme.name().to_owned() };
        swept.chain([scheme]).collect()
    }

    /// Sets a cell's values in the plan's tree.
    pub(super) fn apply(&self, cell: usize, tree: &mut Tree<'a>) -> Result<(), Fault> {
        let (_, points) = self.scheme_and_points(cell);
        for (axis, point) in self.axes.iter().zip(points) {
            for (key, value) in axis.keys.iter().zip(point) {
                tree::set(tree, key, value.clone())?;
            }
        }
        Ok(())
    }
}

/// Returns the schemes of a plan; fails if one is listed twice.
pub(super) fn listed_schemes(listed: &[At<Written<Scheme>>]) -> Result<Vec<Scheme>, Fault> {
    let mut schemes: Vec<Scheme> = Vec::new();
    for entry in listed {
        let Written(scheme) = &**entry;
        if schemes.iter().any(|other| other.name() == scheme.name()) {
            return Err(Fault::new(entry.span(), format!("{} is listed twice", scheme.name())));
        }
        schemes.push(scheme.clone());
    }
    Ok(schemes)
}

/// Formats a value as a coordinate: text without its quotes, other values as written.
fn coordinate_text(value: &Value<'_>, source: &str) -> String {
    match value.get_ref() {
        DeValue::String(string) => string.to_string(),
        _ => source.get(value.span()).unwrap_or_default().to_owned(),
    }
}

fn checked<'a>(axis: &AxisSpec, raw: &Value<'a>) -> Result<CheckedAxis<'a>, Fault> {
    let span = raw.span();
    let keys = keys_of(axis, span)?;
    let values = match raw.get_ref().as_table().and_then(|table| table.get("values")) {
        Some(values) => values,
        // Unreachable: `AxisSpec` requires it.
        None => return Err(Fault::new(axis.values.span(), "values is missing")),
    };
    let listed: Vec<&Value<'a>> = match values.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    if listed.is_empty() {
        return Err(Fault::new(axis.values.span(), "an axis needs at least one value"));
    }
    let zipped = axis.keys.is_some();
    let points = listed.into_iter().map(|value| point_values(value, keys.len(), zipped));
    Ok(CheckedAxis { points: points.collect::<Result<_, _>>()?, keys })
}

fn keys_of(axis: &AxisSpec, span: Range<usize>) -> Result<Vec<At<String>>, Fault> {
    let keys = match (&axis.key, &axis.keys) {
        (Some(key), None) => vec![key.clone()],
        (None, Some(keys)) if !keys.is_empty() => keys.clone(),
        _ => {
            let why = "an axis has either `key = \"topology.…\"` or `keys = [\"…\", \"…\"]`";
            return Err(Fault::new(span, why));
        }
    };
    for key in &keys {
        let first = key.split('.').next().unwrap_or_default();
        if UNSWEPT_KEYS.contains(&first) {
            let why = match first {
                "schemes" => "name the schemes in `schemes`: they are an axis already".to_owned(),
                _ => format!("{first:?} is no part of a cell and cannot be swept"),
            };
            return Err(Fault::new(key.span(), why));
        }
    }
    Ok(keys)
}

/// The values of one point: the value itself, or for keys that vary together a list.
fn point_values<'a>(value: &Value<'a>, key_count: usize, zipped: bool) -> Result<Point<'a>, Fault> {
    let values = match (zipped, value.get_ref()) {
        (false, _) => vec![value.clone()],
        (true, DeValue::Array(items)) if items.len() == key_count => {
            items.iter().cloned().collect()
        }
        (true, _) => {
            let why = format!("expected a list of {key_count} values, one for each of `keys`");
            return Err(Fault::new(value.span(), why));
        }
    };
    match values.iter().find(|value| matches!(value.get_ref(), DeValue::Table(_))) {
        Some(table) => {
            let why = "a table cannot be swept; sweep one of its keys by its dotted path";
            Err(Fault::new(table.span(), why))
        }
        None => Ok(values),
    }
}
