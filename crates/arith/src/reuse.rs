//! Memory of a path and its reuse: the window that a connection has proven, its decay with age, its
//! bounds, and the rate at which it is sent.
//!
//! `crates/agent/bpf/arith.h` is the same in C, for the kernel; a test there holds the two
//! together.

/// `value` after `elapsed`, when it halves after each `half_life`, both in the same unit of time.
/// It is exact after whole half-lives, and a straight line between them (at most 6.2 % above the
/// exponential). With a half-life of 0 nothing is left after any time.
///
/// # Examples
/// ```
/// use arith::reuse::decayed;
/// assert_eq!(decayed(1000, 0, 60), 1000);
/// assert_eq!(decayed(1000, 60, 60), 500);
/// // Half-way between 1000 and 500.
/// assert_eq!(decayed(1000, 30, 60), 750);
/// assert_eq!(decayed(1000, 120, 60), 250);
/// ```
pub const fn decayed(value: u64, elapsed: u64, half_life: u64) -> u64 {
    if elapsed == 0 {
        return value;
    }
    if half_life == 0 {
        return 0;
    }
    let halvings = elapsed / half_life;
    if halvings >= 64 {
        return 0;
    }
    let halved = value >> halvings;
    // Thousand-and-twenty-fourths of the way to the next halving, so that nothing overflows.
    let part = part_of_1024(elapsed % half_life, half_life);
    let half = halved / 2;
    halved - (half / 1024 * part + half % 1024 * part / 1024)
}

/// `1024 * part / whole`, rounded down, for `part < whole`.
const fn part_of_1024(part: u64, whole: u64) -> u64 {
    let limit = u64::MAX / 1024;
    if part <= limit { part * 1024 / whole } else { part / (whole / 1024) }
}

/// The duration of `round_trips` round trips of `srtt_us` microseconds in nanoseconds, as the
/// half-life of a remembered window; it saturates.
///
/// # Examples
/// ```
/// use arith::reuse::half_life_ns;
/// assert_eq!(half_life_ns(100_000, 3000), 300_000_000_000);
/// assert_eq!(half_life_ns(u32::MAX, u32::MAX), u64::MAX);
/// ```
pub const fn half_life_ns(srtt_us: u32, round_trips: u32) -> u64 {
    (srtt_us as u64 * 1000).saturating_mul(round_trips as u64)
}

/// The first window that a memory of `remembered` bytes may give: never above `cap`, never below
/// the `cold` one that a sender without memory begins with. A cap below the cold window changes
/// nothing of the cold one.
///
/// # Examples
/// ```
/// use arith::reuse::first_window;
/// assert_eq!(first_window(50_000, 14_600, 1_000_000), 50_000);
/// assert_eq!(first_window(1_460, 14_600, 1_000_000), 14_600);
/// assert_eq!(first_window(1_000_000_000_000, 14_600, 1_000_000), 1_000_000);
/// ```
pub const fn first_window(remembered: u64, cold: u64, cap: u64) -> u64 {
    let capped = if remembered < cap { remembered } else { cap };
    if capped > cold { capped } else { cold }
}

/// Part of a reservation that is still held when it is released evenly within a `round` trip, of
/// which `elapsed` have passed, in the same unit of time. First flights that begin together share
/// the window that a path has proven in a round trip. Segments that are under way by then are not
/// available.
///
/// # Examples
/// ```
/// use arith::reuse::unexpired_part;
/// assert_eq!(unexpired_part(100, 0, 80), 100);
/// assert_eq!(unexpired_part(100, 20, 80), 75);
/// assert_eq!(unexpired_part(100, 80, 80), 0);
/// ```
pub const fn unexpired_part(reserved: u64, elapsed: u64, round: u64) -> u64 {
    if elapsed >= round {
        return 0;
    }
    let part = part_of_1024(elapsed, round);
    reserved - (reserved / 1024 * part + reserved % 1024 * part / 1024)
}

/// Whether a round trip of `now` may be of the path on which `remembered` was the lowest, both in
/// the same unit. It may be no less than half of it, and no more than ten times (RFC 9959 §3,
/// Careful Resume). A round trip of 0 was not measured and matches no path.
///
/// # Examples
/// ```
/// use arith::reuse::same_round_trip;
/// assert!(same_round_trip(80, 80) && same_round_trip(40, 80) && same_round_trip(800, 80));
/// assert!(!same_round_trip(39, 80) && !same_round_trip(801, 80) && !same_round_trip(0, 0));
/// ```
pub const fn same_round_trip(now: u32, remembered: u32) -> bool {
    let (now, remembered) = (now as u64, remembered as u64);
    now != 0 && remembered != 0 && now * 2 >= remembered && now <= remembered * 10
}

/// Bytes a second, 10 Mbit/s: the rate assumed for an unknown path, for the segments that a wide
/// cold start sends in addition to a stock window.
pub const WIDE_COLD_RATE: u64 = 1_250_000;

/// The first window, in segments of `mss` bytes, of a cold start that sends more than a stock one.
/// It is 10 at once, and the segments that [`WIDE_COLD_RATE`] carries in a round trip of `rtt_us`
/// microseconds, 32 together at most. A slower path queues the rest, 22 segments; a faster one ends
/// a transfer of 30 kB a round trip sooner.
///
/// # Examples
/// ```
/// use arith::reuse::wide_cold_window;
/// // 25,000 bytes are 17 segments, 12,500 are 8.
/// assert_eq!(wide_cold_window(20_000, 1448), 27);
/// assert_eq!(wide_cold_window(10_000, 1448), 18);
/// assert_eq!(wide_cold_window(80_000, 1448), 32);
/// assert_eq!(wide_cold_window(80_000, 0), 10);
/// ```
pub const fn wide_cold_window(rtt_us: u32, mss: u32) -> u32 {
    if mss == 0 {
        return 10;
    }
    let wide = 10 + WIDE_COLD_RATE * rtt_us as u64 / 1_000_000 / mss as u64;
    if wide < 32 { wide as u32 } else { 32 }
}

/// Time to wait, in microseconds, for the answer to a SYN or SYN-ACK on a path whose smoothed round
/// trip was `srtt_us`. It is twice that, at least 20 ms. `draw` (its lower 16 bits) adds up to an
/// eighth, since connections that begin together would retransmit, and lose, together. It is no
/// longer than the second of an unknown path (RFC 6298 §2.1). 0: nothing is known.
///
/// # Examples
/// ```
/// use arith::reuse::handshake_wait;
/// assert_eq!(handshake_wait(80_000, 0), 160_000);
/// // Half of an eighth of 160 ms.
/// assert_eq!(handshake_wait(80_000, 0x8000), 170_000);
/// assert_eq!(handshake_wait(1, 0), 20_000);
/// assert_eq!(handshake_wait(500_000, 0), 1_000_000);
/// assert_eq!(handshake_wait(0, 0), 0);
/// ```
pub const fn handshake_wait(srtt_us: u32, draw: u32) -> u32 {
    if srtt_us == 0 {
        return 0;
    }
    let twice = srtt_us as u64 * 2;
    let least = if twice > 20_000 { twice } else { 20_000 };
    let wait = least + ((least / 8 * (draw as u64 & 0xffff)) >> 16);
    if wait < 1_000_000 { wait as u32 } else { 1_000_000 }
}

/// Number of doublings until a wait of `wait_us` microseconds is a second or longer; 0 without a
/// wait. The sender retransmits that many SYNs more before it gives up, so it gives up no sooner
/// than if the first had waited for a second.
///
/// # Examples
/// ```
/// use arith::reuse::doublings_to_second;
/// assert_eq!(doublings_to_second(1_000_000), 0);
/// assert_eq!(doublings_to_second(500_000), 1);
/// // 20, 40, 80, 160, 320, 640, 1280 ms.
/// assert_eq!(doublings_to_second(20_000), 6);
/// ```
pub const fn doublings_to_second(wait_us: u32) -> u32 {
    let (mut wait, mut doublings) = (wait_us as u64, 0);
    while wait != 0 && wait < 1_000_000 {
        wait *= 2;
        doublings += 1;
    }
    doublings
}

/// The window, in segments, to remember of a loss at `cwnd`. In slow start it is half of it, the
/// last one known to be delivered without loss (Padmanabhan & Katz 1998 §3.1). In congestion
/// avoidance it is one segment less (Zhang, Qiu & Keshav 2000 §5.2). Never below 1.
///
/// # Examples
/// ```
/// use arith::reuse::window_at_loss;
/// assert_eq!(window_at_loss(40, true), 20);
/// assert_eq!(window_at_loss(40, false), 39);
/// ```
pub const fn window_at_loss(cwnd: u32, in_slow_start: bool) -> u32 {
    let window = if in_slow_start { cwnd / 2 } else { cwnd.saturating_sub(1) };
    if window > 1 { window } else { 1 }
}

/// Whether round trips of `srtt_us` microseconds show a queue on a path whose lowest one is
/// `min_rtt_us`. The threshold is an eighth more, at least 1 ms and at most 16 ms (HyStart's in
/// Linux, `HYSTART_DELAY_THRESH`, but for its lower bound).
///
/// # Examples
/// ```
/// use arith::reuse::has_queue;
/// assert!(has_queue(90_001, 80_000) && !has_queue(90_000, 80_000));
/// assert!(has_queue(5_001, 4_000) && !has_queue(5_000, 4_000));
/// assert!(has_queue(216_001, 200_000) && !has_queue(216_000, 200_000));
/// assert!(!has_queue(0, 0) && !has_queue(80_000, 0));
/// ```
pub const fn has_queue(srtt_us: u32, min_rtt_us: u32) -> bool {
    let eighth = min_rtt_us / 8;
    let delay = if eighth < 1000 { 1000 } else { eighth };
    let delay = if delay > 16_000 { 16_000 } else { delay };
    min_rtt_us != 0 && srtt_us as u64 > min_rtt_us as u64 + delay as u64
}

/// Whether round trips show a queue that is longer than the reduction of CUBIC's window at a loss.
/// With half a path's worth in the queue, 0.7 times the window (RFC 9438 §4.6) still fill the path.
/// Data is then acknowledged at the path's rate.
///
/// # Examples
/// ```
/// use arith::reuse::has_standing_queue;
/// assert!(has_standing_queue(120_001, 80_000) && !has_standing_queue(120_000, 80_000));
/// ```
pub const fn has_standing_queue(srtt_us: u32, min_rtt_us: u32) -> bool {
    srtt_us as u64 > min_rtt_us as u64 + min_rtt_us as u64 / 2
}

/// Segments that a path carries in its lowest round trip, by `window` of them that were
/// acknowledged within `srtt_us` microseconds: the rest of the window waited in a queue.
///
/// # Examples
/// ```
/// use arith::reuse::carried_in_lowest;
/// // 20 Mbit/s over 80 ms hold 133 segments; with a queue of 100 the round trip is 140 ms.
/// assert_eq!(carried_in_lowest(233, 140_000, 80_000), 133);
/// assert_eq!(carried_in_lowest(233, 0, 80_000), 233);
/// assert_eq!(carried_in_lowest(233, 80_000, 90_000), 233);
/// ```
pub const fn carried_in_lowest(window: u32, srtt_us: u32, min_rtt_us: u32) -> u32 {
    if srtt_us <= min_rtt_us {
        return window;
    }
    (window as u64 * min_rtt_us as u64 / srtt_us as u64) as u32
}

/// The bandwidth-delay product in segments of `mss` bytes: the segments that fill a path of `rate`
/// bytes a second and round trips of `rtt_us` microseconds, and three ([`crate::trains::window`]).
/// 0 if the rate is not known.
///
/// # Examples
/// ```
/// use arith::reuse::bdp;
/// // 2.5 MB/s in 80 ms are 200 kB: 138 segments of 1448 bytes.
/// assert_eq!(bdp(2_500_000, 80_000, 1448), 141);
/// assert_eq!((bdp(0, 80_000, 1448), bdp(2_500_000, 80_000, 0)), (0, 0));
/// ```
pub const fn bdp(rate: u64, rtt_us: u32, mss: u32) -> u32 {
    if rate == 0 || mss == 0 {
        return 0;
    }
    let kilo = if rate / 1000 < u32::MAX as u64 { rate / 1000 } else { u32::MAX as u64 };
    let held = kilo * rtt_us as u64 / 1000 / mss as u64;
    if held < LARGEST_PIPE { held as u32 + 3 } else { LARGEST_PIPE as u32 + 3 }
}

/// Segments: no window is larger.
const LARGEST_PIPE: u64 = 1 << 20;

/// Whether round trips of `srtt_us` microseconds contradict a path that takes `gap` nanoseconds for
/// a segment. `window` segments that are sent at once make a round trip longer by their own time at
/// most. Twice that is a slower path, or a queue of other traffic. False if `gap` is 0.
///
/// # Examples
/// ```
/// use arith::reuse::is_slower;
/// // 100 segments at 0.6 ms are 60 ms: up to 80 + 120.
/// assert!(is_slower(100, 600_000, 200_001, 80_000) && !is_slower(100, 600_000, 200_000, 80_000));
/// assert!(!is_slower(100, 0, 200_001, 80_000));
/// ```
pub const fn is_slower(window: u32, gap: u64, srtt_us: u32, min_rtt_us: u32) -> bool {
    let bounded = if gap < u32::MAX as u64 { gap } else { u32::MAX as u64 };
    gap != 0 && srtt_us as u64 > window as u64 * bounded / 500 + min_rtt_us as u64
}

/// The rate, bytes a second, that carries `window` segments of `mss` bytes in `rtt_us`
/// microseconds; 0 if `rtt_us` is.
///
/// # Examples
/// ```
/// // 100 segments of 1448 bytes in 80 ms.
/// assert_eq!(arith::reuse::rate_of(100, 1448, 80_000), 1_810_000);
/// ```
pub const fn rate_of(window: u32, mss: u32, rtt_us: u32) -> u64 {
    if rtt_us == 0 {
        return 0;
    }
    (window as u64 * mss as u64).saturating_mul(1_000_000) / rtt_us as u64
}

/// Whether slow start, whose last round trips took `srtt_us` microseconds, would still double
/// without a loss: its bursts wait behind each other, half a flight at most. A flight that fills
/// half of the path makes round trips a quarter longer than the lowest.
///
/// # Examples
/// ```
/// use arith::reuse::may_double;
/// assert!(may_double(100_000, 80_000) && !may_double(100_001, 80_000));
/// ```
pub const fn may_double(srtt_us: u32, min_rtt_us: u32) -> bool {
    srtt_us as u64 <= min_rtt_us as u64 + min_rtt_us as u64 / 4
}

/// Largest ratio of a first flight to the window that a path has carried, where the path's rate is
/// known.
pub const MAX_WIDER: u64 = 4;

/// The window, in segments, to begin with on a path that has carried `window` of them in a round
/// trip. At its rate, `bdp` segments fill the path ([`bdp`]; 0: not known). Small answers show the
/// rate of a path and do not fill it. The result is at most four times the carried window, since a
/// rate measured by few segments may be wrong.
///
/// # Examples
/// ```
/// use arith::reuse::reach;
/// assert_eq!((reach(23, 141), reach(60, 141), reach(150, 141)), (92, 141, 150));
/// assert_eq!(reach(23, 0), 23);
/// ```
pub const fn reach(window: u32, bdp: u32) -> u32 {
    let most = window as u64 * MAX_WIDER;
    let wide = if (bdp as u64) < most { bdp } else { most as u32 };
    if wide > window { wide } else { window }
}

/// The part of `window` segments, delivered or to be sent next, that is remembered of a path that
/// `bdp` segments fill (0: not known). Segments that waited in a queue are excluded, as far as
/// round trips of `srtt_us` microseconds beside the lowest of `min_rtt_us` show them.
///
/// # Examples
/// ```
/// use arith::reuse::without_queue;
/// // As much as fills the path; or more, if that has arrived without a queue.
/// assert_eq!(without_queue(253, 141, 140_000, 80_000), 144);
/// assert_eq!(without_queue(253, 141, 180_000, 80_000), 141);
/// assert_eq!(without_queue(100, 141, 180_000, 80_000), 100);
/// // The rate is not known: round trips alone show whether there is a queue.
/// assert_eq!(without_queue(233, 0, 140_000, 80_000), 133);
/// assert_eq!(without_queue(100, 0, 85_000, 80_000), 100);
/// ```
pub const fn without_queue(window: u32, bdp: u32, srtt_us: u32, min_rtt_us: u32) -> u32 {
    let carried = carried_in_lowest(window, srtt_us, min_rtt_us);
    let most = if bdp > carried { bdp } else { carried };
    match bdp {
        0 if !has_queue(srtt_us, min_rtt_us) => window,
        _ if window < most => window,
        _ => most,
    }
}

/// The window, in segments, that a connection has proven. It ends with `cwnd` and without a loss
/// since `flight` segments, its largest flight that was delivered whole.
///
/// After a cold start (`first` = 0) a connection has proven the flight that slow start would send
/// next: twice that flight and one. Linux's window grows while it is below twice the outstanding
/// segments (`tcp_is_cwnd_limited`), by two for the ACK of two segments. Its final value is chance:
/// it is twice the flight if ACKs are of one segment then. So while slow start lasts
/// (`in_slow_start`), one more than `cwnd` is no bound to it; later `cwnd` is. A connection that
/// began with a remembered window of `first` has proven only delivered segments. These are its
/// first flight as far as it was used (`delivered` segments in all), or a later one.
///
/// # Examples
/// ```
/// use arith::reuse::proven;
/// // 21 segments from a window of 10: flights of 10 and 11, window 21 or 22 at the end.
/// assert_eq!(proven(22, true, 11, 0, 21), 23);
/// assert_eq!(proven(22, false, 11, 0, 21), 22);
/// // 139 segments: flights of 10, 20, 40 and 69. A later connection may send as much, whether the
/// // window ended at 138 or 149.
/// assert_eq!(proven(138, true, 69, 0, 139), 139);
/// assert_eq!(proven(149, true, 69, 0, 139), 139);
/// // 142 segments remembered, 21 used: 21 proven, whatever the window says.
/// assert_eq!(proven(142, true, 10, 142, 21), 21);
/// ```
pub const fn proven(
    cwnd: u32,
    in_slow_start: bool,
    flight: u32,
    first: u32,
    delivered: u32,
) -> u32 {
    let most = if in_slow_start { cwnd.saturating_add(1) } else { cwnd };
    let arrived = if first == 0 {
        flight.saturating_mul(2).saturating_add(1)
    } else {
        let used = if delivered < first { delivered } else { first };
        if used > flight { used } else { flight }
    };
    if arrived < most { arrived } else { most }
}

/// The rate, bytes per second, at which a remembered `window` of segments of `mss` bytes is sent
/// over a round trip of `rtt_us` microseconds. It is a fifth faster than even, as Linux paces
/// congestion avoidance (`tcp_pacing_ca_ratio`). 0 if the round trip is.
///
/// # Examples
/// ```
/// // 100 segments of 1448 bytes in 80 ms are 1.81 MB/s.
/// assert_eq!(arith::reuse::pacing_rate(100, 1448, 80_000), 2_172_000);
/// ```
pub const fn pacing_rate(window: u32, mss: u32, rtt_us: u32) -> u64 {
    if rtt_us == 0 {
        return 0;
    }
    (window as u64 * mss as u64).saturating_mul(1_200_000) / rtt_us as u64
}

/// Largest ratio of a first flight's rate to an even one. 139 segments, enough for 200 kB, need ten
/// over a path of 100 Mbit/s and 200 ms.
pub const MAX_FASTER: u64 = 16;

/// The rate of a first flight of `window` segments, bytes per second. It is `even` over the round
/// trip ([`pacing_rate`]), or `carried` where flights of the path were delivered faster. A window
/// below the `remembered` one has its share of it, since others may begin with the rest.
///
/// A window that does not fill the path takes a round trip to leave evenly, and its last segment is
/// late by most of one. At the bottleneck's own rate it queues nowhere; slow start sends its
/// flights at twice that. A peer determines the measured rate by the times of its acknowledgements,
/// and may lie. The rate is therefore never faster than [`MAX_FASTER`] times even.
///
/// # Examples
/// ```
/// use arith::reuse::first_rate;
/// // 139 segments over 200 ms are 1.2 MB/s; the path carried 2.4 MB/s.
/// assert_eq!(first_rate(1_200_000, 2_400_000, 139, 139), 2_400_000);
/// // Half of the window has been given to others.
/// assert_eq!(first_rate(600_000, 2_400_000, 75, 150), 1_200_000);
/// // It was not measured, or is the slower one: even.
/// assert_eq!(first_rate(1_200_000, 0, 139, 139), 1_200_000);
/// // The window fills the path: the rate is at most the path's, and at least an even one.
/// assert_eq!(first_rate(1_200_000, 1_100_000, 139, 139), 1_100_000);
/// assert_eq!(first_rate(1_200_000, 900_000, 139, 139), 1_000_000);
/// // Even a huge measured rate leaves the flight paced.
/// assert_eq!(first_rate(1_200_000, u64::MAX, 139, 139), 19_200_000);
/// ```
pub const fn first_rate(even: u64, carried: u64, window: u32, remembered: u32) -> u64 {
    let part =
        if window < remembered { carried / remembered as u64 * window as u64 } else { carried };
    let most = even.saturating_mul(MAX_FASTER);
    let faster = if part < most { part } else { most };
    let least = if carried > 0 { even / 6 * 5 } else { even };
    if faster > least { faster } else { least }
}

#[cfg(test)]
#[expect(clippy::float_arithmetic, reason = "the curve that the integers stay near")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decay_never_adds_and_never_rises_with_time(
            value: u64, half_life: u64, a: u64, b: u64,
        ) {
            let (early, late) = (a.min(b), a.max(b));
            let (first, second) = (decayed(value, early, half_life), decayed(value, late, half_life));
            prop_assert!(first <= value);
            prop_assert!(second <= first, "{first} at {early}, {second} at {late}");
        }

        #[test]
        fn decay_is_exact_after_whole_half_lives(value: u64, half_life in 1..u64::MAX / 64, n in 0..64_u64) {
            prop_assert_eq!(decayed(value, n * half_life, half_life), value >> n);
        }

        #[test]
        fn decay_stays_near_the_exponential(value in 1_u64 << 20..1 << 40, elapsed in 0..10_000_u64) {
            // Between 1 and 1/2 the line 1 - f/2 is above 2^-f by at most 6.15 % (at f = 0.557).
            let exact = value as f64 * (-(elapsed as f64) / 1000.0).exp2();
            let ratio = decayed(value, elapsed, 1000) as f64 / exact;
            prop_assert!((0.998..1.0625).contains(&ratio), "{ratio}");
        }

        #[test]
        fn the_first_window_keeps_its_bounds(remembered: u64, cold: u64, cap: u64) {
            let window = first_window(remembered, cold, cap);
            prop_assert!(window >= cold);
            prop_assert!(window <= cap.max(cold));
        }

        #[test]
        fn nothing_is_proven_beyond_the_window_or_beyond_twice_what_arrived(
            cwnd: u32, in_slow_start: bool, flight in 0..1_u32 << 24, warm in prop::option::of(1_u32..), delivered: u32,
        ) {
            let window = u64::from(proven(cwnd, in_slow_start, flight, warm.unwrap_or(0), delivered));
            prop_assert!(window <= u64::from(cwnd) + u64::from(in_slow_start));
            let arrived = if warm.is_some() { flight.max(delivered).into() } else { 2 * u64::from(flight) + 1 };
            prop_assert!(window <= arrived);
        }
    }
}
