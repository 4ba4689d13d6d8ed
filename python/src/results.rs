//! Results of a command: JSON, tables, and text and HTML for a reader.

use crate::error::{Fault, defect, refused};
use crate::table::Table;
use cmdline::Failure;
use pyo3::prelude::*;
use report::Terminal;
use serde::Serialize;
use std::io;

/// Results of a command.
pub(crate) trait Reply: Send + Sync {
    /// The bytes that the command prints with `--json`.
    fn json(&self) -> serde_json::Result<String>;

    /// Names of the tables; the first stands for the results.
    fn tables(&self) -> Vec<String>;

    /// The table of one of these names.
    fn table(&self, name: &str) -> io::Result<Table>;

    /// Words and tables that the command prints for a reader.
    fn shown(&self) -> Shown<'_>;

    /// Notes for the reader of the results.
    fn notes(&self) -> &[String];
}

/// Sentences, and tables below them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) sentences: &'a [String],
    pub(crate) tables: &'a [report::Table],
}

/// Results of a command, for Python.
#[pyclass(frozen, module = "headstart._core")]
pub(crate) struct Results(Box<dyn Reply>);

impl Results {
    /// The results, unless the command would have failed in spite of them: then the exception has
    /// them.
    pub(crate) fn of(
        py: Python<'_>,
        reply: impl Reply + 'static,
        failure: Result<(), Failure>,
    ) -> PyResult<Self> {
        let results = Self(Box::new(reply));
        let Err(failure) = failure else { return Ok(results) };
        let result = Some(Py::new(py, results)?.into_any());
        Err(Fault { result, ..Fault::from(failure) }.raised(py))
    }
}

#[pymethods]
impl Results {
    /// The bytes that the command prints with `--json`, as text.
    fn to_json(&self) -> PyResult<String> {
        self.0.json().map_err(defect)
    }

    /// Names of the tables; the first stands for the results.
    #[getter]
    fn table_names(&self) -> Vec<String> {
        self.0.tables()
    }

    /// The table of a name.
    fn table(&self, name: &str) -> PyResult<Table> {
        let known = self.0.tables();
        if !known.iter().any(|one| one == name) {
            return Err(refused(support::errors::unknown("table", name, &known, "")));
        }
        self.0.table(name).map_err(defect)
    }

    /// Notes for the reader of the results.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes().to_vec()
    }

    /// The results in words.
    #[getter]
    fn sentences(&self) -> Vec<String> {
        self.0.shown().sentences.to_vec()
    }

    /// The results as a terminal shows them.
    fn to_text(&self) -> String {
        let Shown { sentences, tables } = self.0.shown();
        let sentences = sentences.iter().map(|sentence| format!("{sentence}\n")).collect();
        let tables = tables.iter().map(|table| table.to_text(Terminal::default()));
        let parts: Vec<String> = std::iter::once(sentences).chain(tables).collect();
        parts.join("\n").trim_matches('\n').to_owned()
    }

    /// The results as a notebook shows them.
    fn to_html(&self) -> String {
        let Shown { sentences, tables } = self.0.shown();
        let sentences = sentences.iter().map(|sentence| paragraph(sentence));
        sentences.chain(tables.iter().map(report::Table::to_html)).collect()
    }
}

/// Indented JSON, as the command line prints it.
pub(crate) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|json| json + "\n")
}

/// Words in HTML; words that have lines of their own keep them.
fn paragraph(text: &str) -> String {
    let element = if text.contains('\n') { "pre" } else { "p" };
    format!("<{element}>{}</{element}>", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Names as a reply gives them.
pub(crate) fn names(names: impl IntoIterator<Item = &'static str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}
