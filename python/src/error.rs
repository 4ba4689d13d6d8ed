//! Failures as exceptions of Python: `headstart.Error`, with the text that the command line prints.

use crate::startup::StartUpFault;
use clap::error::{ContextKind, ContextValue};
use cmdline::Failure;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;
use support::errors::FileError;

/// A reason, and where the mistake is, if that is known.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    pub(crate) why: String,
    pub(crate) file: Option<String>,
    /// Line of the file, from 1.
    pub(crate) line: Option<usize>,
    /// Option, or key of the file.
    pub(crate) key: Option<String>,
    /// Results that there are nevertheless.
    pub(crate) result: Option<Py<PyAny>>,
    /// The exception of Python that led to this one.
    pub(crate) cause: Option<Box<PyErr>>,
}

impl Fault {
    /// The fault with the notes in front of its text, a line each, as the command line prints both.
    /// Notes may have the reasons, like a file that does not exist.
    pub(crate) fn after(mut self, notes: &[String]) -> Self {
        let lines = notes.iter().chain([&self.why]).map(String::as_str);
        self.why = lines.collect::<Vec<_>>().join("\n");
        self
    }

    /// The fault with `option` as its key, unless another key is known.
    pub(crate) fn about(mut self, option: &str) -> Self {
        self.key.get_or_insert_with(|| option.to_owned());
        self
    }

    /// The fault as `headstart.Error`.
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        self.exception(py).unwrap_or_else(|error| error)
    }

    fn exception(self, py: Python<'_>) -> PyResult<PyErr> {
        let details = PyDict::new(py);
        details.set_item("file", self.file)?;
        details.set_item("line", self.line)?;
        details.set_item("key", self.key)?;
        details.set_item("result", self.result)?;
        let class = py.import("headstart._error")?.getattr("Error")?;
        let raised = PyErr::from_value(class.call((self.why,), Some(&details))?);
        raised.set_cause(py, self.cause.map(|cause| *cause));
        Ok(raised)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::InFile(error) => Self::from(error),
            Failure::OverBudget(why) => {
                Self { why: format!("over budget: {why}"), ..Self::default() }
            }
            other => Self { why: other.why().to_owned(), ..Self::default() },
        }
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Self {
            why: error.to_string(),
            file: Some(error.file().to_owned()),
            line: Some(error.line()),
            key: error.key().map(str::to_owned),
            ..Self::default()
        }
    }
}

/// A start-up that raised an exception.
impl From<StartUpFault> for Fault {
    fn from(StartUpFault { name, error }: StartUpFault) -> Self {
        let why = format!("start-up {name}: {error}");
        Self { why, cause: Some(Box::new(error)), ..Self::default() }
    }
}

/// An argument that clap refuses. The text loses the parts that only help at a shell.
impl From<clap::Error> for Fault {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let end =
            ["\n\nUsage:", "\n\nFor more information"].into_iter().filter_map(|end| text.find(end));
        let why = text[..end.min().unwrap_or(text.len())].trim_end().to_owned();
        let key = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(argument)) => option_name(argument),
            _ => None,
        };
        Self { why, key, ..Self::default() }
    }
}

/// The name of an option as Python spells it: `tls_flight` of `--tls-flight <SIZE>`.
fn option_name(argument: &str) -> Option<String> {
    let name = argument.strip_prefix("--")?;
    let end = name.find([' ', '=', '[']).unwrap_or(name.len());
    Some(name[..end].replace('-', "_"))
}

/// An argument that cannot be used.
pub(crate) fn refused(why: impl Display) -> PyErr {
    let fault = Fault { why: why.to_string(), ..Fault::default() };
    Python::attach(|py| fault.raised(py))
}

/// A state that headstart must not reach.
pub(crate) fn defect(why: impl Display) -> PyErr {
    refused(format!("a defect of headstart: {why}"))
}
