//! Properties of a packet that a queue may use, from its bytes.

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use link::PacketInfo;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use wire::Dscp;

/// Reads an IPv4 or IPv6 packet as far as queues look at it. Unreadable bytes are a packet of that
/// size and nothing else. So are fragments after the first, except for the flow's hosts.
///
/// - ECN-capable: ECT(0), ECT(1) or CE (RFC 3168 §5).
/// - Low priority: the packets that queues drop first by their code point ([`Dscp::is_high_drop`]).
/// - A pure acknowledgement: TCP without payload, SYN, FIN or RST.
/// - The flow: addresses, protocol and, where there are any, ports (RFC 8290 §3).
pub fn classify(packet: &[u8]) -> PacketInfo {
    let bytes = u32::try_from(packet.len()).unwrap_or(u32::MAX);
    let Ok(sliced) = LaxSlicedPacket::from_ip(packet) else {
        return PacketInfo::plain(bytes);
    };
    let mut hasher = FxHasher::default();
    let Some(traffic_class) = sliced.net.as_ref().and_then(|net| of_network(net, &mut hasher))
    else {
        return PacketInfo::plain(bytes);
    };
    let pure_ack = sliced.transport.as_ref().is_some_and(|t| of_transport(t, &mut hasher));
    PacketInfo {
        bytes,
        ecn_capable: traffic_class & 0b11 != 0,
        low_priority: Dscp::new(traffic_class >> 2).is_high_drop(),
        pure_ack,
        flow: hasher.finish(),
    }
}

/// Hashes the hosts and the protocol; the octet of DSCP and ECN.
fn of_network(net: &LaxNetSlice<'_>, hasher: &mut FxHasher) -> Option<u8> {
    match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            (header.source(), header.destination(), header.protocol().0).hash(hasher);
            Some(header.dcp().value() << 2 | header.ecn().value())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            (header.source(), header.destination(), ip.payload().ip_number.0).hash(hasher);
            Some(header.traffic_class())
        }
        LaxNetSlice::Arp(_) => None,
    }
}

/// Hashes the ports; true of a pure acknowledgement.
fn of_transport(transport: &TransportSlice<'_>, hasher: &mut FxHasher) -> bool {
    match transport {
        TransportSlice::Tcp(tcp) => {
            (tcp.source_port(), tcp.destination_port()).hash(hasher);
            tcp.ack() && tcp.payload().is_empty() && !(tcp.syn() || tcp.fin() || tcp.rst())
        }
        TransportSlice::Udp(udp) => {
            (udp.source_port(), udp.destination_port()).hash(hasher);
            false
        }
        TransportSlice::Icmpv4(_) | TransportSlice::Icmpv6(_) | TransportSlice::Igmp(_) => false,
    }
}
