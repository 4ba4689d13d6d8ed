//! What a script is played against: a TCP with a clock, whichever it is.

use super::super::machine::ScriptMachine;
use super::super::model::{IcmpTrouble, TcpInfoField};
use tcp::{ResetCause, Scheme, Segment};
use units::{Duration, Instant, SeqNum};

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct ObservedSegment {
    /// When, on the subject's clock.
    pub at: Instant,
    /// Of which connection, counted from 0 in the order in which the script makes their sockets.
    pub connection: usize,
    /// What, in the subject's own numbers.
    pub segment: Segment,
}

/// What the application has been told of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketProgress {
    /// Its own opening has succeeded.
    pub connected: bool,
    /// Somebody's opening has.
    pub accepted: bool,
    /// Bytes that came in order.
    pub received: u64,
    /// The peer will send no more.
    pub peer_closed: bool,
    /// It was reset, or given up.
    pub reset: bool,
    /// Why, if that is known.
    pub cause: Option<ResetCause>,
}

/// What an application asks of an open connection beside reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionWish {
    /// No small segment waits (`TCP_NODELAY`), or Nagle's algorithm decides.
    NoDelay(bool),
    /// Small segments wait (`TCP_CORK`).
    Cork(bool),
    /// What was written last is followed by more (`MSG_MORE`).
    More,
    /// Nothing is added to the segment of what was written last (`MSG_EOR`).
    EndRecord,
    /// Unacknowledged data ends the connection after this (`TCP_USER_TIMEOUT`).
    UserTimeout(Duration),
    /// So many SYNs go again (`TCP_SYNCNT`).
    SynRetries(u32),
}

/// How a connection is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectRequest {
    /// Bytes ready to be sent.
    pub bytes: u64,
    /// Only what goes with the SYN is taken; otherwise the rest follows.
    pub at_once: bool,
}

/// A TCP with one application, and a clock that begins at zero. Calls take effect at once: what they make it send has
/// been sent when they return. Connections have numbers ([`ObservedSegment::connection`]); a subject of one connection may
/// ignore them. What has a body here need not be there.
pub trait Subject {
    /// What time it is.
    fn now(&self) -> Instant;
    /// What the application has been told.
    fn progress(&mut self, connection: usize) -> SocketProgress;
    /// The next segment sent and not yet taken.
    fn take_sent(&mut self) -> Option<ObservedSegment>;
    /// There is one.
    fn has_sent(&self) -> bool;
    /// When its next timer fires, if one runs and that can be known.
    fn next_timeout(&mut self) -> Option<Instant>;
    /// Lets time pass: true if something may have happened by `limit`, false when it is `limit` and nothing has.
    ///
    /// # Errors
    /// If time cannot pass, in words.
    fn step(&mut self, limit: Instant) -> Result<bool, String>;
    /// This reaches it from the peer.
    fn handle_segment(&mut self, connection: usize, segment: &Segment);
    /// True once after a segment began a new connection between the same ports as `connection`, which had ended. From then
    /// on `connection` is the new one, and what is known of the old one is under `former`.
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
    fn wish(&mut self, _connection: usize, _wish: ConnectionWish) {}
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
