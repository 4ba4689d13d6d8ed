//! IPv4, TCP and UDP headers of a simulated packet, byte by byte, by crate `etherparse`.
//!
//! The payload is taken to be zeros: it counts in lengths and checksums and is not written.

use crate::packet::{Body, Packet, Transit};
use crate::{HostId, address_of};
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use std::io;
use std::net::IpAddr;
use tcp::{Ecn, Flags, Options, Segment};

const TIME_TO_LIVE: u8 = 64;
/// The port of datagrams at both ends: discard (RFC 863).
const DATAGRAM_PORT: u16 = 9;
/// Assured forwarding, class 1, high drop precedence (RFC 2597 §6): a packet of low priority. Others
/// carry the default code point.
const AF13: u8 = 14;
static ZEROS: [u8; 65_535] = [0; 65_535];

/// The headers of one packet and its whole length.
#[derive(Debug)]
pub(super) struct Headers {
    pub(super) bytes: Vec<u8>,
    /// Headers and payload, as the IP header says.
    pub(super) packet_len: u32,
}

impl Headers {
    /// # Errors
    /// If the packet is larger than IP packets can be, or its options than TCP's may be.
    pub(super) fn of(packet: &Packet) -> io::Result<Self> {
        match &packet.body {
            Body::Segment(transit) => of_segment(packet, transit),
            Body::Datagram(_) => of_datagram(packet),
        }
    }
}

fn of_segment(packet: &Packet, transit: &Transit) -> io::Result<Headers> {
    let segment = &transit.segment;
    let mut tcp = tcp_header(transit)?;
    let payload = zeros(u64::from(segment.len))?;
    let ip = ip_header(packet, IpNumber::TCP, (tcp.header_len() + payload.len(), segment.ecn))?;
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).map_err(io::Error::other)?;
    Ok(joined(&ip, &tcp.to_bytes()))
}

fn of_datagram(packet: &Packet) -> io::Result<Headers> {
    let overhead = (Ipv4Header::MIN_LEN + UdpHeader::LEN) as u64;
    let payload = zeros(u64::from(packet.wire_bytes).saturating_sub(overhead))?;
    let length = UdpHeader::LEN + payload.len();
    let ip = ip_header(packet, IpNumber::UDP, (length, Ecn::NotEct))?;
    let ports = (DATAGRAM_PORT, DATAGRAM_PORT);
    let udp = UdpHeader::with_ipv4_checksum(ports.0, ports.1, &ip, payload);
    Ok(joined(&ip, &udp.map_err(io::Error::other)?.to_bytes()))
}

fn joined(ip: &Ipv4Header, transport: &[u8]) -> Headers {
    let bytes = [&ip.to_bytes()[..], transport].concat();
    Headers { bytes, packet_len: u32::from(ip.total_len) }
}

fn zeros(len: u64) -> io::Result<&'static [u8]> {
    let zeros = usize::try_from(len).ok().and_then(|len| ZEROS.get(..len));
    zeros.ok_or_else(|| io::Error::other(format!("{len} bytes do not fit an IP packet")))
}

fn ip_header(
    packet: &Packet,
    protocol: IpNumber,
    (payload, ecn): (usize, Ecn),
) -> io::Result<Ipv4Header> {
    let payload = u16::try_from(payload).map_err(io::Error::other)?;
    let (from, to) = (octets(packet.from), octets(packet.to));
    let header = Ipv4Header::new(payload, TIME_TO_LIVE, protocol, from, to);
    let mut header = header.map_err(io::Error::other)?;
    header.dont_fragment = true;
    if packet.low_priority {
        header.dscp = IpDscp::try_new(AF13).map_err(io::Error::other)?;
    }
    header.ecn = match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    };
    header.header_checksum = header.calc_header_checksum();
    Ok(header)
}

fn octets(host: HostId) -> [u8; 4] {
    match address_of(host) {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(_) => [0; 4],
    }
}

fn tcp_header(transit: &Transit) -> io::Result<TcpHeader> {
    let Segment { seq, ack, window, options, .. } = &transit.segment;
    let has = |flags| transit.segment.has(flags);
    let (source, destination) = (transit.source_port, transit.destination_port);
    let mut header = TcpHeader::new(source, destination, seq.0, *window);
    header.acknowledgment_number = if has(Flags::ACK) { ack.0 } else { 0 };
    header.fin = has(Flags::FIN);
    header.syn = has(Flags::SYN);
    header.rst = has(Flags::RST);
    header.psh = has(Flags::PSH);
    header.ack = has(Flags::ACK);
    header.ece = has(Flags::ECE);
    header.cwr = has(Flags::CWR);
    header.set_options(&option_elements(options)).map_err(io::Error::other)?;
    if let Some(performance) = &options.performance {
        let all = [header.options.as_slice(), &performance.to_bytes()].concat();
        header.set_options_raw(&all).map_err(io::Error::other)?;
    }
    Ok(header)
}

/// The options in the order in which Linux writes them, padding first, so that those of a
/// segment without SYN start at a word as RFC 7323 (appendix A) recommends.
fn option_elements(options: &Options) -> Vec<TcpOptionElement> {
    use TcpOptionElement as Element;
    let mut elements = Vec::new();
    let (mss, shift) = (options.mss, options.window_scale);
    elements.extend(mss.map(Element::MaximumSegmentSize));
    elements.extend(options.sack_permitted.then_some(Element::SelectiveAcknowledgementPermitted));
    elements.extend(options.timestamps.map(|ts| Element::Timestamp(ts.value, ts.echo)));
    elements.extend(shift.map(Element::WindowScale));
    elements.extend(sack_element(options));
    // It is whole words, so whatever stands before it is padded as without it.
    let bare = Options { performance: None, ..*options };
    let padding = bare.wire_bytes() as usize - unpadded(&elements);
    elements.splice(0..0, std::iter::repeat_n(Element::Noop, padding));
    elements
}

fn sack_element(options: &Options) -> Option<TcpOptionElement> {
    let mut blocks = options.sack.as_slice().iter().map(|(left, right)| (left.0, right.0));
    let first = blocks.next()?;
    let rest = [blocks.next(), blocks.next(), blocks.next()];
    Some(TcpOptionElement::SelectiveAcknowledgement(first, rest))
}

/// Bytes of the options without padding (RFC 9293 §3.1, RFC 7323 §2, §3, RFC 2018 §2, §3).
fn unpadded(elements: &[TcpOptionElement]) -> usize {
    let length = |element: &TcpOptionElement| match element {
        TcpOptionElement::Noop => 1,
        TcpOptionElement::MaximumSegmentSize(_) => 4,
        TcpOptionElement::WindowScale(_) => 3,
        TcpOptionElement::SelectiveAcknowledgementPermitted => 2,
        TcpOptionElement::SelectiveAcknowledgement(_, rest) => {
            10 + 8 * rest.iter().flatten().count()
        }
        TcpOptionElement::Timestamp(..) => 10,
    };
    elements.iter().map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppId, Datagram};
    use etherparse::{SlicedPacket, TransportSlice};
    use memory::Report;
    use tcp::{Performance, SackBlocks, Timestamps};
    use units::{Duration, SeqNum};

    fn packet(segment: Segment) -> Packet {
        let transit = Transit {
            segment,
            source_port: 10_000,
            destination_port: 443,
            payload_offset: 0,
            retransmission: false,
        };
        let wire_bytes = segment.wire_bytes();
        Packet {
            from: HostId(0),
            to: HostId(1),
            wire_bytes,
            low_priority: false,
            body: Body::Segment(transit),
        }
    }

    fn segment(options: Options) -> Segment {
        let flags = Flags::ACK.with(Flags::ECE);
        Segment {
            seq: SeqNum(7),
            ack: SeqNum(9),
            flags,
            options,
            ecn: Ecn::Ect0,
            ..Segment::default()
        }
    }

    /// The ones' complement sum of 16-bit words, which is all ones over a header with its
    /// checksum (RFC 1071).
    fn sum(bytes: &[u8]) -> u16 {
        let words =
            bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |b| u32::from(*b)));
        let sum: u32 = words.sum();
        (sum % 0xffff) as u16
    }

    #[test]
    fn checksums_add_up() {
        let mut data = segment(Options::default());
        data.len = 1000;
        let headers = Headers::of(&packet(data)).unwrap();
        assert_eq!((headers.bytes.len(), headers.packet_len), (40, 1040));
        assert_eq!(sum(&headers.bytes[..20]), 0, "the IP header");
        // Pseudo-header: both addresses, protocol 6, TCP length 1020; the payload is zeros.
        let pseudo = [&headers.bytes[12..20], &[0, 6], &1020u16.to_be_bytes()].concat();
        assert_eq!(sum(&[&pseudo[..], &headers.bytes[20..]].concat()), 0, "the TCP header");
    }

    #[test]
    fn low_priority_is_high_drop_precedence() {
        // The second byte of the IP header is the code point and the ECN field: AF13 = 001110 and
        // ECT(0) = 10 (RFC 2474 §3, RFC 3168 §5).
        for (low_priority, byte) in [(false, 0b0000_0010), (true, 0b0011_1010)] {
            let packet = Packet { low_priority, ..packet(segment(Options::default())) };
            assert_eq!(Headers::of(&packet).unwrap().bytes[1], byte);
        }
    }

    #[test]
    fn a_report_to_a_gateway_is_on_the_wire() {
        let report = Report { share: 12_345, rtt: Some(Duration::from_micros(67)) };
        let performance = Performance::of(&report);
        let timestamps = Some(Timestamps { value: 5, echo: 4 });
        for timestamps in [None, timestamps] {
            let segment = segment(Options { performance, timestamps, ..Options::default() });
            let headers = Headers::of(&packet(segment)).unwrap();
            assert_eq!(headers.bytes.len() as u32, segment.wire_bytes());
            // Options follow the 20 bytes of the IP header and the 20 of TCP's.
            assert_eq!(Performance::find(&headers.bytes[40..]), performance);
        }
    }

    #[test]
    fn options_are_as_long_as_the_segment_says() {
        let timestamps = Some(Timestamps { value: 5, echo: 4 });
        let mut sack = SackBlocks::default();
        (0..3).for_each(|n| sack.push(SeqNum(n), SeqNum(n + 1)));
        let syn = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps,
            ..Options::default()
        };
        for options in [Options::default(), syn, Options { timestamps, sack, ..Options::default() }]
        {
            let segment = segment(options);
            let headers = Headers::of(&packet(segment)).unwrap();
            assert_eq!(headers.packet_len, segment.wire_bytes());
            assert_eq!(headers.bytes.len() as u32, segment.wire_bytes());
            let parsed = SlicedPacket::from_ip(&headers.bytes).unwrap();
            let Some(TransportSlice::Tcp(tcp)) = parsed.transport else { panic!("not TCP") };
            let found = tcp.options_iterator().filter_map(Result::ok);
            let found: Vec<_> = found.filter(|option| *option != TcpOptionElement::Noop).collect();
            let expected =
                option_elements(&options).into_iter().filter(|o| *o != TcpOptionElement::Noop);
            assert_eq!(found, expected.collect::<Vec<_>>());
            assert!(tcp.ece() && tcp.ack() && !tcp.syn());
        }
    }

    #[test]
    fn a_datagram_is_udp_of_the_same_size() {
        let body = Body::Datagram(Datagram { app: AppId(0), tag: 0 });
        let packet =
            Packet { from: HostId(0), to: HostId(1), wire_bytes: 210, low_priority: false, body };
        let headers = Headers::of(&packet).unwrap();
        assert_eq!((headers.bytes.len(), headers.packet_len), (28, 210));
    }

    #[test]
    fn what_ip_cannot_carry_is_an_error() {
        let mut data = segment(Options::default());
        data.len = 65_500;
        assert!(Headers::of(&packet(data)).is_err());
    }
}
