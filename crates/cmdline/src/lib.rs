//! What the command lines of both programs, `headstart` and `headstart-agent`, have in common.
//!
//! The options of a command are clap's. What stands behind them in `--help` is an [`Appendix`], which is also told as
//! sections of the man page ([`man`]). [`complete`] answers a shell that asks which words may come next: clap knows
//! commands and options, and the program says what the values are.

mod appendix;
pub mod complete;
pub mod documents;
pub mod man;
mod prefix;

pub use appendix::{Appendix, EXIT, Entry};
pub use prefix::parse_prefix;
