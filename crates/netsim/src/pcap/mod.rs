//! Captures of a link, in a file that tcpdump, tshark and Wireshark open.
//!
//! The format is classic pcap with nanosecond times (magic `a1b23c4d`) and raw IP packets
//! (`LINKTYPE_RAW`, 101), cut off after their headers; see `man pcap-savefile`. Time zero of the
//! simulation is time zero of the file.
//!
//! [`Captures::begin`] writes the packets that crossed the link, each as its last bit leaves the
//! queue. Packets that the queue dropped are missing, those lost on the wire are not.
//! [`Captures::begin_at_sender`] writes the packets offered to the link, like a capture on its
//! sender.

mod headers;

use crate::observer::{Observer, Step};
use crate::{LinkId, SimPacket};
use headers::Headers;
use std::io::{self, Write};
use units::Instant;
use wire::PcapFile;

/// A capture that is being written.
#[derive(Debug)]
struct Capture<W> {
    link: LinkId,
    file: PcapFile<W>,
}

impl<W: Write> Capture<W> {
    fn record(&mut self, at: Instant, packet: &SimPacket) -> io::Result<()> {
        let Headers { bytes, packet_len } = Headers::of(packet)?;
        self.file.record(at, &bytes, packet_len)
    }
}

/// An observer that writes a capture for each of several links.
#[derive(Debug)]
pub struct Captures<W> {
    captures: Vec<Capture<W>>,
    /// Index of the capture, by link.
    of_link: Vec<Option<usize>>,
    /// True if packets are captured before the queue.
    at_sender: bool,
    /// The error that stopped writing.
    failure: Option<io::Error>,
}

impl<W: Write> Captures<W> {
    /// Starts captures of these links, each to its own writer, which should be buffered.
    ///
    /// # Errors
    /// If a file header cannot be written.
    pub fn begin(links: impl IntoIterator<Item = (LinkId, W)>) -> io::Result<Self> {
        let (mut captures, mut of_link) = (Vec::new(), Vec::new());
        for (link, out) in links {
            if link.index() >= of_link.len() {
                of_link.resize(link.index() + 1, None);
            }
            of_link[link.index()] = Some(captures.len());
            captures.push(Capture { link, file: PcapFile::begin(out)? });
        }
        Ok(Self { captures, of_link, at_sender: false, failure: None })
    }

    /// Starts captures of the packets offered to these links, whether their queues accept them or
    /// not.
    ///
    /// # Errors
    /// The same errors as [`Captures::begin`].
    pub fn begin_at_sender(links: impl IntoIterator<Item = (LinkId, W)>) -> io::Result<Self> {
        Ok(Self { at_sender: true, ..Self::begin(links)? })
    }

    /// Flushes all captures and returns the writers.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<Vec<(LinkId, W)>> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let finish = |capture: Capture<W>| Ok((capture.link, capture.file.finish()?));
        self.captures.into_iter().map(finish).collect()
    }
}

impl<W: Write + 'static> Observer for Captures<W> {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let seen = match step {
            Step::Enter { .. } | Step::Drop { .. } => self.at_sender,
            Step::Leave => !self.at_sender,
            Step::Discard { .. } | Step::Mark | Step::Lose | Step::Arrive => false,
        };
        if !seen || self.failure.is_some() {
            return;
        }
        if let Some(Some(index)) = self.of_link.get(link.index()) {
            self.failure = self.captures[*index].record(at, packet).err();
        }
    }
}
