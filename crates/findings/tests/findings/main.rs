//! Findings about connections: shares of their time, and what a warm start would gain.

mod account;
mod properties;
mod warm;
