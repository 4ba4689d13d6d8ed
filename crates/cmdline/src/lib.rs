//! Common parts of the command lines of all programs: `headstart`, `headstart-agent`,
//! `headstart-gateway` and `headstart-lab`.
//!
//! The options of a command are clap's. The texts behind them in `--help` are an [`Appendix`],
//! which is also sections of the man page ([`man`]). [`complete`] answers a shell that asks which
//! words may come next: clap knows commands and options, and the program supplies the values.
//!
//! Cargo features add what commands share: `commands` (failures and exit codes, output, files,
//! signals, the other programs), `captures` (reading captures and access logs), `races` (schemes
//! and who can race), `results`.

mod appendix;
#[cfg(feature = "captures")]
pub mod captures;
pub mod complete;
pub mod documents;
#[cfg(feature = "commands")]
mod failure;
#[cfg(feature = "races")]
pub mod field;
#[cfg(feature = "commands")]
pub mod input;
#[cfg(feature = "commands")]
pub mod installed;
#[cfg(feature = "commands")]
pub mod interrupt;
#[cfg(feature = "commands")]
pub mod jobs;
pub mod man;
#[cfg(feature = "races")]
pub mod names;
mod prefix;
#[cfg(feature = "commands")]
pub mod programs;
#[cfg(feature = "commands")]
pub mod progress;
#[cfg(feature = "commands")]
pub mod report_file;
#[cfg(feature = "commands")]
pub mod request;
#[cfg(feature = "commands")]
pub mod stdout;

pub use appendix::{Appendix, EXIT, Entry};
#[cfg(feature = "commands")]
pub use failure::{Failure, FirstFailure, harmless, note, remark};
pub use prefix::parse_prefix;
