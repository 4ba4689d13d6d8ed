//! A cell's times by quinn and in simulation.

use super::cell::{LoadTimes, QuicCell, QuicControl};
use super::peer::QuicPeer;
use serde::Serialize;
use std::io;
use std::path::Path;

/// A cell is inside if the simulated time is within this part of quinn's.
pub const TOLERANCE: f64 = 0.1;

/// A cell is inside as well if the difference is within this number of its standard errors.
pub const TOLERATED_ERRORS: f64 = 2.0;

/// A cell and its times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedCell {
    /// The path.
    pub path: String,
    /// Objects of the page.
    pub objects: usize,
    /// Bytes of each.
    pub bytes: u64,
    /// The server's congestion control.
    pub control: QuicControl,
    /// Page times by quinn.
    pub peer: LoadTimes,
    /// Simulated page times.
    pub simulated: LoadTimes,
    /// Loads that were repeated because packets were late.
    pub redone: u32,
    /// Scheduling delay of all packets but one in a hundred, seconds: that of the latest load which
    /// counts.
    pub lateness_p99_s: f64,
}

impl ComparedCell {
    /// Loads and simulates a cell. Captures of the first load go to `keep`.
    ///
    /// # Errors
    /// If the machine does not let it ([`testbed::cannot_be_had`]), or a load fails.
    pub fn of(cell: &QuicCell, seed: u64, keep: Option<&Path>) -> io::Result<Self> {
        let peer = QuicPeer::new(cell)?;
        let mut loads = Vec::new();
        for load in 0..cell.loads {
            let load_seed = seed.wrapping_add(u64::from(load));
            loads.push(peer.load(load_seed, keep.filter(|_| load == 0))?);
        }
        let times: Vec<f64> = loads.iter().map(|load| load.time.as_secs_f64()).collect();
        let latest = loads.iter().map(|load| load.scheduling_delay_p99).max().unwrap_or_default();
        let unended = || io::Error::other(format!("{}: a simulated load did not end", cell.path));
        Ok(Self {
            path: cell.path.to_string(),
            objects: cell.objects,
            bytes: cell.bytes,
            control: cell.control,
            peer: LoadTimes::of(&times).ok_or_else(|| io::Error::other("no load"))?,
            simulated: cell.simulate(seed).ok_or_else(unended)?,
            redone: loads.iter().map(|load| load.redone).sum(),
            lateness_p99_s: latest.as_secs_f64(),
        })
    }

    /// Simulated time over quinn's, means.
    pub fn ratio(&self) -> f64 {
        self.simulated.mean_s / self.peer.mean_s
    }

    /// True if both are within [`TOLERANCE`], or chance alone may separate them.
    pub fn is_inside(&self) -> bool {
        let difference = (self.simulated.mean_s - self.peer.mean_s).abs();
        let error = self.simulated.error_s.hypot(self.peer.error_s);
        difference <= (TOLERANCE * self.peer.mean_s).max(TOLERATED_ERRORS * error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_inside_within_a_tenth_or_two_errors() {
        let of = |simulated: f64, error_s: f64| {
            let range = |s| LoadTimes { loads: 5, mean_s: s, error_s, least_s: s, greatest_s: s };
            ComparedCell {
                path: String::new(),
                objects: 1,
                bytes: 1,
                control: QuicControl::Cubic,
                peer: range(1.0),
                simulated: range(simulated),
                redone: 0,
                lateness_p99_s: 0.0,
            }
        };
        let inside = |error| [0.89, 0.91, 1.09, 1.11].map(|time| of(time, error).is_inside());
        assert_eq!(inside(0.0), [false, true, true, false]);
        // Two errors of 0.03 make one of 0.042, and twice that is below a tenth. Two of 0.04 make
        // 0.057.
        assert_eq!(inside(0.03), [false, true, true, false]);
        assert_eq!(inside(0.04), [true; 4]);
    }
}
