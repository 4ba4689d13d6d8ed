//! Processors that do not sleep while packets are to be handed over in time.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// Device for a latency limit (`Documentation/admin-guide/pm/cpuidle.rst`, "Power Management
/// Quality of Service"). While a process holds the file, the kernel uses no idle state with a
/// longer exit latency than the written one, microseconds.
const LATENCY: &str = "/dev/cpu_dma_latency";

/// Keeps this machine's processors awake until it is dropped, where that is allowed (root). A
/// virtual machine's idle processors are given to other machines, and wake up to milliseconds late,
/// which nothing reports. They take power instead.
#[derive(Debug)]
pub(crate) struct Awake {
    _held: Option<File>,
}

impl Awake {
    /// Starts to hold the limit. Without permission the processors sleep as usual; the scheduling
    /// delay of packets is measured anyway.
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
