//! The part of a path that each of several connections has which begin within a round trip.
//! `crates/agent/bpf/arith.h` is the same in C, for the kernel.

/// The initial window of any connection, segments (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// Segments of `window` that one of `among` connections may have beside `own`, its initial window.
/// All of them begin within a round trip. It has its part of the segments that all initial windows
/// and the segments `taken` already leave. Initial windows leave in bursts: if they are more than
/// seven tenths of the window, nothing is left. (In a measurement, 110 segments of 150 filled a
/// queue of 100 alone, and the segments beside them were lost. 30 of 44 did no harm.)
///
/// # Examples
/// ```
/// use arith::parts::part_beside;
/// // By itself all of it.
/// assert_eq!(part_beside(138, 0, 10, 1), 128);
/// // (138 - 6 * 10) / 6. The second one: (138 - 23 - 5 * 10) / 5.
/// assert_eq!(part_beside(138, 0, 10, 6), 13);
/// assert_eq!(part_beside(138, 23, 10, 5), 13);
/// // Ten of them send 100 segments at once.
/// assert_eq!(part_beside(138, 0, 10, 10), 0);
/// ```
pub const fn part_beside(window: u32, taken: u32, own: u32, among: u32) -> u32 {
    let mut at_once = own as u64;
    if among > 1 {
        at_once += INITIAL_WINDOW * (among as u64 - 1);
        if 10 * at_once > 7 * window as u64 {
            return 0;
        }
    }
    let left = (window as u64).saturating_sub(at_once + taken as u64);
    (left / if among == 0 { 1 } else { among as u64 }) as u32
}

/// The part of a path's `rate`, in bytes a second, for a connection that begins with `first`
/// segments. Others took `taken` segments within the round trip, and `among` connections begin now,
/// itself included. Each of these is assumed to begin with as much. Parts are of whole kilobytes.
///
/// # Examples
/// ```
/// use arith::parts::part_of_rate;
/// assert_eq!(part_of_rate(2_500_123, 0, 20, 1), 2_500_123);
/// // The first of five that have 20 each, and the last one.
/// assert_eq!(part_of_rate(2_500_000, 0, 20, 5), 500_000);
/// assert_eq!(part_of_rate(2_500_000, 80, 20, 1), 500_000);
/// assert_eq!(part_of_rate(2_500_000, 0, 0, 1), 0);
/// ```
pub const fn part_of_rate(rate: u64, taken: u32, first: u32, among: u32) -> u64 {
    let all = all_of(taken, first, among);
    if all == 0 {
        return 0;
    }
    if all == first as u64 {
        return rate;
    }
    let kilo = if rate / 1000 < u32::MAX as u64 { rate / 1000 } else { u32::MAX as u64 };
    kilo * first as u64 / all * 1000
}

/// The window, in segments, at which slow start ends for one of `sharers` connections that began
/// with `first` segments, on a path that `full` segments fill. It is half more than an equal part,
/// since others may end sooner: all of the path at most. A connection keeps its first window.
///
/// # Panics
/// If there are no sharers.
///
/// # Examples
/// ```
/// use arith::parts::part_of_full;
/// assert_eq!(part_of_full(138, 20, 1), 138);
/// // A sixth is 23, whatever the first window was.
/// assert_eq!(part_of_full(138, 20, 6), 34);
/// assert_eq!(part_of_full(138, 12, 6), 34);
/// // A path that holds less than what it began with.
/// assert_eq!(part_of_full(15, 20, 1), 20);
/// ```
pub const fn part_of_full(full: u32, first: u32, sharers: u32) -> u32 {
    let part = full as u64 / sharers as u64;
    let half_more = part + part / 2;
    let end = if half_more < full as u64 { half_more } else { full as u64 };
    if end > first as u64 { end as u32 } else { first }
}

/// Segments of all that begin within a round trip.
const fn all_of(taken: u32, first: u32, among: u32) -> u64 {
    taken as u64 + first as u64 * if among == 0 { 1 } else { among as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Connections that take equal parts one after the other have the whole rate together,
        /// less the remainders of whole kilobytes.
        #[test]
        fn parts_of_a_rate_are_the_whole_together(
            rate in 0_u64..1 << 40, first in 1_u32..1000, among in 2_u32..50,
        ) {
            let part = |n| part_of_rate(rate, n * first, first, among - n);
            let all: u64 = (0..among).map(part).sum();
            prop_assert!(all <= rate && all + 1000 * u64::from(among + 1) > rate, "{all} of {rate}");
        }

        /// Slow start ends no earlier than at a connection's part, and no later than where it alone
        /// fills the path.
        #[test]
        fn slow_start_ends_between_its_part_and_the_whole(
            full in 1_u32..100_000, first in 1_u32..1000, sharers in 1_u32..50,
        ) {
            let end = u64::from(part_of_full(full, first, sharers));
            let part = u64::from(full / sharers);
            prop_assert!(end >= part && end <= u64::from(full.max(first)), "{end}, {part}");
        }
    }
}
