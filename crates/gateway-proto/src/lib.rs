//! The protocol between the servers of a site and their performance gateway, version 1.
//!
//! [`v1`] is made of `proto/headstart/gateway/v1.proto`, which says what each message means. [`network`] is the one place
//! where prefixes become messages and back, [`codec`] the one where messages become bytes. No transport: a client adds tonic's `channel`, a server its `server`.

pub mod codec;
pub mod network;

/// Messages, client and server of version 1.
// Comments come from the description and do not keep to the rules of doc comments here.
#[allow(missing_docs, unreachable_pub, clippy::all, rustdoc::all)]
pub mod v1 {
    tonic::include_proto!("headstart.gateway.v1");
}
