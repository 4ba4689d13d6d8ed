//! How fast the path delivers, by trains of ACKs: what a burst acknowledges over the time that its ACKs
//! take (Keshav 1991's packet pair, with more than two).

use units::{Duration, Instant, Rate};

/// Segments that a train has at least.
const LEAST: u64 = 4;
/// Segments of a long train, in which it hardly matters that a few ACKs came late or at once.
const LONG: u64 = 32;

/// The fastest trains so far.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct AckTrains {
    last: Instant,
    train: Train,
    long_train: Train,
    /// The fastest; no bytes before the first.
    best: Train,
    /// The fastest long one.
    best_long: Train,
}

/// Bytes that were acknowledged in so much time.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    bytes: u64,
    lasted: Duration,
}

impl Train {
    /// It goes on, or ends (`None`). Puts it into `best` if it is complete, with so many bytes, and the fastest.
    #[inline]
    fn go_on(&mut self, more: Option<(u64, Duration)>, least: u64, best: &mut Self) {
        let Some((bytes, gap)) = more else {
            *self = Self::default();
            return;
        };
        self.bytes += bytes;
        self.lasted += gap;
        if self.bytes >= least && !self.lasted.is_zero() {
            let done = std::mem::take(self);
            if best.bytes == 0 || done.is_faster_than(best) {
                *best = done;
            }
        }
    }

    fn is_faster_than(&self, other: &Self) -> bool {
        u128::from(self.bytes) * u128::from(other.lasted.as_nanos())
            > u128::from(other.bytes) * u128::from(self.lasted.as_nanos())
    }
}

impl AckTrains {
    /// An ACK tells that so many bytes have newly arrived, on a path with this round trip. While losses are
    /// repaired none tells when what it acknowledges arrived (`None`).
    pub(super) fn on_ack(&mut self, now: Instant, arrived: Option<u64>, srtt: Duration, mss: u64) {
        let gap = now.saturating_since(std::mem::replace(&mut self.last, now));
        let more = arrived.filter(|_| gap <= srtt / 4 && !srtt.is_zero()).map(|bytes| (bytes, gap));
        self.train.go_on(more, LEAST * mss, &mut self.best);
        self.long_train.go_on(more, LONG * mss, &mut self.best_long);
    }

    /// The rate of the fastest long train, else of the fastest; zero while none is known.
    pub(super) fn rate(&self) -> Rate {
        let Train { bytes, lasted } =
            if self.best_long.bytes > 0 { self.best_long } else { self.best };
        Rate::from_bytes_over(bytes, lasted)
    }

    /// The time that `bytes` take at the fastest rate; zero while none is known.
    pub(super) fn time_of(&self, bytes: u64) -> Duration {
        let Train { bytes: known, lasted } = self.best;
        let nanos = u128::from(bytes) * u128::from(lasted.as_nanos()) / u128::from(known.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_train_tells_the_rate() {
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
        let (mut trains, rtt) = (AckTrains::default(), Duration::from_millis(100));
        // Four segments of 1000 bytes, 2 ms apart, after one that begins the train: 4000 bytes in 8 ms.
        for at in [100, 102, 104, 106, 108] {
            trains.on_ack(ms(at), Some(1000), rtt, 1000);
        }
        assert_eq!(trains.time_of(10_000), Duration::from_millis(20));
        assert_eq!(trains.rate(), Rate::from_mbps(4));
        // A slower train changes nothing; ACKs a round trip apart are none.
        for at in [200, 210, 220, 230, 240, 340, 440] {
            trains.on_ack(ms(at), Some(1000), rtt, 1000);
        }
        assert_eq!(trains.time_of(10_000), Duration::from_millis(20));
    }

    /// Segments of 1000 bytes. Four that are acknowledged within a millisecond make a train of 32 Mbit/s. A long one outweighs it: these
    /// four, and 28 more in a millisecond each.
    #[test]
    fn a_long_train_outweighs_a_short_one() {
        let us = |n: u64| Instant::from_nanos((100_000 + n) * 1_000);
        let (mut trains, rtt) = (AckTrains::default(), Duration::from_millis(100));
        for n in 0..5 {
            trains.on_ack(us(n * 250), Some(1000), rtt, 1000);
        }
        assert_eq!(trains.rate(), Rate::from_mbps(32));
        for n in 2..30 {
            trains.on_ack(us(n * 1_000), Some(1000), rtt, 1000);
        }
        assert_eq!(trains.rate(), Rate::from_bytes_over(32_000, Duration::from_millis(29)));
    }
}
