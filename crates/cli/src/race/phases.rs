//! The phases of an object on the critical path, as they are shown.
//!
//! A result has request and first byte as one phase, and how much of it they waited in queues. Here
//! both parts are phases of their own.

use race::{CriticalPhases, CriticalWait};
use units::Duration;

/// A phase as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShownPhase {
    /// The heading of its column.
    pub(super) title: &'static str,
    /// The definition of its column.
    pub(super) help: &'static str,
    /// The words that follow its time in a sentence.
    pub(super) words: &'static str,
}

/// The column of name lookups, which most races do not have.
pub(super) const DNS: &str = "DNS";

/// All phases, in the order in which they follow one another.
pub(super) const PHASES: [ShownPhase; 9] = [
    shown_phase("browser", "The browser works out the request", "for the browser to ask"),
    shown_phase("waiting", "No connection is free", "for a connection"),
    shown_phase(DNS, "The name of the host is looked up", "for the name lookup"),
    shown_phase("TCP", "TCP's handshake", "for the TCP handshake"),
    shown_phase("TLS", "TLS's handshake", "for the TLS handshake"),
    shown_phase(
        "trip",
        "A round trip of request and first byte",
        "for its request and first byte to cross the path",
    ),
    shown_phase(
        "queue",
        "The rest of their time: they wait behind other data",
        "for its request and first byte to wait behind other data",
    ),
    shown_phase("server", "The server thinks", "for the server to answer"),
    shown_phase(
        "receiving",
        "Until its last byte, or the byte that reveals the next object",
        "to receive it",
    ),
];

const fn shown_phase(title: &'static str, help: &'static str, words: &'static str) -> ShownPhase {
    ShownPhase { title, help, words }
}

/// The time of each of [`PHASES`].
pub(super) fn times(object: &CriticalWait) -> [Duration; PHASES.len()] {
    let CriticalPhases { client, waiting, dns, tcp, tls, trip, server, receiving } =
        object.wait.phases;
    let queued = object.queued;
    [client, waiting, dns, tcp, tls, trip.saturating_sub(queued), queued, server, receiving]
}

/// The largest phase and its time; `None` if no phase takes time.
pub(super) fn largest(object: &CriticalWait) -> Option<(ShownPhase, Duration)> {
    let all = PHASES.into_iter().zip(times(object));
    all.max_by_key(|(_, time)| *time).filter(|(_, time)| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use race::{CriticalCause, CriticalObject};
    use workload::{LoadConnId, ObjectId};

    /// An object whose phases take 40 ms for request and first byte, and 30 ms of the server.
    fn object(queued_ms: u64) -> CriticalWait {
        let ms = Duration::from_millis;
        let phases = CriticalPhases { trip: ms(40), server: ms(30), ..CriticalPhases::default() };
        let wait = CriticalObject {
            object: ObjectId(0),
            connection: LoadConnId(0),
            after: CriticalCause::Start,
            from: Duration::ZERO,
            phases,
        };
        CriticalWait {
            label: String::new(),
            host: String::new(),
            bytes: 0,
            server_wait: ms(30),
            wait,
            queued: ms(queued_ms),
            saved_without: None,
            evidence: None,
        }
    }

    /// 40 ms of crossing and queueing are 35 and 5, then 15 and 25, then 5 and 35.
    #[test]
    fn queueing_is_no_part_of_the_trip() {
        let largest = |queued| largest(&object(queued)).map(|(phase, time)| (phase.title, time));
        let ms = Duration::from_millis;
        assert_eq!(largest(5), Some(("trip", ms(35))));
        assert_eq!(largest(25), Some(("server", ms(30))));
        assert_eq!(largest(35), Some(("queue", ms(35))));
        let all = times(&object(25));
        assert_eq!(all.into_iter().fold(Duration::ZERO, |sum, one| sum + one), ms(70));
    }

    #[test]
    fn an_object_that_takes_no_time_has_no_largest_phase() {
        let mut object = object(0);
        object.wait.phases = CriticalPhases::default();
        assert_eq!(largest(&object), None);
    }
}
