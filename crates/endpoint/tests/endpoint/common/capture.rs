//! Reads the output of a [`super::line::Line`].

use wire::{Packet, TcpPacket};

/// Returns the segments of a capture in order; other packets are skipped.
pub(crate) fn segments(pcap: &[u8]) -> Vec<TcpPacket> {
    // The format by man pcap-savefile: 24 bytes, then for each packet 16 bytes, whose third word is
    // its length.
    let (mut rest, mut segments) = (&pcap[24..], Vec::new());
    while let Some((header, behind)) = rest.split_at_checked(16) {
        let len = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
        let (packet, behind) = behind.split_at(len);
        if let Ok(Packet::Tcp(packet, _)) = wire::parse(packet) {
            segments.push(packet);
        }
        rest = behind;
    }
    segments
}

/// A packet of the emulator's log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) down: bool,
    pub(crate) delivered: bool,
    pub(crate) marked: bool,
    pub(crate) bytes: u64,
    /// Arrival at the link, nanoseconds.
    pub(crate) arrived: u64,
    /// Time at which its last bit left, or it was dropped, nanoseconds.
    pub(crate) left: u64,
    pub(crate) low_priority: bool,
}

/// Returns the rows of a log.
pub(crate) fn rows(log: &str) -> Vec<Row> {
    let mut lines = log.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let column = |name| names.iter().position(|n| *n == name).unwrap();
    let row = |row: Vec<&str>| Row {
        down: row[column("direction")] == "down",
        delivered: row[column("fate")] == "delivered",
        marked: row[column("marked")] == "true",
        bytes: row[column("bytes")].parse().unwrap(),
        arrived: row[column("arrived")].parse().unwrap(),
        left: row[column("left")].parse().unwrap(),
        low_priority: row[column("low_priority")] == "true",
    };
    lines.map(row).collect()
}
