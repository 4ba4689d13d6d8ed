//! The rate of a path by the ACKs of a short flight that left as a burst, and the first window that
//! follows it. `crates/agent/bpf/arith.h` is the same in C, for the kernel.

use crate::reuse::bdp;

/// Segments: a probe alone allows no wider first window, since compressed ACKs make a path seem too
/// fast.
const MAX_PROBED: u32 = 64;

/// The rate, in bytes a second, of a path that acknowledged `bytes` within `took_us` microseconds.
/// It is 0 if these are less than a segment of `mss` bytes, or came at one instant.
///
/// # Examples
/// ```
/// use arith::probe;
/// // The second and third segment of a server's TLS flight of 3500 bytes, at 20 Mbit/s.
/// assert_eq!(probe::rate(2052, 821, 1448), 2_499_390);
/// assert_eq!((probe::rate(1447, 821, 1448), probe::rate(2052, 0, 1448)), (0, 0));
/// ```
pub const fn rate(bytes: u32, took_us: u32, mss: u32) -> u64 {
    if bytes < mss || took_us == 0 {
        return 0;
    }
    bytes as u64 * 1_000_000 / took_us as u64
}

/// The first window, in segments of `mss` bytes, on a path of which a probe has shown the `rate` in
/// bytes a second. It fills a round trip of `rtt_us` microseconds, with the stock window `cold` as
/// least and 64 as most.
///
/// # Examples
/// ```
/// use arith::probe;
/// // 20 ms at 20 Mbit/s are 50,000 bytes, 34 segments, and three.
/// assert_eq!(probe::window(2_500_000, 20_000, 1448, 10), 37);
/// assert_eq!(probe::window(250_000, 20_000, 1448, 10), 10);
/// assert_eq!(probe::window(37_500_000, 20_000, 1448, 10), 64);
/// ```
pub const fn window(rate: u64, rtt_us: u32, mss: u32, cold: u32) -> u32 {
    let full = bdp(rate, rtt_us, mss);
    let wide = if full < MAX_PROBED { full } else { MAX_PROBED };
    if wide > cold { wide } else { cold }
}
