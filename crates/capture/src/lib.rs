//! Packet captures as TCP segments with times: from files, pipes and interfaces.
//!
//! A [`SegmentSource`] passes on batches of [`Observed`] segments in the order of time. It knows
//! headers and file formats, but not TCP's behaviour: its user interprets connections,
//! retransmissions and round trips. A [`CaptureCounters`] counts packets that are not TCP segments
//! by kind. A [`CaptureError`] reports a fault with its file and byte; all packets before it are
//! passed on.
//!
//! ```
//! use capture::{CaptureFiles, SegmentSource};
//!
//! let mut source = CaptureFiles::new(["tests/tcprs/rto003.pcap"]);
//! let (mut batch, mut payload) = (Vec::new(), 0);
//! while source.next_batch(&mut batch)? {
//!     payload += batch.iter().map(|segment| u64::from(segment.payload)).sum::<u64>();
//! }
//! assert_eq!((source.counters().segments, payload), (36, 18_688));
//! # Ok::<(), capture::CaptureError>(())
//! ```
//!
//! Read in this order: [`SegmentSource`]; [`CaptureFiles`] (formats, merging) and [`LiveCapture`],
//! whose packets one decoder reads; [`ReadAhead`], which puts any source on a thread of its own;
//! [`CaptureWriter`] and [`Anonymizer`].

mod ahead;
mod anonymize;
mod batch;
mod counters;
mod decode;
mod error;
mod files;
mod format;
mod input;
mod link_type;
mod live;
mod observed;
mod options;
mod source;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod write;

pub use ahead::ReadAhead;
pub use anonymize::Anonymizer;
pub use counters::{CaptureCounters, NotASegment, UdpUse};
pub use error::{CaptureError, CaptureTrouble};
pub use files::CaptureFiles;
pub use format::packed_by;
pub use input::DecompressedInput;
pub use link_type::LinkType;
pub use live::{InterfaceChange, LiveCapture, LiveOptions, LivePacket, PortRange};
pub use observed::{Observed, PacketDirection, TcpEnd};
pub use options::CapturedOptions;
pub use source::{InputProgress, SegmentSource};
pub use tls::{TlsContent, TlsHead};
pub use write::{CaptureWriter, Rotation};
