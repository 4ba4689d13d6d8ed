//! How fast the path delivers, by trains of ACKs: what a burst acknowledges over the time that its ACKs
//! take (Keshav 1991's packet pair, with more than two).

use units::{Duration, Instant, Rate};

/// Segments that a train has at least.
const LEAST: u64 = 4;

/// The fastest train so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckTrains {
    last: Instant,
    bytes: u64,
    lasted: Duration,
    /// Bytes and time of the fastest; no bytes before the first.
    best: (u64, Duration),
}

fold::state!(AckTrains { last, bytes, lasted, best });

impl AckTrains {
    /// An ACK tells that so many bytes have newly arrived, on a path with this round trip. While losses are
    /// repaired none tells when what it acknowledges arrived (`None`).
    pub(super) fn on_ack(&mut self, now: Instant, arrived: Option<u64>, srtt: Duration, mss: u64) {
        let gap = now.saturating_since(std::mem::replace(&mut self.last, now));
        match arrived {
            Some(arrived) if gap <= srtt / 4 && !srtt.is_zero() => {
                self.bytes += arrived;
                self.lasted += gap;
            }
            _ => (self.bytes, self.lasted) = (0, Duration::ZERO),
        }
        if self.bytes >= LEAST * mss && !self.lasted.is_zero() {
            if self.best.0 == 0 || faster((self.bytes, self.lasted), self.best) {
                self.best = (self.bytes, self.lasted);
            }
            (self.bytes, self.lasted) = (0, Duration::ZERO);
        }
    }

    /// The fastest rate; zero while none is known.
    pub(super) fn rate(&self) -> Rate {
        let (bytes, lasted) = self.best;
        Rate::from_bytes_over(bytes, lasted)
    }

    /// The time that `bytes` take at the fastest rate; zero while none is known.
    pub(super) fn time_of(&self, bytes: u64) -> Duration {
        let (known, lasted) = self.best;
        let nanos = u128::from(bytes) * u128::from(lasted.as_nanos()) / u128::from(known.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

fn faster((bytes, time): (u64, Duration), best: (u64, Duration)) -> bool {
    u128::from(bytes) * u128::from(best.1.as_nanos())
        > u128::from(best.0) * u128::from(time.as_nanos())
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
}
