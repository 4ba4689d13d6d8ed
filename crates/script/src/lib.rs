//! Scenario scripts: what a TCP must send, and when, in a subset of packetdrill's own grammar.
//!
//! [`parse`] turns the text into a [`Script`]; [`run`] plays it in virtual time against one
//! [`tcp::Host`] under a scheme, [`play`] against any [`Subject`]. Lines that begin with `<` are
//! segments handed to the host. Lines with `>` are segments that the host must send, in that order
//! and at those times; the first one that differs is the result. `scripts/README.md` at the root of
//! the repository is the reference of the grammar for those who write scripts.
//!
//! Read on in [`model`] (the content of a script), `parse/` (text to model), `run/` (model against
//! host), `notation.rs` (segments as scripts write them).

pub mod code;
mod error;
mod foreign;
pub mod machine;
pub mod model;
mod notation;
pub mod number;
mod parse;
mod run;

pub use error::{Mismatch, RefusalKind, ScriptError};
pub use model::Script;
pub use notation::segment as written_segment;
pub use parse::parse;
pub use run::{
    ConnectRequest, ConnectionRequest, ObservedSegment, RunReport, SocketProgress, Subject,
    VirtualHost, play, run,
};
