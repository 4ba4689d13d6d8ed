//! RACK's reordering window: the time to wait for reordering to resolve before a segment is
//! declared lost.

/// The reordering window of RFC 8985 §6.2 step 4: `min_rtt / 4` per step, never above `srtt`.
/// Any unit of time, the same for all. Before the first sample `min_rtt` is the unit's maximum and
/// `srtt` zero, so the window is zero.
///
/// # Examples
/// ```
/// // 80 ms: a quarter is 20 ms; after two D-SACK rounds (three steps) 60 ms; srtt bounds it.
/// assert_eq!(arith::rack::reordering_window(80, 90, 1), 20);
/// assert_eq!(arith::rack::reordering_window(80, 90, 3), 60);
/// assert_eq!(arith::rack::reordering_window(80, 90, 9), 90);
/// ```
pub const fn reordering_window(min_rtt: u64, srtt: u64, steps: u8) -> u64 {
    let window = (min_rtt / 4).saturating_mul(steps as u64);
    if window < srtt { window } else { srtt }
}

#[cfg(test)]
mod tests {
    use super::reordering_window;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_grows_with_steps_and_never_passes_srtt(min_rtt: u64, srtt: u64, steps in 0_u8..255) {
            let window = reordering_window(min_rtt, srtt, steps);
            prop_assert!(window <= srtt);
            prop_assert!(window <= reordering_window(min_rtt, srtt, steps + 1));
        }
    }
}
