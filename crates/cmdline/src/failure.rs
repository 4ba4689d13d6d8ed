//! Failures of a program: the message, and the exit code.

#[cfg(feature = "results")]
use experiment::results::ResultsError;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use support::errors::FileError;

/// Reason why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// A run or a check failed: exit code 1.
    Failed(String),
    /// The input is bad, or a privilege is missing: exit code 2.
    Input(String),
    /// A file that people write is wrong: exit code 2.
    InFile(FileError),
    /// Results exceed a budget that the user set: exit code 3.
    OverBudget(String),
    /// Asked to stop before the end: exit code 130, as shells have it for an interrupt.
    Interrupted(String),
    /// A command that was run failed, and has printed its reason: its own exit code.
    Command(u8),
    /// The reader of continuing results has left: no message, exit code 0.
    ReaderGone,
}

impl Failure {
    /// A run or a check failed.
    pub fn failed(why: impl Display) -> Self {
        Self::Failed(why.to_string())
    }

    /// The input is bad, or a privilege is missing.
    pub fn input(why: impl Display) -> Self {
        Self::Input(why.to_string())
    }

    /// Returns the reason; empty for a command that has printed its own.
    pub fn why(&self) -> &str {
        match self {
            Self::InFile(error) => error.text(),
            Self::Failed(why)
            | Self::Input(why)
            | Self::OverBudget(why)
            | Self::Interrupted(why) => why,
            Self::Command(_) | Self::ReaderGone => "",
        }
    }

    /// Says why on standard error.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::Failed(why) => {
                remark(&format!("headstart: {why}"));
                ExitCode::from(1)
            }
            Self::Input(_) | Self::InFile(_) => {
                remark(&format!("headstart: {}", self.why()));
                ExitCode::from(2)
            }
            Self::OverBudget(why) => {
                remark(&format!("headstart: over budget: {why}"));
                ExitCode::from(3)
            }
            Self::Interrupted(why) => {
                remark(&format!("headstart: {why}"));
                ExitCode::from(130)
            }
            Self::Command(code) => ExitCode::from(*code),
            Self::ReaderGone => ExitCode::SUCCESS,
        }
    }
}

/// Several things that are all done, whatever becomes of the others: the first failure counts.
#[derive(Debug, Default)]
pub struct FirstFailure(Option<Failure>);

impl FirstFailure {
    /// One of them is done. A reader that has left wants no more of the results, and is no failure.
    pub fn note(&mut self, done: Result<(), Failure>) {
        let failure = done.err().filter(|failure| !matches!(failure, Failure::ReaderGone));
        self.0 = self.0.take().or(failure);
    }

    /// The first failure, if there was one.
    pub fn end(self) -> Result<(), Failure> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Says something on standard error.
pub fn remark(text: &str) {
    // If standard error has no reader, the message is lost.
    let _ = writeln!(io::stderr(), "{}", harmless(text));
}

/// Prints a note beside the results on standard error.
pub fn note(text: &str) {
    remark(&format!("note: {text}"));
}

/// Text from a file must not control the terminal: control characters other than line ends are
/// shown as "?".
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '?' } else { c }).collect()
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::InFile(error)
    }
}

/// Writing results failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Failed(format!("cannot write results: {error}")),
        }
    }
}

/// Results cannot be stored or read.
#[cfg(feature = "results")]
impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Self {
        match error {
            ResultsError::Refused(why) => Self::Input(why),
            ResultsError::Failed(why) => Self::Failed(why),
        }
    }
}
