//! How many threads `--jobs` asks for.

use std::thread;

/// So many as are asked for; one per core if nothing is said.
pub fn threads(asked: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cores, usize::from)
}
