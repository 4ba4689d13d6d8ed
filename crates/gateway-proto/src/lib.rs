//! The protocol between the servers of a site and their performance gateway, version 1.
//!
//! [`v1`] is generated from `proto/headstart/gateway/v1.proto`, which describes each message. The
//! generated code is in the repository; `tests/generated.rs` compares it with the description. Only
//! [`network`] converts prefixes to messages and back, only [`comparison`] sums and findings, and
//! only [`codec`] converts messages to bytes. The crate has no transport: a client adds tonic's
//! `channel`, a server its `server`.

pub mod codec;
pub mod comparison;
pub mod network;

/// Messages, client and server of version 1.
// Comments come from the description and do not keep to the rules of doc comments here. `include!`
// keeps the file from rustfmt.
#[allow(missing_docs, unreachable_pub, clippy::all, rustdoc::all)]
pub mod v1 {
    include!("../generated/v1.rs");
}
