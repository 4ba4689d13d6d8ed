//! `headstart.analyze`.

use crate::arguments;
use crate::error::Fault;
use crate::results::{self, Reply, Results, Shown};
use crate::table::{Table, TableBuilder};
use crate::work::{self, PythonWatch};
use capture::InputProgress;
use cli::{AnalyzeRequest, MemoryRows, TableName};
use cmdline::captures::ReadingWatch;
use cmdline::progress::CommandWatch;
use cmdline::request::CommandReply;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use support::parquet::{TableColumn, TableRows, TableValue};

/// Tables by their names, once they are complete.
type CollectedTables = Arc<Mutex<BTreeMap<&'static str, Table>>>;

/// Results of an analysis.
struct Analysis {
    reply: CommandReply,
    /// The tables of the reply, as they are printed.
    printed: Vec<report::Table>,
    tables: BTreeMap<&'static str, Table>,
    notes: Vec<String>,
}

/// Analyses captures; `given` has the options of `headstart analyze`.
#[pyfunction]
pub(crate) fn analyze(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Results> {
    let words = arguments::words(&AnalyzeRequest::command(), given)?;
    let request = AnalyzeRequest::parse(words).map_err(|error| Fault::from(error).raised(py))?;
    let mut analysis = work::run(py, progress.as_ref(), |watch| {
        let tables = CollectedTables::default();
        let mut begin = |name: TableName, columns: &[TableColumn]| {
            let builder = TableBuilder::new(columns);
            let (name, tables) = (name.file(), Arc::clone(&tables));
            Box::new(CollectedRows { name, builder, tables }) as Box<dyn MemoryRows>
        };
        let reading = Box::new(ReadingOfPython { watch: Arc::clone(watch), has_progress: true });
        let reply = request.run(reading, watch.stop_flag(), &mut begin)?;
        let tables = std::mem::take(&mut *tables.lock().unwrap_or_else(PoisonError::into_inner));
        let printed = reply.tables.iter().map(|named| named.table.clone()).collect();
        Ok(Analysis { reply, printed, tables, notes: watch.notes() })
    })?;
    let failure = std::mem::replace(&mut analysis.reply.failure, Ok(()));
    Results::of(py, analysis, failure)
}

/// Rows of a table on their way to memory.
struct CollectedRows {
    name: &'static str,
    builder: TableBuilder,
    tables: CollectedTables,
}

impl TableRows for CollectedRows {
    fn row(&mut self, values: &mut dyn Iterator<Item = TableValue>) -> io::Result<()> {
        self.builder.row(values)
    }
}

impl MemoryRows for CollectedRows {
    fn end(self: Box<Self>) -> io::Result<()> {
        let table = self.builder.finish()?;
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).insert(self.name, table);
        Ok(())
    }
}

/// Reports what is read to Python.
pub(crate) struct ReadingOfPython {
    watch: Arc<PythonWatch>,
    /// Bytes that have been read are the progress.
    has_progress: bool,
}

impl ReadingOfPython {
    /// Reports only what cannot be read.
    pub(crate) fn without_progress(watch: &Arc<PythonWatch>) -> Self {
        Self { watch: Arc::clone(watch), has_progress: false }
    }
}

impl ReadingWatch for ReadingOfPython {
    fn at(&mut self, InputProgress { read, total }: InputProgress) {
        if self.has_progress {
            self.watch.at(read, total.unwrap_or(0));
        }
    }

    fn refuse(&mut self, why: &str) {
        self.watch.note(why);
    }
}

impl Reply for Analysis {
    fn json(&self) -> serde_json::Result<String> {
        Ok(self.reply.json.clone())
    }

    fn tables(&self) -> Vec<String> {
        // Transfers stand for the results.
        let mut names: Vec<&'static str> = self.tables.keys().copied().collect();
        names.sort_by_key(|name| *name != TableName::Transfers.file());
        results::names(names)
    }

    fn table(&self, name: &str) -> io::Result<Table> {
        let table = self.tables.get(name).cloned();
        table.ok_or_else(|| io::Error::other(format!("{name} is not in memory")))
    }

    fn shown(&self) -> Shown<'_> {
        Shown { sentences: &self.reply.sentences, tables: &self.printed }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
