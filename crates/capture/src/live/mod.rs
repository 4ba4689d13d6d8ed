//! Live captures of interfaces: an `AF_PACKET` socket with a filter in the kernel.
//!
//! The socket is cooked: packets begin with their IP header, and the kernel describes the link
//! layer. [`LiveCapture::receive`] returns packets as records of Linux cooked captures
//! (LINKTYPE_LINUX_SLL2) without addresses of the link layer. They are cut after their TCP header
//! unless a snap length is given. Used as a [`SegmentSource`], it returns their segments.
//!
//! A ring that is shared with the kernel (TPACKET_V3) would save system calls, but needs memory
//! maps and thus unsafe code; instead, one call fetches up to 64 packets.

mod filter;
mod interfaces;
mod socket;

pub use filter::PortRange;
pub use interfaces::InterfaceChange;

use crate::anonymize::Anonymizer;
use crate::batch::BatchFiller;
use crate::counters::CaptureCounters;
use crate::decode::{Frame, decode, headers_len};
use crate::error::{CaptureError, CaptureTrouble};
use crate::link_type::LinkType;
use crate::observed::{Observed, PacketDirection};
use crate::source::{InputProgress, SegmentSource};
use interfaces::{ANY, Interfaces};
use socket::{Note, PacketSocket};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::Instant;

/// Maximum size of a packet's headers in common cases, bytes: IPv6, a hop-by-hop header and TCP
/// with all options.
const HEADERS: usize = 40 + 8 + 60;
/// Size of a record's header, bytes: LINKTYPE_LINUX_SLL2.
const SLL2: usize = 20;
/// Longest wait of a source for packets before it returns an empty batch.
const WAIT: Duration = Duration::from_millis(100);
/// Interval of the checks of interfaces while packets arrive; otherwise they are checked after each
/// wait without packets.
const LOOK_EVERY: units::Duration = units::Duration::from_secs(1);

/// Options of a live capture.
#[derive(Clone, Debug, Default)]
pub struct LiveOptions {
    /// Names of interfaces, at most [`PortRange::MAX_RANGES`]; `any`, or none, is all.
    pub interfaces: Vec<String>,
    /// Ports that a segment is from or to, at most [`PortRange::MAX_RANGES`] ranges; none is all.
    pub ports: Vec<PortRange>,
    /// Number of captured bytes of each packet from its IP header on, 40 at least. Without it, all
    /// headers and no byte of payload.
    pub snap: Option<u32>,
}

/// A running capture.
pub struct LiveCapture {
    name: PathBuf,
    socket: PacketSocket,
    interfaces: Interfaces,
    ports: Vec<PortRange>,
    changes: Vec<InterfaceChange>,
    /// Time of the last check of the interfaces, by the times of packets.
    looked: Instant,
    stop: Arc<AtomicBool>,
    snap: Option<u32>,
    counters: CaptureCounters,
}

/// A captured packet: a record of LINKTYPE_LINUX_SLL2.
#[derive(Debug)]
pub struct LivePacket<'a> {
    /// Time at which the kernel saw it.
    pub at: Instant,
    /// The record, header included.
    pub record: &'a mut [u8],
    /// Size that the record would have without cuts, bytes.
    pub length: u32,
}

impl LivePacket<'_> {
    /// Replaces its addresses. If a packet's IP header contradicts the kernel about its version,
    /// the position of its addresses is unknown, so the whole packet becomes zero.
    pub fn anonymize(&mut self, anonymizer: &mut Anonymizer) {
        let (header, packet) = self.record.split_at_mut(SLL2);
        let version = match [header[0], header[1]] {
            [0x08, 0x00] => 4,
            [0x86, 0xdd] => 6,
            _ => 0,
        };
        match packet.first() {
            Some(first) if first >> 4 == version => {
                anonymizer.packet(packet, self.length - SLL2 as u32);
            }
            _ => packet.fill(0),
        }
    }
}

impl LiveCapture {
    /// The link type of its records, by number.
    pub const LINK: u32 = 276;

    /// Starts to capture.
    ///
    /// # Errors
    /// If an interface is unknown, or the right to capture is missing; the message says which.
    pub fn open(options: &LiveOptions) -> Result<Self, CaptureError> {
        let name = PathBuf::from(match options.interfaces.is_empty() {
            true => ANY.to_owned(),
            false => options.interfaces.join(","),
        });
        let error = |trouble| CaptureError { input: name.clone(), offset: 0, trouble };
        let interfaces = Interfaces::find(&options.interfaces).map_err(error)?;
        let program = filter::segments(interfaces.indices(), &options.ports);
        let room = options.snap.map_or(HEADERS, |snap| snap as usize);
        let socket = PacketSocket::open(&program, room).map_err(|why| {
            error(match why.kind() {
                io::ErrorKind::PermissionDenied => CaptureTrouble::NotPermitted,
                _ => CaptureTrouble::Io(why),
            })
        })?;
        Ok(Self {
            name,
            socket,
            interfaces,
            ports: options.ports.clone(),
            changes: Vec::new(),
            looked: Instant::ZERO,
            stop: Arc::default(),
            snap: options.snap,
            counters: CaptureCounters::default(),
        })
    }

    /// Returns the interfaces that have disappeared or returned since the last call. One that
    /// returns is captured again.
    pub fn take_changes(&mut self) -> Vec<InterfaceChange> {
        std::mem::take(&mut self.changes)
    }

    /// Checks the interfaces, if it is due.
    fn check_interfaces(&mut self, received: bool) -> io::Result<()> {
        let now = self.counters.last;
        if received && now < self.looked + LOOK_EVERY {
            return Ok(());
        }
        self.looked = now;
        let changes = self.interfaces.poll_changes();
        if !changes.is_empty() {
            self.socket.filter(&filter::segments(self.interfaces.indices(), &self.ports))?;
            self.changes.extend(changes);
        }
        Ok(())
    }

    /// Returns a flag that ends the capture once it is set: [`SegmentSource::next_batch`] returns
    /// `false`.
    pub fn stopper(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Waits for packets, and passes on those that are ready; returns `false` if none arrives
    /// within `wait`.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn receive(
        &mut self,
        wait: Duration,
        mut each: impl FnMut(LivePacket<'_>),
    ) -> io::Result<bool> {
        let received = self.fetch(wait, &mut each)?;
        self.check_interfaces(received)?;
        Ok(received)
    }

    fn fetch(&mut self, wait: Duration, each: &mut impl FnMut(LivePacket<'_>)) -> io::Result<bool> {
        let Self { socket, counters, snap, .. } = self;
        let is_whole = snap.is_some();
        socket.receive(wait, |note, buffer| {
            let record = record(note, buffer, is_whole);
            let length = (note.length + SLL2) as u32;
            counters.count(note.at, record.len(), length);
            each(LivePacket { at: note.at, record, length });
        })
    }

    /// Stops the capture, passes on the packets that are left, and returns how many packets the
    /// kernel has dropped because they were not fetched in time.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn finish(mut self, mut each: impl FnMut(LivePacket<'_>)) -> io::Result<u64> {
        self.socket.close()?;
        while self.fetch(Duration::ZERO, &mut each)? {}
        // Without a loopback interface, the number of drops stays as it is.
        let _ = self.socket.read_losses();
        Ok(self.socket.dropped())
    }

    /// Passes on the segments that are ready; returns `false` after the last, once the capture is
    /// to end.
    fn segments(&mut self, batch: &mut BatchFiller<'_>) -> io::Result<bool> {
        let is_over = self.stop.load(Ordering::Relaxed);
        if is_over {
            self.socket.close()?;
        }
        let wait = if is_over { Duration::ZERO } else { WAIT };
        let Self { socket, counters, snap, .. } = self;
        let is_whole = snap.is_some();
        let received = socket.receive(wait, |note, buffer| {
            let length = (note.length + SLL2) as u32;
            let (at, bytes) = (note.at, &*record(note, buffer, is_whole));
            let (link, direction) = (LinkType::LinuxSll2, PacketDirection::Unknown);
            let frame = Frame { at, link, length, bytes, interface: 0, direction };
            if decode(&frame, counters, batch.next_slot()) {
                batch.keep_slot();
            }
        })?;
        match is_over {
            true if !received => drop(self.socket.read_losses()),
            true => {}
            false => self.check_interfaces(received)?,
        }
        Ok(received || !is_over)
    }
}

/// Makes a record of a packet, which is in the buffer after room for the header.
fn record<'a>(note: &Note, buffer: &'a mut [u8], is_whole: bool) -> &'a mut [u8] {
    let (header, packet) = buffer.split_at_mut(SLL2);
    header.fill(0);
    header[..2].copy_from_slice(&note.protocol.to_be_bytes());
    header[4..8].copy_from_slice(&note.interface.to_be_bytes());
    header[8..10].copy_from_slice(&note.hardware.to_be_bytes());
    header[10] = note.packet_type;
    let captured = note.length.min(packet.len());
    let headers =
        if is_whole { None } else { headers_len(&packet[..captured], note.length as u32) };
    &mut buffer[..SLL2 + headers.map_or(captured, |headers| headers.min(captured))]
}

impl SegmentSource for LiveCapture {
    fn next_batch(&mut self, batch: &mut Vec<Observed>) -> Result<bool, CaptureError> {
        let received = self.segments(&mut BatchFiller::new(batch));
        received.map_err(|why| CaptureError {
            input: self.name.clone(),
            offset: 0,
            trouble: CaptureTrouble::Io(why),
        })
    }

    fn counters(&self) -> CaptureCounters {
        let mut counters = self.counters;
        counters.lost = self.socket.dropped();
        counters
    }

    fn progress(&self) -> InputProgress {
        InputProgress { read: self.counters.captured_bytes, total: None }
    }
}
