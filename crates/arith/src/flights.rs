//! Proven flight of a connection: the most segments that were outstanding at a time and were all
//! delivered.
//!
//! `crates/agent/bpf/flights.h` is the same in C, for the kernel; a test there holds the two
//! together.

/// An ACK after which nothing is missing, as far as flights are concerned. Offsets are of the bytes
/// sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlightAck {
    /// Bytes acknowledged cumulatively.
    pub una: u64,
    /// Bytes sent.
    pub next: u64,
    /// Segments outstanding after the ACK.
    pub outstanding: u32,
    /// Segments delivered with the ACK.
    pub acked: u32,
}

/// Largest flights of a connection, by round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flights {
    /// Offset that ends the round trip under way.
    round_end: u64,
    /// Most segments outstanding at a time in it.
    round_flight: u32,
    /// Outstanding segments of the round trip before: at the end of this one they are delivered.
    last_flight: u32,
    /// Most segments outstanding at a time that were all delivered, since the last loss.
    flight: u32,
}

impl Flights {
    /// Starts without a proven flight at the byte `next`, which is sent next.
    pub const fn beginning_at(next: u64) -> Self {
        Self { round_end: next, round_flight: 0, last_flight: 0, flight: 0 }
    }

    /// Takes an ACK. True if more have been outstanding together than ever.
    ///
    /// # Examples
    /// ```
    /// use arith::flights::{FlightAck, Flights};
    /// // Ten segments of 1000 bytes leave and arrive at once, then twenty, then forty.
    /// let mut flights = Flights::beginning_at(0);
    /// flights.count(&FlightAck { una: 10_000, next: 30_000, outstanding: 20, acked: 10 });
    /// flights.count(&FlightAck { una: 30_000, next: 70_000, outstanding: 40, acked: 20 });
    /// // 20 and the ten just acknowledged were outstanding together: the ACK of the 20 proves all.
    /// assert_eq!(flights.proven(40), 30);
    /// // Nothing is under way any more: all that was has arrived.
    /// assert_eq!(flights.proven(0), 60);
    /// ```
    pub fn count(&mut self, ack: &FlightAck) -> bool {
        self.round_flight = self.round_flight.max(ack.outstanding.saturating_add(ack.acked));
        if ack.una < self.round_end {
            return false;
        }
        let is_larger = self.last_flight > self.flight;
        self.flight = self.flight.max(self.last_flight);
        self.last_flight = self.round_flight;
        self.round_flight = 0;
        self.round_end = ack.next;
        is_larger
    }

    /// The most segments that were outstanding together and are delivered; segments under way count
    /// only if none is left (`outstanding`).
    pub fn proven(&self, outstanding: u32) -> u32 {
        match outstanding {
            0 => self.flight.max(self.last_flight).max(self.round_flight),
            _ => self.flight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_counts_when_the_next_one_has_begun_to_arrive() {
        let ack = |una, next, outstanding, acked| FlightAck { una, next, outstanding, acked };
        let mut flights = Flights::beginning_at(0);
        // The first two of ten are delivered, and four more are sent: 12 + 2 were outstanding when
        // the round trip up to 14 began.
        assert!(!flights.count(&ack(2, 14, 12, 2)));
        // Two more, four leave: 14 + 2 within it.
        assert!(!flights.count(&ack(4, 18, 14, 2)));
        assert_eq!(flights.proven(14), 0);
        // 14 arrives: the flight of the round trip before that one has, which was 14.
        assert!(flights.count(&ack(14, 28, 14, 2)));
        assert_eq!(flights.proven(14), 14);
        // 28 arrives, and with it the 16.
        assert!(flights.count(&ack(28, 30, 2, 2)));
        assert_eq!((flights.proven(2), flights.proven(0)), (16, 16));
        let forgotten = Flights::beginning_at(30);
        assert_eq!(forgotten.proven(0), 0);
    }
}
