//! Captures made by hand.

use std::fs;
use std::path::Path;

/// A packet of a capture.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// Microseconds since 1970.
    pub(crate) micros: u64,
    pub(crate) bytes: Vec<u8>,
    /// Bytes on the wire.
    pub(crate) length: u32,
}

/// The packets of a file as tcpdump on Intel writes it: little-endian, microseconds.
pub(crate) fn packets(path: &Path) -> Vec<Packet> {
    let file = fs::read(path).unwrap();
    let mut rest = &file[24..];
    let mut packets = vec![];
    while !rest.is_empty() {
        let word = |n: usize| u32::from_le_bytes(rest[4 * n..4 * n + 4].try_into().unwrap());
        let (micros, captured) = (u64::from(word(0)) * 1_000_000 + u64::from(word(1)), word(2));
        let length = word(3);
        let bytes = rest[16..16 + captured as usize].to_vec();
        rest = &rest[16 + captured as usize..];
        packets.push(Packet { micros, bytes, length });
    }
    packets
}

/// Integers in one byte order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    pub(crate) fn half(self, number: u16) -> [u8; 2] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(crate) fn word(self, number: u32) -> [u8; 4] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }

    pub(crate) fn words(self, numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| self.word(*number)).collect()
    }

    pub(crate) fn long(self, number: u64) -> [u8; 8] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }
}

/// The header of a pcap file (draft-ietf-opsawg-pcap §4): magic, version 2.4, two words of zeros,
/// snap length, link type.
pub(crate) fn pcap_header(order: Order, is_nanos: bool, link: u32) -> Vec<u8> {
    let magic = if is_nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let version = [order.half(2), order.half(4)].concat();
    [&order.word(magic)[..], &version, &order.words(&[0, 0, 65_535, link])].concat()
}

/// A pcap file.
pub(crate) fn pcap(order: Order, is_nanos: bool, link: u32, packets: &[Packet]) -> Vec<u8> {
    let unit = if is_nanos { 1_000 } else { 1 };
    let mut file = pcap_header(order, is_nanos, link);
    for Packet { micros, bytes, length } in packets {
        let (seconds, fraction) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32 * unit);
        file.extend(order.words(&[seconds, fraction, bytes.len() as u32, *length]));
        file.extend(bytes);
    }
    file
}

/// A pcapng file being made, block by block.
#[derive(Debug)]
pub(crate) struct PcapNg {
    pub(crate) order: Order,
    pub(crate) file: Vec<u8>,
}

impl PcapNg {
    /// Begins with a section.
    pub(crate) fn new(order: Order) -> Self {
        let mut new = Self { order, file: vec![] };
        new.section(order);
        new
    }

    /// A section header (draft-ietf-opsawg-pcapng §4.1): byte-order magic, version 1.0, length
    /// unknown.
    pub(crate) fn section(&mut self, order: Order) {
        self.order = order;
        let version = [order.half(1), order.half(0)].concat();
        let body = [&order.word(0x1a2b_3c4d)[..], &version, &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body);
    }

    /// A block, padded.
    pub(crate) fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let length = 12 + padded as u32;
        self.file.extend(self.order.words(&[kind, length]));
        self.file.extend(body);
        self.file.resize(self.file.len() + padded - body.len(), 0);
        self.file.extend(self.order.word(length));
    }

    /// An option, padded.
    pub(crate) fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = [self.order.half(code), self.order.half(value.len() as u16)].concat();
        option.extend(value);
        option.resize(4 + value.len().next_multiple_of(4), 0);
        option
    }

    /// An interface (§4.2), with options if there are any.
    pub(crate) fn interface(&mut self, link: u16, snap: u32, options: &[u8]) {
        let link = [self.order.half(link), [0; 2]].concat();
        let end = if options.is_empty() { &[][..] } else { &[0; 4] };
        self.block(1, &[&link, &self.order.word(snap)[..], options, end].concat());
    }

    /// An enhanced packet (§4.3), with options if there are any.
    pub(crate) fn packet(&mut self, interface: u32, ticks: u64, packet: &Packet, options: &[u8]) {
        let words = [
            interface,
            (ticks >> 32) as u32,
            ticks as u32,
            packet.bytes.len() as u32,
            packet.length,
        ];
        let mut body = self.order.words(&words);
        body.extend(&packet.bytes);
        if !options.is_empty() {
            body.resize(body.len().next_multiple_of(4), 0);
            body.extend(options);
            body.extend([0; 4]);
        }
        self.block(6, &body);
    }
}
