//! The module `headstart._core` of the Python package: requests to the commands of headstart, and
//! their results as objects of Python.
//!
//! `arguments` turns keyword arguments into the words of a command line. So names and defaults
//! are those of the command. `work` runs a request beside the interpreter. `results` has JSON, text
//! and HTML of the results, `table` has Arrow data, and `error` raises failures. `plan` has the
//! forms of a plan, and `startup` has start-ups that are classes of Python. `answered` has the
//! commands whose tables are as printed, and other files have one command each. The package around
//! it (`lib/headstart/`) has the signatures and the documentation.

mod analyze;
mod answered;
mod arguments;
mod error;
mod plan;
mod race;
mod results;
mod schemes;
mod simulate;
mod startup;
mod table;
mod work;

/// Requests to headstart and their results; the package `headstart` documents them.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::analyze::analyze;
    #[pymodule_export]
    use crate::answered::{
        papers, predict, scoreboard, scoreboard_count, scoreboard_joined, scoreboard_part, theory,
    };
    #[pymodule_export]
    use crate::options;
    #[pymodule_export]
    use crate::race::run_race;
    #[pymodule_export]
    use crate::results::Results;
    #[pymodule_export]
    use crate::schemes::list_schemes;
    #[pymodule_export]
    use crate::simulate::{claim_folder, merge, run_count, simulate};
    #[pymodule_export]
    use crate::startup::{PyAck, PyStart, PyWindow, register_start_up};
    #[pymodule_export]
    use crate::table::Table;
}

/// Names of the options of a command as Python spells them.
#[pyo3::pyfunction]
fn options(command: &str) -> Vec<String> {
    match command {
        "analyze" => arguments::names(&cli::AnalyzeRequest::command()),
        "merge" => arguments::names(&lab::MergeRequest::command()),
        "papers" => arguments::names(&lab::PapersRequest::command()),
        "predict" => arguments::names(&cli::PredictRequest::command()),
        "race" => arguments::names(&cli::RaceRequest::command()),
        "scoreboard" => arguments::names(&lab::ScoreboardRequest::command()),
        "simulate" => arguments::names(&lab::SimRequest::command()),
        "theory" => arguments::names(&lab::TheoryRequest::command()),
        _ => Vec::new(),
    }
}
