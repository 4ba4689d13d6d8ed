//! `headstart.simulate`.

use crate::arguments;
use crate::error::{Fault, refused};
use crate::results::{self, Reply, Results, Shown};
use crate::table::{Table, TableBuilder};
use crate::work::{self, CountingWatch};
use cmdline::Failure;
use experiment::results::SweepTable;
use lab::{PlanText, SimRequest, SweepReply};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Results of a plan.
struct Sweep {
    json: String,
    shown: [report::Table; 1],
    tables: BTreeMap<&'static str, Table>,
    notes: Vec<String>,
}

/// Runs a plan: a dict, a text of several lines, or the path of a file. `given` has the options of
/// the command.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    plan: &Bound<'_, PyAny>,
    given: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Results> {
    let words = arguments::words(&SimRequest::command(), given)?;
    let plan = plan_of(plan)?;
    let request = SimRequest::parse(plan, words).map_err(|error| Fault::from(error).raised(py))?;
    let (sweep, failure) = work::run(py, progress.as_ref(), |watch| {
        let reply = request.run(&CountingWatch(watch), watch.stop())?;
        let tables = tables(&reply).map_err(|error| {
            let why = format!("cannot read tables in {}: {error}", reply.folder.display());
            Fault::from(Failure::failed(why))
        })?;
        let SweepReply { json, table, failure, .. } = reply;
        Ok((Sweep { json, shown: [table], tables, notes: watch.notes() }, failure))
    })?;
    Results::of(py, sweep, failure)
}

/// The plan that Python names.
fn plan_of(plan: &Bound<'_, PyAny>) -> PyResult<PlanText> {
    let py = plan.py();
    if plan.cast::<PyDict>().is_ok() {
        let json: String = py.import("json")?.call_method1("dumps", (plan,))?.extract()?;
        return toml_of(&json).map(in_memory);
    }
    if let Ok(text) = plan.extract::<String>()
        && text.contains('\n')
    {
        return Ok(in_memory(text));
    }
    let path: PathBuf = plan.extract()?;
    PlanText::read(&path).map_err(|failure| Fault::from(failure).raised(py))
}

/// A plan without a file. The files that it names lie in the working directory.
fn in_memory(text: String) -> PlanText {
    PlanText { name: "plan".to_owned(), text, beside: PathBuf::new() }
}

/// A plan that is JSON, as TOML.
fn toml_of(json: &str) -> PyResult<String> {
    let value: toml::Value = serde_json::from_str(json)
        .map_err(|error| refused(format!("a plan has no None, and its keys are texts: {error}")))?;
    toml::to_string(&value).map_err(refused)
}

fn tables(reply: &SweepReply) -> io::Result<BTreeMap<&'static str, Table>> {
    let mut tables = BTreeMap::new();
    for table in SweepTable::ALL {
        let begin = |columns: &[_]| Ok(TableBuilder::new(columns));
        if let Some(rows) = table.read(Path::new(&reply.folder), &reply.keys, begin)? {
            tables.insert(table.name(), rows.finish()?);
        }
    }
    Ok(tables)
}

impl Reply for Sweep {
    fn json(&self) -> serde_json::Result<String> {
        Ok(self.json.clone())
    }

    fn tables(&self) -> Vec<String> {
        // The means stand for the results.
        let all = SweepTable::ALL.map(SweepTable::name);
        let others = all.into_iter().filter(|name| *name != SweepTable::Summary.name());
        let all = std::iter::once(SweepTable::Summary.name()).chain(others);
        results::names(all.filter(|name| self.tables.contains_key(name)))
    }

    fn table(&self, name: &str) -> io::Result<Table> {
        let table = self.tables.get(name).cloned();
        table.ok_or_else(|| io::Error::other(format!("no run has written {name}")))
    }

    fn shown(&self) -> Shown<'_> {
        Shown { sentences: &[], tables: &self.shown }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
