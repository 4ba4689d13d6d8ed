//! `headstart.simulate`.

use crate::arguments;
use crate::error::Fault;
use crate::plan::GivenPlan;
use crate::results::{self, Reply, Results, Shown};
use crate::table::{Table, TableBuilder};
use crate::work::{self, CountingWatch};
use cmdline::Failure;
use experiment::results::SweepTable;
use lab::{MergeRequest, SimRequest, SweepReply};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Counts the runs of a plan.
#[pyfunction]
pub(crate) fn run_count(py: Python<'_>, plan: &Bound<'_, PyAny>) -> PyResult<usize> {
    let plan = GivenPlan::of(plan)?;
    let request = SimRequest::parse(plan.text.clone(), Vec::new())
        .map_err(|error| Fault::from(error).raised(py))?;
    request.run_count().map_err(|failure| plan.fault(failure).raised(py))
}

/// Takes the folder `out` for the results of a plan, before other processes make them.
#[pyfunction]
pub(crate) fn claim_folder(
    py: Python<'_>,
    plan: &Bound<'_, PyAny>,
    given: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let words = arguments::words(&SimRequest::command(), given)?;
    let plan = GivenPlan::of(plan)?;
    let request = SimRequest::parse(plan.text.clone(), words)
        .map_err(|error| Fault::from(error).raised(py))?;
    request.claim_folder().map_err(|failure| plan.fault(failure).about("out").raised(py))
}

/// Joins the parts of a plan; `given` has the options of `headstart lab merge`.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Results> {
    let words = arguments::words(&MergeRequest::command(), given)?;
    let request = MergeRequest::parse(words).map_err(|error| Fault::from(error).raised(py))?;
    let merged = work::run(py, None, |_| Ok(request.run(|reply| Sweep::of(reply, Vec::new()))?))?;
    merged.results(py)
}

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
    let plan = GivenPlan::of(plan)?;
    let request = SimRequest::parse(plan.text.clone(), words)
        .map_err(|error| Fault::from(error).raised(py))?;
    let answered = work::run(py, progress.as_ref(), |watch| {
        let reply = request
            .run(&CountingWatch(watch), watch.stop())
            .map_err(|failure| plan.fault(failure))?;
        Ok(Sweep::of(reply, watch.notes())?)
    })?;
    answered.results(py)
}

/// Results of a plan, and the reason why the command would fail although there are results.
struct AnsweredSweep {
    sweep: Sweep,
    failure: Result<(), Failure>,
}

impl AnsweredSweep {
    fn results(self, py: Python<'_>) -> PyResult<Results> {
        Results::of(py, self.sweep, self.failure)
    }
}

impl Sweep {
    /// The results of a reply whose tables are CSV.
    fn of(reply: SweepReply, notes: Vec<String>) -> Result<AnsweredSweep, Failure> {
        let tables = tables(&reply).map_err(|error| {
            Failure::failed(format!("cannot read tables in {}: {error}", reply.folder.display()))
        })?;
        let SweepReply { json, table, failure, .. } = reply;
        Ok(AnsweredSweep { sweep: Self { json, shown: [table], tables, notes }, failure })
    }
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
