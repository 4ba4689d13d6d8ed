//! Windows, rates and round trips as one byte each, in steps of equal ratio.
//!
//! A site keeps samples of millions of networks, and no sample is exact to a few per cent. Code 0
//! means "not known". A value outside the range has the code of the nearest end. All arithmetic is
//! in integers, so every machine has the same codes.

use units::{Duration, Rate};

/// A scale of 255 values in steps of equal ratio.
struct Scale {
    values: [u64; 256],
}

/// Bytes: sixteen steps an octave (4.4 %) from 1 KiB to 61 MB.
static WINDOWS: Scale = Scale::new(1024, 16, 4_485_121_744);
/// Bits a second: eight steps an octave (9.1 %) from 1 kbit/s to 3.6 Tbit/s.
static RATES: Scale = Scale::new(1000, 8, 4_683_695_048);
/// Nanoseconds: eleven steps an octave (6.5 %) from 10 microseconds to 90 s.
static RTTS: Scale = Scale::new(10_000, 11, 4_574_316_648);

impl Scale {
    /// Creates a scale from `first` on, with `steps` an octave, each `ratio` times 2^-32.
    const fn new(first: u64, steps: u32, ratio: u64) -> Self {
        let mut values = [0; 256];
        let mut code = 1;
        while code < 256 {
            let place = code as u32 - 1;
            // Each octave begins exactly, so rounding does not add up.
            let mut value = (first as u128) << (place / steps + 16);
            let mut step = 0;
            while step < place % steps {
                value = (value * ratio as u128) >> 32;
                step += 1;
            }
            values[code] = (value >> 16) as u64;
            code += 1;
        }
        Self { values }
    }

    /// Returns the code of the value nearest to `value` by ratio.
    fn code(&self, value: u64) -> u8 {
        let above = self.values.partition_point(|step| *step <= value);
        match above {
            0 | 1 => 1,
            256 => 255,
            above => {
                let (low, high) = (self.values[above - 1], self.values[above]);
                let square = u128::from(value) * u128::from(value);
                let nearer_low = square < u128::from(low) * u128::from(high);
                (above - usize::from(nearer_low)) as u8
            }
        }
    }
}

/// Returns the code of a window in bytes; 0 only for an empty one.
pub(super) fn window_code(bytes: u64) -> u8 {
    if bytes == 0 { 0 } else { WINDOWS.code(bytes) }
}

/// Returns the window of a code, bytes.
pub(super) fn window_of(code: u8) -> u64 {
    WINDOWS.values[usize::from(code)]
}

/// Returns the code of a rate; 0 without one.
pub(super) fn rate_code(rate: Option<Rate>) -> u8 {
    rate.filter(|rate| rate.as_bps() > 0).map_or(0, |rate| RATES.code(rate.as_bps()))
}

/// Returns the rate of a code.
pub(super) fn rate_of(code: u8) -> Option<Rate> {
    (code > 0).then(|| Rate::from_bps(RATES.values[usize::from(code)]))
}

/// Returns the code of a round trip; 0 without one.
pub(super) fn rtt_code(rtt: Option<Duration>) -> u8 {
    rtt.filter(|rtt| !rtt.is_zero()).map_or(0, |rtt| RTTS.code(rtt.as_nanos()))
}

/// Returns the round trip of a code.
pub(super) fn rtt_of(code: u8) -> Option<Duration> {
    (code > 0).then(|| Duration::from_nanos(RTTS.values[usize::from(code)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn octaves_begin_exactly() {
        // 16 windows, 8 rates, 11 round trips make a doubling.
        assert_eq!([window_of(1), window_of(17), window_of(33)], [1024, 2048, 4096]);
        assert_eq!(rate_of(9), Some(Rate::from_bps(2000)));
        assert_eq!(rtt_of(12), Some(Duration::from_micros(20)));
        // 254 steps are 15 octaves and 14 steps: 1024 * 2^15 * 2^(14/16) = 61.5 MB.
        assert_eq!(window_of(255) / 100_000, 615);
    }

    #[test]
    fn what_is_not_known_has_no_code() {
        assert_eq!((window_code(0), rate_code(None), rtt_code(Some(Duration::ZERO))), (0, 0, 0));
        assert_eq!((window_code(1), window_code(u64::MAX)), (1, 255));
        assert_eq!((rate_of(0), rtt_of(0)), (None, None));
    }

    proptest! {
        /// Half a step is the most that a value in range is off: 2^(1/32), 2.2 %, and the floor of
        /// the step itself.
        #[test]
        fn a_window_is_told_within_half_a_step(bytes in 1024..60_000_000_u64) {
            let decoded = window_of(window_code(bytes)) as f64;
            prop_assert!((decoded / bytes as f64).ln().abs() < 0.0218 + 2.0 / 1024.0);
        }

        #[test]
        fn codes_keep_the_order(a: u64, b: u64) {
            prop_assert!(a > b || window_code(a) <= window_code(b));
        }
    }
}
