//! The subject of a script: any TCP with a clock.

use super::super::machine::ScriptMachine;
use super::super::model::{IcmpTrouble, TcpInfoField};
use tcp::{ResetCause, Scheme, Segment};
use units::{Duration, Instant, SeqNum};

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct ObservedSegment {
    /// When, on the subject's clock.
    pub at: Instant,
    /// Number of its connection, from 0 in the order in which the script makes their sockets.
    pub connection: usize,
    /// The segment, in the subject's own numbers.
    pub segment: Segment,
}

/// Events of the connection that the application knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketProgress {
    /// Its own opening has succeeded.
    pub connected: bool,
    /// A peer's opening has succeeded.
    pub accepted: bool,
    /// Bytes received in order.
    pub received: u64,
    /// The peer will send no more.
    pub peer_closed: bool,
    /// It was reset, or given up.
    pub reset: bool,
    /// The cause, if it is known.
    pub cause: Option<ResetCause>,
}

/// Requests of an application to an open connection beside reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionRequest {
    /// No small segment waits (`TCP_NODELAY`), or Nagle's algorithm decides.
    NoDelay(bool),
    /// Small segments wait (`TCP_CORK`).
    Cork(bool),
    /// More data will follow the last write (`MSG_MORE`).
    More,
    /// No data is added to the segment of the last write (`MSG_EOR`).
    EndRecord,
    /// Unacknowledged data ends the connection after this (`TCP_USER_TIMEOUT`).
    UserTimeout(Duration),
    /// Number of retransmissions of a SYN (`TCP_SYNCNT`).
    SynRetries(u32),
}

/// Request to open a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectRequest {
    /// Bytes ready to be sent.
    pub bytes: u64,
    /// Only what goes with the SYN is taken; otherwise the rest follows.
    pub at_once: bool,
}

/// A TCP with one application, and a clock that begins at zero. Calls take effect at once: what
/// they make it send has been sent when they return. Connections have numbers
/// ([`ObservedSegment::connection`]); a subject of one connection may ignore them. Methods with a
/// default body are optional.
pub trait Subject {
    /// The present time.
    fn now(&self) -> Instant;
    /// Events of a connection that its application knows.
    fn progress(&mut self, connection: usize) -> SocketProgress;
    /// The next segment sent and not yet taken.
    fn take_sent(&mut self) -> Option<ObservedSegment>;
    /// There is one.
    fn has_sent(&self) -> bool;
    /// When its next timer fires, if one runs and that can be known.
    fn next_timeout(&mut self) -> Option<Instant>;
    /// Lets time pass: true if something may have happened by `limit`, false when it is `limit` and
    /// nothing has.
    ///
    /// # Errors
    /// If time cannot pass, in words.
    fn step(&mut self, limit: Instant) -> Result<bool, String>;
    /// This reaches it from the peer.
    fn handle_segment(&mut self, connection: usize, segment: &Segment);
    /// True once after a segment began a new connection between the same ports as `connection`,
    /// which had ended. From then on `connection` is the new one, and what is known of the old one
    /// is under `former`.
    fn began_anew(&mut self, _connection: usize, _former: usize) -> bool {
        false
    }
    /// A router says so of the segment that begins at `seq`.
    fn handle_icmp(&mut self, _connection: usize, _seq: SeqNum, _trouble: IcmpTrouble) {}
    /// The application listens.
    fn listen(&mut self, scheme: &Scheme);
    /// It listens no more.
    fn unlisten(&mut self) {}
    /// The application connects; answers how many bytes were taken.
    fn connect(&mut self, connection: usize, scheme: &Scheme, request: ConnectRequest) -> u64;
    /// A SYN from now on could take data along.
    fn knows_cookie(&mut self) -> bool {
        false
    }
    /// The application writes.
    fn write(&mut self, connection: usize, bytes: u64);
    /// The application reads what has come.
    fn read(&mut self, connection: usize, bytes: u64);
    /// The application will write no more.
    fn shutdown(&mut self, connection: usize);
    /// The application is done with the connection.
    fn close(&mut self, connection: usize) {
        self.shutdown(connection);
    }
    /// The application resets the connection.
    fn abort(&mut self, connection: usize);
    /// The application wants this of the connection.
    fn request(&mut self, _connection: usize, _request: ConnectionRequest) {}
    /// A quantity of the connection, if it can be asked for.
    fn info(&mut self, connection: usize, info: TcpInfoField) -> Option<u64>;
    /// There is a connection to ask about.
    fn has_connection(&mut self, connection: usize) -> bool;
    /// The machine is set up like this.
    fn configure(&mut self, _machine: &ScriptMachine) {}
    /// Nothing is known of any peer.
    fn forget_peers(&mut self) {}
    /// A counter of the machine by Linux's name.
    fn counter(&mut self, _name: &str) -> Option<u64> {
        None
    }
}
