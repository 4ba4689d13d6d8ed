//! `cwnd_opt` against the window that minimises the time itself: where and by how much they differ.

use super::completion::{ModelPath, SEGMENT};
use super::epochs::round_trips;
use arith::epoch::WindowChoice;
use link::matrix::{self, MatrixPath, SIZES};
use serde::Serialize;
use units::Duration;

/// A transfer of one size from each of three first windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowComparison {
    /// Size in bytes.
    pub bytes: u64,
    /// Measured value in segments.
    pub segments: u64,
    /// Windows: the fastest, …
    pub fastest: u64,
    /// … `cwnd_opt`, and …
    pub shifted: u64,
    /// … `cwnd_opt` before the shift.
    pub unshifted: u64,
    /// Seconds from the fastest.
    pub fastest_s: f64,
    /// Seconds from `cwnd_opt`.
    pub shifted_s: f64,
    /// Seconds from `cwnd_opt` before the shift.
    pub unshifted_s: f64,
    /// Seconds that the bytes take on a link that never idles.
    pub bound_s: f64,
    /// Round trips from the fastest, as the paper counts them.
    pub fastest_round_trips: u64,
    /// Round trips from `cwnd_opt`.
    pub shifted_round_trips: u64,
}

impl WindowComparison {
    /// Additional time of `cwnd_opt` over the fastest window, as a share of the latter.
    pub fn excess(&self) -> f64 {
        self.shifted_s / self.fastest_s - 1.0
    }
}

/// Compares the windows for transfers of these sizes in bytes.
pub fn compare(line: &ModelPath, sizes: &[u64]) -> Vec<WindowComparison> {
    sizes.iter().map(|bytes| comparison(line, *bytes)).collect()
}

fn comparison(line: &ModelPath, bytes: u64) -> WindowComparison {
    let segments = bytes.div_ceil(SEGMENT).max(1);
    let share = line.share();
    let window =
        |shift| share.initial_window(segments, WindowChoice { shift, not_below_bottom: false });
    let (shifted, unshifted) = (window(true), window(false));
    let seconds = |time: Duration| time.as_secs_f64();
    let (fastest, time) = line.fastest(segments);
    WindowComparison {
        bytes,
        segments,
        fastest,
        shifted,
        unshifted,
        fastest_s: seconds(time),
        shifted_s: seconds(line.completion(segments, shifted)),
        unshifted_s: seconds(line.completion(segments, unshifted)),
        bound_s: seconds(line.bound(segments)),
        fastest_round_trips: round_trips(share, fastest, segments),
        shifted_round_trips: round_trips(share, shifted, segments),
    }
}

/// A path of the matrix, and the comparison for each of [`SIZES`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matrix {
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// Round trip, seconds.
    pub rtt_s: f64,
    /// Queue as part of the bandwidth-delay product.
    pub queue_bdp: f64,
    /// Segments that keep the link busy, `P`.
    pub pipe: u64,
    /// Segments that the path holds, `Wc`.
    pub capacity: u64,
    /// Comparisons by size.
    pub sizes: Vec<WindowComparison>,
}

/// Every rate with every round trip and every queue; `per_ack` segments to an ACK.
pub fn matrix(per_ack: u32) -> Vec<Matrix> {
    matrix::paths().map(|path| matrix_row(path, per_ack)).collect()
}

fn matrix_row(path: MatrixPath, per_ack: u32) -> Matrix {
    let line = ModelPath::of(&path.spec(), per_ack);
    Matrix {
        rate_bps: path.rate_bps,
        rtt_s: Duration::from_millis(path.rtt_ms).as_secs_f64(),
        queue_bdp: path.queue_millibdp as f64 / 1000.0,
        pipe: line.pipe(),
        capacity: line.capacity(),
        sizes: compare(&line, &SIZES),
    }
}
