//! The TLS handshake before a connection's first request: its end, its round trips, and its
//! contents.

use capture::{TlsContent, TlsHead};
use units::{Duration, Instant};

/// Maximum size of a client's flight that ends the handshake (RFC 8446 §4.4.4, with a placeholder
/// record) without a request, bytes.
const FINISHED_BYTES: u64 = 130;
/// Size of a lone change of cipher specification, bytes.
const PLACEHOLDER_BYTES: u64 = 6;
/// Maximum size of tickets that follow the handshake in one segment, bytes, and their maximum
/// delay.
const TICKET_BYTES: u64 = 700;
const TICKET_WITHIN: Duration = Duration::from_millis(5);

/// The properties of a TLS handshake that a capture shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsReport {
    /// Round trips that it took, as the server sees them: the server's flights that the client
    /// answered, and windows that a flight needed after the first.
    pub round_trips: u32,
    /// Payload of the server's handshake flights, bytes.
    pub server_bytes: u64,
    /// True if it resumed a session; `None` if the capture does not show it.
    pub resumed: Option<bool>,
    /// Bytes of the server's certificates; `None` if they are encrypted (TLS 1.3) or not captured.
    pub certificate_bytes: Option<u32>,
    /// The version's minor number, 4 for TLS 1.3; `None` if the capture does not show it.
    pub version: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The client has sent its ClientHello.
    Hello,
    /// The server has answered.
    Answered,
    /// The client has sent its keys, and the server goes on (TLS 1.2, without resumption).
    Keys,
    Over,
}

/// A handshake, in progress or over.
#[derive(Clone, Copy, Debug)]
pub(super) struct TlsHandshake {
    stage: Stage,
    pub(super) report: TlsReport,
    /// Start of the server's flight, or of its latest window.
    flight_began: Instant,
    over_at: Instant,
}

/// The meaning of the client's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientFlight {
    /// The handshake goes on.
    Handshake,
    /// It is over, and there is no request yet.
    Finished,
    /// It is over, and this is a request.
    Request,
}

impl TlsHandshake {
    /// Starts a handshake with the client's first data, if that is a hello.
    pub(super) fn begin(now: Instant, head: TlsHead) -> Option<Self> {
        (head.content() == TlsContent::ClientHello).then(|| Self {
            stage: Stage::Hello,
            report: TlsReport::default(),
            flight_began: now,
            over_at: Instant::ZERO,
        })
    }

    /// Handles `bytes` of the client.
    pub(super) fn on_client(&mut self, now: Instant, head: TlsHead, bytes: u64) -> ClientFlight {
        use TlsContent::{ApplicationData, ChangeCipherSpec, Handshake};
        let is_over = match (self.stage, head.content()) {
            (Stage::Answered, Handshake) => {
                self.stage = Stage::Keys;
                self.report.round_trips += 1;
                false
            }
            // Alone it is the placeholder that TLS 1.3 may send at once (RFC 8446 appendix D.4).
            (Stage::Answered, ChangeCipherSpec) => bytes > PLACEHOLDER_BYTES,
            (Stage::Answered | Stage::Keys, ApplicationData) => true,
            _ => false,
        };
        if !is_over {
            return ClientFlight::Handshake;
        }
        let asks = self.stage == Stage::Keys || bytes > FINISHED_BYTES;
        self.stage = Stage::Over;
        self.over_at = now;
        self.report.round_trips += 1;
        if asks { ClientFlight::Request } else { ClientFlight::Finished }
    }

    /// Handles `bytes` of the handshake from the server, on a path of `rtt`.
    pub(super) fn on_server(&mut self, now: Instant, head: TlsHead, bytes: u64, rtt: Duration) {
        match (self.stage, head.content()) {
            (Stage::Hello, TlsContent::HelloRetryRequest) => {
                self.report.round_trips += 1;
                self.flight_began = now;
            }
            (Stage::Hello, _) => {
                self.stage = Stage::Answered;
                self.flight_began = now;
            }
            _ => {}
        }
        if !rtt.is_zero() && now.saturating_since(self.flight_began) > rtt * 3 / 4 {
            // This is more of one flight, which did not fit into its first window. A flight that
            // answers the client counts there.
            self.report.round_trips += u32::from(self.stage == Stage::Answered);
            self.flight_began = now;
        }
        let report = &mut self.report;
        report.server_bytes += bytes;
        report.resumed = report.resumed.or(head.is_resumed());
        report.certificate_bytes = report.certificate_bytes.or(head.certificate_len());
        report.version = report.version.or(head.version());
    }

    /// Returns true if data that the server sends right after the handshake, `bytes` of it, may be
    /// a ticket for the next one (RFC 8446 §4.6.1).
    pub(super) fn may_be_ticket(&self, now: Instant, head: TlsHead, bytes: u64) -> bool {
        self.report.version.is_none_or(|version| version >= 4)
            && head.content() == TlsContent::ApplicationData
            && bytes <= TICKET_BYTES
            && now.saturating_since(self.over_at) <= TICKET_WITHIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Returns a first record, in `bytes` of payload.
    fn head(content: u8, message: u8) -> TlsHead {
        let record = [content, 3, 3, 0, 100, message, 0, 0, 96];
        TlsHead::of(&record, 105)
    }

    const RTT: Duration = Duration::from_millis(40);
    const HANDSHAKE: u8 = 22;
    const CHANGE: u8 = 20;
    const DATA: u8 = 23;

    fn started() -> TlsHandshake {
        TlsHandshake::begin(at(0), head(HANDSHAKE, 1)).unwrap()
    }

    #[test]
    fn a_handshake_begins_with_a_hello() {
        assert!(TlsHandshake::begin(at(0), TlsHead::NONE).is_none());
        assert!(TlsHandshake::begin(at(0), head(DATA, 0)).is_none());
    }

    /// TLS 1.3: the client's flight ends it, and may have a request.
    #[test]
    fn one_round_trip_where_the_client_finishes_at_once() {
        for (bytes, flight) in [(130, ClientFlight::Finished), (131, ClientFlight::Request)] {
            let mut tls = started();
            tls.on_server(at(1), head(HANDSHAKE, 2), 1_372, RTT);
            assert_eq!(tls.on_client(at(41), head(CHANGE, 1), 6), ClientFlight::Handshake);
            assert_eq!(tls.on_client(at(41), head(DATA, 0), bytes), flight);
            assert_eq!((tls.report.round_trips, tls.report.server_bytes), (1, 1_372));
        }
    }

    /// TLS 1.2 without resumption: keys, the server's last flight, and then the request (RFC 5246
    /// §7.3).
    #[test]
    fn two_round_trips_where_the_client_sends_keys() {
        let mut tls = started();
        tls.on_server(at(1), head(HANDSHAKE, 2), 1_200, RTT);
        assert_eq!(tls.on_client(at(41), head(HANDSHAKE, 16), 93), ClientFlight::Handshake);
        tls.on_server(at(42), head(CHANGE, 1), 250, RTT);
        assert_eq!(tls.on_client(at(82), head(DATA, 0), 90), ClientFlight::Request);
        assert_eq!(tls.report.round_trips, 2);
    }

    /// The part of a flight that is sent more than three quarters of a round trip after its start
    /// has waited for a window.
    #[test]
    fn a_flight_of_two_windows_costs_a_round_trip() {
        let mut tls = started();
        tls.on_server(at(1), head(HANDSHAKE, 2), 14_480, RTT);
        tls.on_server(at(31), TlsHead::NONE, 1_448, RTT);
        assert_eq!(tls.report.round_trips, 0);
        tls.on_server(at(41), TlsHead::NONE, 1_448, RTT);
        tls.on_server(at(42), TlsHead::NONE, 64, RTT);
        assert_eq!(tls.report.round_trips, 1);
    }

    #[test]
    fn tickets_follow_at_once_and_are_small() {
        let mut tls = started();
        tls.on_server(at(1), head(HANDSHAKE, 2), 1_372, RTT);
        tls.on_client(at(41), head(DATA, 0), 74);
        assert!(tls.may_be_ticket(at(46), head(DATA, 0), 700));
        assert!(!tls.may_be_ticket(at(47), head(DATA, 0), 700));
        assert!(!tls.may_be_ticket(at(46), head(DATA, 0), 701));
        assert!(!tls.may_be_ticket(at(46), TlsHead::NONE, 300));
    }
}
