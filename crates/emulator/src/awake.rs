//! Processors that do not sleep while packets are to be handed over in time.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// The kernel uses no state of idleness from which it would wake later than what is written here,
/// microseconds, as long as whoever wrote it holds the file
/// (`Documentation/admin-guide/pm/cpuidle.rst`, "Power Management Quality of Service").
const LATENCY: &str = "/dev/cpu_dma_latency";

/// Keeps this machine's processors awake until it is dropped, where that is allowed (root). A
/// virtual machine's that sleep are given to others, and woken up to milliseconds late, of which
/// nobody tells it. They take power instead.
#[derive(Debug)]
pub(crate) struct Awake {
    _held: Option<File>,
}

impl Awake {
    /// From now on. Without the right to it they sleep as ever; how late packets are is measured
    /// anyway.
    pub(crate) fn begin() -> Self {
        let held = OpenOptions::new().read(true).write(true).open(LATENCY);
        Self { _held: held.ok().filter(|mut file| file.write_all(&0_i32.to_ne_bytes()).is_ok()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// The file reads as the least that anybody demands.
    #[test]
    fn no_latency_is_allowed_while_it_lives() {
        let _awake = Awake::begin();
        let Ok(mut file) = File::open(LATENCY) else {
            test_support::skipped(format!("{LATENCY} cannot be opened"));
            return;
        };
        let mut least = [1; 4];
        file.read_exact(&mut least).unwrap();
        assert_eq!(i32::from_ne_bytes(least), 0);
    }
}
