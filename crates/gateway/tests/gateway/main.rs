//! A whole gateway on ports of its own, which gets questions and reports over TLS as from agents.

mod authorised;
mod bed;
mod browser;
mod connections;
mod enrolled;
#[path = "../failover/mod.rs"]
mod failover;
mod fleet;
mod forgotten;
mod hostile;
mod kubernetes;
mod observer;
mod protocol;
mod restart;
mod revoked;
mod rogue;
mod security;
mod share;
mod shared;
mod sites;
mod store;
mod swept;
mod three;
mod versions;
mod web;
