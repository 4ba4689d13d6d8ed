//! Pages and their loaders.

mod corpus;
mod delivery;
mod exports;
mod pipe;
mod recorded;
