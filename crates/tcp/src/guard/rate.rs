//! A limit per second that is inexact on purpose. All connections share it, and it must not reveal
//! to one peer how much of it another has used.

use units::Instant;

/// Counts events in seconds of the host's clock.
///
/// Off-path attackers detect connections through a shared limit of known size (Cao et al. 2016,
/// CVE-2016-5696). Linux's remedy is used here: each second allows half of the limit for certain,
/// and an unpredictable part of the rest.
#[derive(Debug)]
pub(crate) struct RateLimit {
    key: u64,
    second: u64,
    left: u32,
}

impl RateLimit {
    pub(crate) const fn new(key: u64) -> Self {
        Self { key, second: u64::MAX, left: 0 }
    }

    /// Takes one of `limit` a second, and returns false if none is left; `u32::MAX` is no limit.
    pub(crate) fn take(&mut self, now: Instant, limit: u32) -> bool {
        if limit == u32::MAX {
            return true;
        }
        let second = now.as_nanos() / 1_000_000_000;
        if second != self.second {
            self.second = second;
            self.left = limit.div_ceil(2)
                + (mix_bits(self.key ^ second) % (u64::from(limit) / 2 + 1)) as u32;
        }
        let allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allowed
    }
}

/// SplitMix64 (Steele, Lea & Flood 2014).
const fn mix_bits(key: u64) -> u64 {
    let x = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn a_second_grants_between_half_and_all_of_the_limit() {
        let mut rate = RateLimit::new(7);
        let mut granted = Vec::new();
        for second in 0..100 {
            let now = Instant::ZERO + Duration::from_secs(second);
            granted.push((0..500).filter(|_| rate.take(now, 100)).count());
        }
        assert!(granted.iter().all(|n| (50..=100).contains(n)), "{granted:?}");
        granted.sort_unstable();
        granted.dedup();
        assert!(granted.len() > 20, "it can be foretold: {granted:?}");
    }

    #[test]
    fn no_limit_is_none_and_zero_is_all() {
        let mut rate = RateLimit::new(7);
        assert!((0..5000).all(|_| rate.take(Instant::ZERO, u32::MAX)));
        assert!((0..5).all(|_| !RateLimit::new(7).take(Instant::ZERO, 0)));
    }
}
