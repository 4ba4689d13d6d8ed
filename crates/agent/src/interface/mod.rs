//! The interfaces of a running agent: questions and answers at its Unix socket with their JSON
//! schemas, metrics by HTTP, and the messages by which a new agent takes over.
//!
//! The module defines and carries messages; it reads types of the modules below. It does not know
//! who answers, and decides nothing.

pub mod control_socket;
pub(crate) mod handover;
pub(crate) mod metrics;
pub mod question;
pub mod schema;
