//! Plans as Python gives them: the path of a file, a text in TOML, or a dict.

use crate::error::{Fault, refused};
use cmdline::Failure;
use lab::PlanText;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use support::errors::FileError;

/// A plan, and its form.
pub(crate) struct GivenPlan {
    pub(crate) text: PlanText,
    /// It was a dict, so lines of its text mean nothing to the reader of an error.
    is_dict: bool,
}

impl GivenPlan {
    /// The plan that Python names. Dicts have only values of JSON.
    pub(crate) fn of(plan: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = plan.py();
        if plan.cast::<PyDict>().is_ok() {
            let json: String = py.import("json")?.call_method1("dumps", (plan,))?.extract()?;
            return Ok(Self { text: in_memory(toml_of(&json)?), is_dict: true });
        }
        if let Ok(text) = plan.extract::<String>()
            && text.contains('\n')
        {
            return Ok(Self { text: in_memory(text), is_dict: false });
        }
        let path: PathBuf = plan
            .extract()
            .map_err(|_| refused("plan: use the path of a file, a text in TOML, or a dict"))?;
        let text = PlanText::read(&path).map_err(|failure| Fault::from(failure).raised(py))?;
        Ok(Self { text, is_dict: false })
    }

    /// A failure of the plan. The fault of a dict names the path of the key instead of a line.
    pub(crate) fn fault(&self, failure: Failure) -> Fault {
        match failure {
            Failure::InFile(error) if self.is_dict => self.fault_of_dict(&error),
            other => Fault::from(other),
        }
    }

    fn fault_of_dict(&self, error: &FileError) -> Fault {
        let place = format!("{}:{}: ", error.file(), error.line());
        let why = error.text().strip_prefix(&place).unwrap_or(error.text());
        let key = key_path(&self.text.text, error.line(), error.key());
        let why = format!("{}: {why}", key.as_deref().unwrap_or("plan"));
        Fault { why, key, ..Fault::default() }
    }
}

/// A plan without a file. The files that it names lie in the working directory.
fn in_memory(text: String) -> PlanText {
    PlanText { name: "plan".to_owned(), text, beside: PathBuf::new() }
}

/// A plan that is JSON, as TOML.
fn toml_of(json: &str) -> PyResult<String> {
    let value: toml::Value = serde_json::from_str(json).map_err(refused)?;
    toml::to_string(&value).map_err(refused)
}

/// The path of the key of a line, like `sweep[1].values`: its tables' names, then `key`. If the
/// line begins a table, the path is the table's. `None` if the fault concerns no single line.
fn key_path(text: &str, line: usize, key: Option<&str>) -> Option<String> {
    let mut table = String::new();
    // The tables in lists so far, and how many of each.
    let mut lists: Vec<(&str, usize)> = Vec::new();
    let mut is_header = false;
    for line in text.lines().take(line) {
        is_header = line.starts_with('[');
        let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
            continue;
        };
        match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            None => table = indexed(name, &lists),
            Some(list) => {
                match lists.iter_mut().find(|(known, _)| *known == list) {
                    Some((_, count)) => *count += 1,
                    None => lists.push((list, 1)),
                }
                table = indexed(list, &lists);
            }
        }
    }
    match key.filter(|_| !is_header) {
        Some(key) if table.is_empty() => Some(key.to_owned()),
        Some(key) => Some(format!("{table}.{key}")),
        None => is_header.then_some(table),
    }
}

/// The name of a table with the number, from 0, of the list's element that it is in.
fn indexed(name: &str, lists: &[(&str, usize)]) -> String {
    let within = lists.iter().filter_map(|(list, count)| {
        let rest =
            name.strip_prefix(list).filter(|rest| rest.is_empty() || rest.starts_with('.'))?;
        Some((list, count - 1, rest))
    });
    match within.max_by_key(|(list, ..)| list.len()) {
        Some((list, number, rest)) => format!("{list}[{number}]{rest}"),
        None => name.to_owned(),
    }
}
