//! The hosts of a race: whether the page's hosts are one server, and how long a host works on a
//! packet.
//!
//! Both are independent. A scheme that shares a path among the connections to a host needs the
//! first. The second is jitter: without it a simulation repeats itself exactly. A race between two
//! packets for the last slot in a queue would always have the same winner.

pub use netsim::{ProcessingDelay, ReadingDelay};
use units::Duration;

/// Grouping of the page's hosts: it matters to schemes that share a path among the connections to a
/// host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Servers of their own.
    Apart,
    /// Ports of one server.
    Together,
}

/// The processing delay of real hosts: how long a thread takes to answer a packet, where processors
/// stay awake.
///
/// Captures of both ends showed 0.13 to 0.25 ms more than the round trip of a path; at either end
/// nine of ten answers left within 0.1 ms. After a pause of 8 ms or more the median answer took
/// longer. It took 49 us instead of 23 by the kernel's clients, 44 instead of 23 by its servers, 95
/// instead of 53 by our endpoint.
pub const REAL_PROCESSING: ProcessingDelay = ProcessingDelay {
    least: Duration::from_micros(50),
    most: Duration::from_micros(130),
    rested: Duration::from_micros(30),
    reading: ReadingDelay::NONE,
};

/// The processing delay where the servers beside it are real programs, which have to wake to read a
/// request.
///
/// In captures at the servers of both real worlds, TCP acknowledged a request after 0.03 to 0.17
/// ms. The first segment of the response was sent after 0.22 to 0.31 ms (twelve connections,
/// 2026-11-26, beside compilers). A host that has rested takes 0.08 to 0.16 ms of that itself.
/// Requests that fill two segments therefore mostly have an ACK of their own before the response,
/// which gives the client no sample of its round trip.
pub const WAKING_PROCESSING: ProcessingDelay = ProcessingDelay {
    reading: ReadingDelay { least: Duration::from_micros(140), most: Duration::from_micros(150) },
    ..REAL_PROCESSING
};
