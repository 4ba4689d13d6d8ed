//! `cwnd_opt` against the window that minimises the time itself: where and by how much they differ.

use super::completion::{Line, SEGMENT};
use super::epochs::round_trips;
use crate::path::{PathSpec, QueueSize};
use arith::epoch::Choice;
use serde::Serialize;
use units::{Duration, Rate};

/// Rates of the matrix, bit/s.
pub const RATES: [u64; 4] = [1_500_000, 10_000_000, 50_000_000, 200_000_000];
/// Round trips of the matrix, milliseconds.
pub const RTTS: [u64; 5] = [10, 40, 80, 200, 600];
/// Queues of the matrix, thousandths of the bandwidth-delay product.
pub const QUEUES: [u64; 2] = [250, 1000];
/// Packets that a queue of the matrix holds at least: a quarter of the smallest product is less than
/// one packet, and a router that drops every packet is none.
pub const LEAST_QUEUE: u32 = 4;
/// Sizes of the matrix, bytes.
pub const SIZES: [u64; 5] = [10_000, 30_000, 100_000, 300_000, 1_000_000];

/// A transfer of one size from each of three first windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Size in bytes.
    pub bytes: u64,
    /// The same in segments.
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

impl Comparison {
    /// By how much more time `cwnd_opt` takes than the fastest window, as a share of the latter.
    pub fn excess(&self) -> f64 {
        self.shifted_s / self.fastest_s - 1.0
    }
}

/// Compares the windows for transfers of these sizes in bytes.
pub fn compare(line: &Line, sizes: &[u64]) -> Vec<Comparison> {
    sizes.iter().map(|bytes| comparison(line, *bytes)).collect()
}

fn comparison(line: &Line, bytes: u64) -> Comparison {
    let segments = bytes.div_ceil(SEGMENT).max(1);
    let share = line.share();
    let window = |shift| share.initial_window(segments, Choice { shift, not_below_bottom: false });
    let (shifted, unshifted) = (window(true), window(false));
    let seconds = |time: Duration| time.as_secs_f64();
    let (fastest, time) = line.fastest(segments);
    Comparison {
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
    /// By size.
    pub sizes: Vec<Comparison>,
}

/// Every rate with every round trip and every queue; `per_ack` segments to an ACK.
pub fn matrix(per_ack: u32) -> Vec<Matrix> {
    let rates = RATES.iter();
    let paths = rates.flat_map(|rate| RTTS.iter().map(move |rtt| (*rate, *rtt)));
    let paths = paths.flat_map(|path| QUEUES.iter().map(move |queue| (path, *queue)));
    paths.map(|((rate, rtt), queue)| matrix_row((rate, rtt, queue), per_ack)).collect()
}

/// A path of the matrix: rate in bit/s, round trip in milliseconds, queue in thousandths of their
/// product, in whole packets of 1500 bytes and at least [`LEAST_QUEUE`].
///
/// # Panics
/// If the rate is zero or above [`MAX_RATE`](crate::path::MAX_RATE).
pub fn matrix_path(rate: u64, rtt: u64, queue: u64) -> PathSpec {
    let (rate, rtt) = (Rate::from_bps(rate), Duration::from_millis(rtt));
    let bytes = u128::from(rate.bytes_in(rtt)) * u128::from(queue) / 1000;
    let packets = u32::try_from(bytes / 1500).unwrap_or(u32::MAX).max(LEAST_QUEUE);
    PathSpec::new(rate, rtt, QueueSize::Packets(packets)).expect("a rate that can be")
}

fn matrix_row((rate, rtt, queue): (u64, u64, u64), per_ack: u32) -> Matrix {
    let line = Line::of(&matrix_path(rate, rtt, queue), per_ack);
    Matrix {
        rate_bps: rate,
        rtt_s: Duration::from_millis(rtt).as_secs_f64(),
        queue_bdp: queue as f64 / 1000.0,
        pipe: line.pipe(),
        capacity: line.capacity(),
        sizes: compare(&line, &SIZES),
    }
}
