//! TCP segments without a byte layout, and the receiving half of a connection.
//!
//! A [`Segment`] has every header field and option but no byte layout. A [`FourTuple`] identifies a
//! connection of a host. The [`receiver`] reassembles, offers a window and decides when to
//! acknowledge. Nothing here sends data or knows of congestion.

mod cookie;
mod ecn;
mod raw_options;
pub mod receiver;
mod segment;
pub mod tuple;
mod unreachable;

pub use cookie::FastOpenCookie;
pub use ecn::{Ecn, EcnCounters};
pub use raw_options::{RawOptions, kind as option_kind};
pub use segment::{
    Flags, Framing, IPV4_HEADER, Performance, QUIC_DATAGRAM, QUIC_OVERHEAD, SackBlocks, Segment,
    TCP_HEADER, TIMESTAMPS_BYTES, TcpOptions, Timestamps, UDP_HEADER,
};
pub use tuple::{ConnId, FourTuple, TupleInUse};
pub use unreachable::Unreachable;
