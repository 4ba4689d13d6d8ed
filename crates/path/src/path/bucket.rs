//! A token bucket for segments.

use units::{Duration, Instant};

/// A token bucket, full at first. A segment takes a token, and a gap adds one. The state is the
/// time at which the bucket is full again, so no work is needed as time passes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TokenBucket {
    full_at: Instant,
}

impl TokenBucket {
    /// Returns when the next token is available, in a bucket of `depth` segments.
    pub(super) fn next_release(&self, depth: u32, gap: Duration) -> Instant {
        let all_but_one = gap.saturating_mul(u64::from(depth.saturating_sub(1)));
        Instant::ZERO + self.full_at.saturating_since(Instant::ZERO).saturating_sub(all_but_one)
    }

    /// Takes a token.
    pub(super) fn take(&mut self, now: Instant, gap: Duration) {
        self.full_at = self.full_at.max(now) + gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_full_bucket_goes_at_once_and_then_a_token_a_gap() {
        let gap = Duration::from_millis(10);
        let mut bucket = TokenBucket::default();
        // Four tokens are taken at 100 ms; the fifth is available at 110, the sixth at 120.
        for _ in 0..4 {
            assert!(bucket.next_release(4, gap) <= at(100));
            bucket.take(at(100), gap);
        }
        assert_eq!(bucket.next_release(4, gap), at(110));
        bucket.take(at(110), gap);
        assert_eq!(bucket.next_release(4, gap), at(120));
        // Unused until 145 ms, the bucket has gained two tokens: three in all, and the next is
        // at 150.
        for _ in 0..3 {
            assert!(bucket.next_release(4, gap) <= at(145));
            bucket.take(at(145), gap);
        }
        assert_eq!(bucket.next_release(4, gap), at(150));
    }

    #[test]
    fn no_more_than_its_depth_gathers() {
        let gap = Duration::from_millis(10);
        let mut bucket = TokenBucket::default();
        bucket.take(at(0), gap);
        for _ in 0..2 {
            assert!(bucket.next_release(2, gap) <= at(1000));
            bucket.take(at(1000), gap);
        }
        assert_eq!(bucket.next_release(2, gap), at(1010));
    }
}
