//! `headstart.analyze`.

use crate::arguments;
use crate::error::Fault;
use crate::results::{Reply, Results, Shown};
use crate::table::{Table, TableBuilder};
use crate::work::{self, PythonWatch};
use capture::InputProgress;
use cli::{AnalyzeReply, AnalyzeRequest, MemoryRows, TableName};
use cmdline::captures::ReadingWatch;
use cmdline::progress::CommandWatch;
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
    reply: AnalyzeReply,
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
        let reading = Box::new(ReadingOfPython(Arc::clone(watch)));
        let reply = request.run(reading, watch.stop_flag(), &mut begin)?;
        let tables = std::mem::take(&mut *tables.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Analysis { reply, tables, notes: watch.notes() })
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

/// Reports bytes that have been read.
struct ReadingOfPython(Arc<PythonWatch>);

impl ReadingWatch for ReadingOfPython {
    fn at(&mut self, InputProgress { read, total }: InputProgress) {
        self.0.at(read, total.unwrap_or(0));
    }

    fn refuse(&mut self, why: &str) {
        self.0.note(why);
    }
}

impl Reply for Analysis {
    fn json(&self) -> serde_json::Result<String> {
        Ok(self.reply.json.clone())
    }

    fn tables(&self) -> Vec<&'static str> {
        // Transfers stand for the results.
        let mut names: Vec<&str> = self.tables.keys().copied().collect();
        names.sort_by_key(|name| *name != TableName::Transfers.file());
        names
    }

    fn table(&self, name: &str) -> io::Result<Table> {
        let table = self.tables.get(name).cloned();
        table.ok_or_else(|| io::Error::other(format!("{name} is not in memory")))
    }

    fn shown(&self) -> Shown<'_> {
        let AnalyzeReply { sentences, tables, .. } = &self.reply;
        Shown { sentences, tables }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
