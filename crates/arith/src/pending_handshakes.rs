//! Counter of pending handshakes: connections from their SYN to their first flight. It is one word,
//! so that one atomic operation changes it. A page opens several connections, and they share the
//! window remembered for the path.
//!
//! Time is divided into spans of the longest handshake. A completed handshake is subtracted. A
//! handshake that never completes, because it failed or was another network's, is forgotten after
//! two spans at most. `crates/agent/bpf/pending_handshakes.h` is the same in C, for the kernel; a
//! test there holds the two together.

/// Largest count of handshakes that begin in a span.
const MAX_STARTED: u64 = 0xffff;

/// No span is longer.
const MAX_SPAN: u64 = 1 << 44;

/// The span in which `now` lies, in the unit of `round`, a round trip. A span is two round trips
/// long, or up to twice as much, so that new samples of the round trip seldom change it.
///
/// # Examples
/// ```
/// // Two round trips of 80 ms fit into 262 ms, 2^18 µs: the fourth of these.
/// assert_eq!(arith::pending_handshakes::span(1_000_000, 80_000), 3);
/// ```
pub const fn span(now: u64, round: u64) -> u32 {
    let below = round.saturating_mul(2).saturating_sub(1);
    let ones = if below == 0 { 0 } else { u64::MAX >> below.leading_zeros() };
    let length = if ones < MAX_SPAN { ones + 1 } else { MAX_SPAN };
    (now / length) as u32
}

/// The word `pending` as it is in `span`: handshakes that began before the previous span are
/// forgotten.
///
/// # Examples
/// ```
/// use arith::pending_handshakes::{at, count, one_more};
/// let two = one_more(one_more(at(0, 7)));
/// assert_eq!([7, 8, 9].map(|span| count(at(two, span))), [2, 2, 0]);
/// ```
pub const fn at(pending: u64, span: u32) -> u64 {
    let (then, this) = ((pending >> 32) as u32, pending & MAX_STARTED);
    let kept = match span.wrapping_sub(then) {
        0 => pending & 0xffff_ffff,
        1 => this << 16,
        _ => 0,
    };
    (span as u64) << 32 | kept
}

/// Number of pending handshakes.
pub const fn count(pending: u64) -> u32 {
    ((pending >> 16 & MAX_STARTED) + (pending & MAX_STARTED)) as u32
}

/// Adds a handshake to the span of `pending`.
pub const fn one_more(pending: u64) -> u64 {
    if pending & MAX_STARTED < MAX_STARTED { pending + 1 } else { pending }
}

/// Removes a completed handshake, one of the earliest span first.
pub const fn one_less(pending: u64) -> u64 {
    if pending >> 16 & MAX_STARTED > 0 {
        pending - (1 << 16)
    } else if pending & MAX_STARTED > 0 {
        pending - 1
    } else {
        pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A span has 40 ticks; a handshake takes no longer than one span.
    const SPAN: u32 = 40;

    proptest! {
        /// No handshake that completes within a span is forgotten, and none remains after its
        /// completion.
        #[test]
        fn who_comes_in_time_is_counted_until_then(
            handshakes in proptest::collection::vec((0..400_u32, 1..SPAN), 0..60), first: u32,
        ) {
            let mut word = 0;
            for tick in 0..400 + SPAN {
                word = at(word, first.wrapping_add(tick / SPAN));
                let begin = handshakes.iter().filter(|(from, _)| *from == tick).count();
                let end = handshakes.iter().filter(|(from, takes)| from + takes == tick).count();
                word = (0..end).fold(word, |word, _| one_less(word));
                word = (0..begin).fold(word, |word, _| one_more(word));
                let under_way = handshakes.iter().filter(|(from, takes)| (*from..from + takes).contains(&tick));
                prop_assert_eq!(count(word) as usize, under_way.count());
            }
        }

        #[test]
        fn a_span_is_two_round_trips_or_up_to_twice_as_much(now: u64, round in 1_u64..1 << 42) {
            let length = (2 * round).next_power_of_two();
            prop_assert_eq!(span(now, round), (now / length) as u32);
        }

        #[test]
        fn who_never_comes_is_forgotten(word: u64, spans in 2..u32::MAX) {
            prop_assert_eq!(count(at(word, ((word >> 32) as u32).wrapping_add(spans))), 0);
        }

        #[test]
        fn nothing_runs_over(word: u64) {
            prop_assert!(count(one_more(word)) <= count(word) + 1);
            prop_assert_eq!(count(one_less(word)), count(word).saturating_sub(1));
            prop_assert_eq!(one_more(word) >> 16, word >> 16);
        }
    }
}
