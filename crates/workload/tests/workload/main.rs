//! Pages and their loaders.

mod corpus;
mod delivery;
mod exports;
mod kinds;
mod pipe;
mod recorded;
