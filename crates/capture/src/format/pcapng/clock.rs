//! Ticks of an interface as instants.

use units::Instant;

const SECOND: u64 = 1_000_000_000;

/// The unit of ticks, and their origin (options `if_tsresol` and `if_tsoffset`).
#[derive(Clone, Copy, Debug)]
pub(super) struct CaptureClock {
    tick: Tick,
    /// Origin of the ticks, nanoseconds after 1970.
    offset: i128,
}

#[derive(Clone, Copy, Debug)]
enum Tick {
    /// Nanoseconds in a tick.
    Nanoseconds(u64),
    /// Ticks in a nanosecond.
    OfNanosecond(u64),
    /// Ticks in a second, as the exponent of a power of two.
    PowerOfTwo(u8),
}

impl CaptureClock {
    /// Microseconds since 1970.
    pub(super) const DEFAULT: Self = Self { tick: Tick::Nanoseconds(1_000), offset: 0 };

    /// Creates a clock. `resolution` is the exponent of a tick as a fraction of a second: a
    /// negative power of ten, or of two if its uppermost bit is set. `None` for ticks shorter than
    /// 10⁻¹⁹ or 2⁻⁶³ seconds.
    pub(super) fn new(resolution: u8, offset_secs: i64) -> Option<Self> {
        let tick = match resolution {
            power @ 0..=9 => Tick::Nanoseconds(10_u64.pow(9 - u32::from(power))),
            power @ 10..=19 => Tick::OfNanosecond(10_u64.pow(u32::from(power) - 9)),
            power @ 0x80..=0xbf => Tick::PowerOfTwo(power & 0x7f),
            _ => return None,
        };
        Some(Self { tick, offset: i128::from(offset_secs) * i128::from(SECOND) })
    }

    /// Returns the instant; `None` if it is before 1970, or after the last representable nanosecond
    /// (the year 2554).
    #[inline]
    pub(super) fn instant(&self, ticks: u64) -> Option<Instant> {
        let nanos = match self.tick {
            Tick::Nanoseconds(of_tick) => u128::from(ticks) * u128::from(of_tick),
            Tick::OfNanosecond(ticks_of) => u128::from(ticks / ticks_of),
            Tick::PowerOfTwo(power) => (u128::from(ticks) * u128::from(SECOND)) >> power,
        };
        // Both are far below the limits of 128 bits.
        let nanos = nanos as i128 + self.offset;
        u64::try_from(nanos).ok().map(Instant::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_what_the_interface_says() {
        let at = |resolution, offset, ticks| {
            CaptureClock::new(resolution, offset).unwrap().instant(ticks).map(Instant::as_nanos)
        };
        assert_eq!(at(6, 0, 1_500_000), Some(1_500_000_000));
        assert_eq!(at(9, 0, 7), Some(7));
        assert_eq!(at(0, 0, 7), Some(7_000_000_000));
        // 10⁻¹² s: a thousand in a nanosecond.
        assert_eq!(at(12, 0, 7_999), Some(7));
        // 2⁻¹⁰ s: 512 are half a second.
        assert_eq!(at(0x8a, 0, 512), Some(500_000_000));
        assert_eq!(at(0x80 | 63, 0, 1 << 62), Some(500_000_000));
        assert_eq!(at(6, 3, 1), Some(3_000_001_000));
        assert_eq!(at(6, -3, 5_000_000), Some(2_000_000_000));
    }

    #[test]
    fn impossible_times_are_none() {
        let clock = |resolution, offset| CaptureClock::new(resolution, offset);
        assert!(
            clock(20, 0).is_none() && clock(0x80 | 64, 0).is_none() && clock(0xff, 0).is_none()
        );
        assert_eq!(clock(6, -3).unwrap().instant(1), None);
        assert_eq!(clock(0, 0).unwrap().instant(u64::MAX), None);
        assert_eq!(clock(6, i64::MAX).unwrap().instant(0), None);
        assert_eq!(clock(0, i64::MAX).unwrap().instant(u64::MAX), None);
        // 2⁶⁴ − 1 nanoseconds are the last instant.
        assert_eq!(clock(9, 0).unwrap().instant(u64::MAX), Some(Instant::FAR_FUTURE));
    }
}
