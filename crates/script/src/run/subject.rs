//! What a script is played against: a TCP with a clock, whichever it is.

use super::super::model::TcpInfoField;
use tcp::{Scheme, Segment};
use units::Instant;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub struct ObservedSegment {
    /// When, on the subject's clock.
    pub at: Instant,
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
    /// It was reset.
    pub reset: bool,
}

/// A TCP with one application, one connection, and a clock that begins at zero. Calls take effect at once: what
/// they make it send has been sent when they return.
pub trait Subject {
    /// What time it is.
    fn now(&self) -> Instant;
    /// What the application has been told.
    fn progress(&mut self) -> SocketProgress;
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
    fn handle_segment(&mut self, segment: &Segment);
    /// The application listens.
    fn listen(&mut self, scheme: &Scheme);
    /// The application connects, with `bytes` ready for the SYN.
    fn connect(&mut self, scheme: &Scheme, bytes: u64);
    /// The application writes.
    fn write(&mut self, bytes: u64);
    /// The application reads what has come.
    fn read(&mut self, bytes: u64);
    /// The application will write no more.
    fn shutdown(&mut self);
    /// The application resets the connection.
    fn abort(&mut self);
    /// A quantity of the connection, if it can be asked for.
    fn info(&mut self, info: TcpInfoField) -> Option<u64>;
    /// There is a connection to ask about.
    fn has_connection(&mut self) -> bool;
}
