//! Links and queues: whatever the load, packets are conserved and disciplines keep their rules.

mod common;
mod conservation;
mod corpus;
mod disciplines;
mod reference;
