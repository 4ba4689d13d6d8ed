//! Segments as the core sees them, and what a receiver makes of them.
//!
//! A [`Segment`] has every header field and option but no byte layout; a [`FourTuple`] tells a
//! host's connections apart; the [`receiver`] reassembles, offers a window and decides when to
//! acknowledge. Nothing here sends data or knows of congestion.

mod cookie;
mod raw_options;
pub mod receiver;
mod segment;
pub mod tuple;
mod unreachable;

pub use cookie::FastOpenCookie;
pub use raw_options::{RawOptions, kind as option_kind};
pub use segment::{
    Ecn, Flags, Framing, IPV4_HEADER, Performance, QUIC_DATAGRAM, QUIC_OVERHEAD, SackBlocks,
    Segment, TCP_HEADER, TIMESTAMPS_BYTES, TcpOptions, Timestamps, UDP_HEADER,
};
pub use tuple::{ConnId, FourTuple, TupleInUse};
pub use unreachable::Unreachable;
