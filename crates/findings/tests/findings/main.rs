//! Findings about connections: shares of their time, and what a warm start would gain.

mod access_log;
mod account;
mod properties;
mod warm;
