//! BBR's integer arithmetic (draft-cardwell-iccrg-bbr-congestion-control-00), in the fixed point of
//! Linux `tcp_bbr.c`.
//!
//! Bandwidth is segments per microsecond times 2^24, a gain is in parts of 256, times are
//! microseconds, windows segments, pacing rates bytes per second. Products saturate.

/// Bits behind the point of a bandwidth.
pub const BW_SCALE: u32 = 24;
/// A bandwidth of one segment per microsecond.
pub const BW_UNIT: u64 = 1 << BW_SCALE;
/// A gain of one.
pub const UNIT: u64 = 256;
/// 2/ln 2: the least gain that doubles the rate every round trip (§4.3.2.1).
pub const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Its inverse, which drains start-up's queue in a round (§4.3.3).
pub const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// In-flight data that tolerates delayed and stretched ACKs (§4.2.3.2).
pub const CWND_GAIN: u64 = 2 * UNIT;
/// Gains of the phases in which bandwidth is probed: up, down again, six of cruising (§4.3.4.1).
pub const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Segments in flight while the round trip is probed, and the least window (§4.2.3.5).
pub const MIN_WINDOW: u64 = 4;
/// Rounds that a bandwidth sample counts (§4.1.1.5).
pub const BW_WINDOW_ROUNDS: u64 = 10;

/// Pacing is this percentage below the bandwidth in the mean, so that queues drain.
const PACING_MARGIN_PERCENT: u64 = 1;
/// Below this rate, bytes per second (1.2 Mbit/s), segments leave one by one.
const SLOW_RATE: u64 = 1_200_000 / 8;
/// Batches hold the data of about a millisecond: the rate, divided by 2^10.
const BATCH_SHIFT: u32 = 10;
/// Bytes that segmentation offload takes at most at once: 64 KiB less the room for headers.
const LARGEST_BATCH: u64 = (64 << 10) - 1 - 320;
/// Segments of a batch that the window makes room for at most.
const MAX_BUDGETED: u64 = 127;
/// Batches grow on short round trips: halved for every 2^9 microseconds.
const BATCH_RTT_SHIFT: u32 = 9;

/// Bandwidth of `segments` delivered in `us` microseconds; zero for no time.
pub const fn bandwidth(segments: u64, us: u64) -> u64 {
    match segments.saturating_mul(BW_UNIT).checked_div(us) {
        Some(bw) => bw,
        None => 0,
    }
}

/// Segments that fill a path of bandwidth `bw` and round trip `min_rtt_us`, times `gain`; rounded
/// up, so that rounding does not feed on itself (§4.2.3.2).
pub const fn bdp(bw: u64, min_rtt_us: u64, gain: u64) -> u64 {
    let scaled = bw.saturating_mul(min_rtt_us).saturating_mul(gain) / UNIT;
    scaled.div_ceil(BW_UNIT)
}

/// Pacing rate, bytes per second, for segments of `mss` bytes: the bandwidth times `gain`, less
/// the margin (§4.2.1).
pub const fn pacing_rate(bw: u64, mss: u64, gain: u64) -> u64 {
    let rate = bw.saturating_mul(mss).saturating_mul(gain) / UNIT;
    rate.saturating_mul(1_000_000 / 100 * (100 - PACING_MARGIN_PERCENT)) >> BW_SCALE
}

/// Rate, bytes per second, of a bandwidth with segments of `mss` bytes, including the pacing
/// margin.
pub const fn bytes_per_second(bw: u64, mss: u64) -> u64 {
    pacing_rate(bw, mss, UNIT)
}

/// Least segments of a batch.
const fn least_batch(rate: u64) -> u64 {
    if rate < SLOW_RATE { 1 } else { 2 }
}

/// Segments that leave back to back at a pacing rate (§4.2.2, `BBR.send_quantum`): those of about a
/// millisecond, more on short round trips (Linux `tcp_tso_autosize`).
pub const fn batch(rate: u64, mss: u64, min_rtt_us: u64) -> u64 {
    let halvings = min_rtt_us >> BATCH_RTT_SHIFT;
    let more = if halvings < 32 { LARGEST_BATCH >> halvings } else { 0 };
    let bytes = (rate >> BATCH_SHIFT).saturating_add(more);
    let segments = min(bytes, LARGEST_BATCH) / max(mss, 1);
    max(segments, least_batch(rate))
}

/// Segments of a batch that the window provides for; short round trips do not count here.
pub const fn budgeted_batch(rate: u64, mss: u64) -> u64 {
    let segments = min(rate >> BATCH_SHIFT, LARGEST_BATCH) / max(mss, 1);
    min(max(segments, least_batch(rate)), MAX_BUDGETED)
}

/// A window with room for a batch at the sender's queue, one in its offload and one at the
/// receiver's, even, so that delayed ACKs cover it (§4.2.3.2).
pub const fn quantized(window: u64, batch: u64) -> u64 {
    let window = window.saturating_add(3 * batch);
    window.saturating_add(window & 1)
}

const fn min(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}

const fn max(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_gains_are_those_of_the_draft() {
        // 2.885 * 256 = 738.56, rounded up; 256 / 2.885 = 88.7, rounded down.
        assert_eq!((HIGH_GAIN, DRAIN_GAIN), (739, 88));
        assert_eq!(CYCLE[..3], [320, 192, 256]);
        // Over a cycle as much is sent as the bandwidth carries.
        assert_eq!(CYCLE.iter().sum::<u64>(), 8 * UNIT);
    }

    #[test]
    fn a_window_of_ten_over_80_ms() {
        // 10 segments in 80 ms are 125 per second: 2^24 / 8000 = 2097.15.
        let bw = bandwidth(10, 80_000);
        assert_eq!(bw, 2097);
        // Times 80 ms: 9.9993, rounded up 10; with the high gain 28.86, rounded up 29.
        assert_eq!(bdp(bw, 80_000, UNIT), 10);
        assert_eq!(bdp(bw, 80_000, HIGH_GAIN), 29);
        // 125/s * 1448 B * 739/256 * 0.99 = 517,273 B/s; the fixed point loses 2097.15 -> 2097.
        let rate = pacing_rate(bw, 1448, HIGH_GAIN);
        assert!((517_200..517_273).contains(&rate), "{rate}");
        assert_eq!(bandwidth(10, 0), 0);
    }

    #[test]
    fn batches_hold_a_millisecond_and_two_segments_at_least() {
        // 517 kB/s >> 10 is 505 bytes: less than a segment, so two; one below 150 kB/s.
        assert_eq!(batch(517_273, 1448, 80_000), 2);
        assert_eq!(batch(149_999, 1448, 80_000), 1);
        // 12.5 MB/s (100 Mbit/s): 12,207 bytes are 8 segments.
        assert_eq!(batch(12_500_000, 1448, 80_000), 8);
        // At 10 ms, 19 halvings of 64 KiB leave nothing; at 1 ms (1) half of it is added.
        assert_eq!(batch(12_500_000, 1448, 10_000), 8);
        assert_eq!(batch(12_500_000, 1448, 1_000), (12_207 + 65_215 / 2) / 1448);
        assert_eq!(batch(u64::MAX, 1448, 0), 65_215 / 1448);
        assert_eq!(budgeted_batch(12_500_000, 1448), 8);
        assert_eq!(budgeted_batch(u64::MAX, 100), 127);
    }

    #[test]
    fn windows_are_even_and_hold_three_batches() {
        assert_eq!(quantized(10, 2), 16);
        assert_eq!(quantized(11, 2), 18);
        assert_eq!(quantized(11, 1), 14);
    }

    proptest! {
        #[test]
        fn no_input_overflows(a: u64, b: u64, c: u64) {
            bandwidth(a, b);
            bdp(a, b, c);
            pacing_rate(a, b, c);
            batch(a, b, c);
            budgeted_batch(a, b);
            quantized(a, b % 200);
        }
    }
}
