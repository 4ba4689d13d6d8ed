//! What of a remembered window may be used again: how it ages, and between which bounds it stays.

/// `value` after it has lain for `elapsed` when half of it is believed after each `half_life`, both
/// in the same unit of time: exact after whole half-lives, a straight line between them (at most
/// 6.2 % above the exponential). A half-life of 0 leaves nothing of what has lain at all.
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

/// The first window that a memory of `remembered` bytes may give: never above `cap`, never below the
/// `cold` one that a sender without memory begins with. A cap below the cold window changes nothing
/// of the cold one.
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
    }
}
