//! Number of threads for `--jobs`.

use std::thread;

/// The requested number, or one per core.
pub fn threads(asked: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cores, usize::from)
}
