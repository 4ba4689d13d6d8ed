//! A cold start's short first flight, such as a server's TLS flight, is a probe of the path. Its
//! segments leave as a burst, so their ACKs come at the rate of the path. The first window of the
//! response follows that rate (`probe.h` of the agent).

use arith::probe;

/// The probe of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Probe {
    /// When the first ACK of the flight came, by the socket's clock, and the offset that it
    /// acknowledged.
    first: Option<(u32, u64)>,
    /// The highest rate that ACKs of a flight have shown, bytes a second; 0: none was.
    rate: u64,
}

impl Probe {
    /// Another flight leaves.
    pub(super) const fn begin_flight(&mut self) {
        self.first = None;
    }

    /// All below `una` is acknowledged at `at_us`, the socket's clock.
    pub(super) fn on_ack(&mut self, at_us: u32, una: u64, mss: u32) {
        let Some((began_us, from)) = self.first else {
            self.first = Some((at_us, una));
            return;
        };
        let bytes = u32::try_from(una - from).unwrap_or(u32::MAX);
        self.rate = self.rate.max(probe::rate(bytes, at_us.wrapping_sub(began_us), mss));
    }

    /// A long flight has shown a `rate` in bytes a second, which replaces that of short flights.
    pub(super) const fn correct(&mut self, rate: u64) {
        self.rate = rate;
    }

    /// Bytes a second; 0: not known.
    pub(super) const fn rate(&self) -> u64 {
        self.rate
    }

    /// The first window of a flight behind the probe, in segments of `mss` bytes; `None`: no rate
    /// is known.
    pub(super) const fn window(&self, min_rtt_us: u32, mss: u32, cold: u32) -> Option<u32> {
        match self.rate {
            0 => None,
            rate => Some(probe::window(rate, min_rtt_us, mss, cold)),
        }
    }
}
