//! The answer to a request.

use cmdline::Failure;
use report::Table;

/// Results of an analysis, beside its tables.
#[derive(Debug)]
pub struct AnalyzeReply {
    /// The bytes that `headstart analyze --json=findings` prints.
    pub json: String,
    /// The results in words.
    pub sentences: Vec<String>,
    /// The tables that the command prints.
    pub tables: Vec<Table>,
    /// The reason why the command would fail although there are results: a damaged capture, or a
    /// file that could not be written.
    pub failure: Result<(), Failure>,
}
