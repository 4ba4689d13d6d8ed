//! The file format of captures: classic pcap with nanosecond times.

use std::io::{self, Write};
use units::Instant;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const SNAPLEN: u32 = 65_535;
/// Packets that begin with their IP header (LINKTYPE_RAW).
const RAW: u32 = 101;

/// A capture being written; see `man pcap-savefile`.
#[derive(Debug)]
pub struct PcapFile<W>(W);

impl<W: Write> PcapFile<W> {
    /// Begins a file of packets without a link layer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(out: W) -> io::Result<Self> {
        Self::begin_with_link(out, RAW)
    }

    /// Begins a file of packets with a link layer, by its number (<https://www.tcpdump.org/linktypes.html>).
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_with_link(mut out: W, link: u32) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NANOSECONDS.to_le_bytes());
        header.extend(VERSION.map(u16::to_le_bytes).as_flattened());
        // Time zone and accuracy: zero, as always.
        header.extend([0; 8]);
        header.extend(SNAPLEN.to_le_bytes());
        header.extend(link.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self(out))
    }

    /// Writes the first `bytes` of a packet of `packet_len` bytes, headers included.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn record(&mut self, at: Instant, bytes: &[u8], packet_len: u32) -> io::Result<()> {
        const SECOND: u64 = 1_000_000_000;
        let (seconds, nanos) = (at.as_nanos() / SECOND, at.as_nanos() % SECOND);
        let fields = [seconds as u32, nanos as u32, bytes.len() as u32, packet_len];
        self.0.write_all(fields.map(u32::to_le_bytes).as_flattened())?;
        self.0.write_all(bytes)
    }

    /// Hands the written bytes over to the system.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    /// Flushes it and gives the writer back.
    ///
    /// # Errors
    /// If the rest cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.0.flush()?;
        Ok(self.0)
    }
}
