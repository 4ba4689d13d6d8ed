//! Duplicate captures of packets, and networks that share addresses: captures with known answers,
//! and modified versions of them.

use crate::common::collect::found_in;
use crate::common::segments_of;
use capture::Observed;
use segment::Flags;
use std::net::{IpAddr, Ipv6Addr};
use units::{Duration, Instant};

/// Packets of the capture with losses, and retransmissions by the kernel's counters.
const PACKETS: u64 = 376;
const RETRANSMISSIONS: u64 = 6;

/// Gaps of copies, microseconds.
const GAPS: [u64; 9] = [1, 50, 150, 300, 700, 2_000, 5_000, 8_000, 20_000];

/// Counts of the engine.
#[derive(Debug, PartialEq, Eq)]
struct Counted {
    connections: usize,
    retransmissions: u64,
    copies: u64,
}

impl Counted {
    /// Returns one connection with the retransmissions of the kernel.
    const fn of_loss(copies: u64) -> Self {
        Self { connections: 1, retransmissions: RETRANSMISSIONS, copies }
    }
}

fn counted(segments: &[Observed]) -> Counted {
    let connections = found_in(segments).connections;
    let again = connections
        .iter()
        .map(|one| one.server_sent.retransmission_count() + one.client_sent.retransmission_count());
    Counted {
        connections: connections.len(),
        retransmissions: again.sum(),
        copies: connections.iter().map(|one| one.copies).sum(),
    }
}

fn in_order(mut segments: Vec<Observed>) -> Vec<Observed> {
    segments.sort_by_key(|segment| segment.at);
    segments
}

/// Duplicates each segment `micros` later, with a change.
fn mirrored(segments: &[Observed], micros: u64, change: impl Fn(&mut Observed)) -> Vec<Observed> {
    let copy = |segment: &Observed| {
        let mut copy = Observed { at: segment.at + Duration::from_micros(micros), ..*segment };
        change(&mut copy);
        copy
    };
    in_order(segments.iter().flat_map(|segment| [*segment, copy(segment)]).collect())
}

/// Returns all segments with a change.
fn changed(segments: &[Observed], change: impl Fn(&mut Observed)) -> Vec<Observed> {
    let mut segments = segments.to_vec();
    segments.iter_mut().for_each(change);
    segments
}

/// Returns the segments without the first packets, which are the handshake and the request.
fn middle_of(segments: &[Observed]) -> &[Observed] {
    &segments[6..]
}

#[test]
fn copies_that_follow_late_are_told_from_retransmissions() {
    for name in ["copies-500us", "copies-5ms", "copies-5ms-ipv6"] {
        let found = counted(&segments_of(name));
        assert_eq!(found, Counted::of_loss(PACKETS), "{name}");
    }
    for name in ["loss", "loss-id-zero"] {
        let found = counted(&segments_of(name));
        assert_eq!(found, Counted::of_loss(0), "{name}");
    }
}

/// IP IDs or timestamps show copies with any gap.
#[test]
fn copies_may_follow_at_any_gap() {
    let numbered = segments_of("loss");
    let stamped = changed(&numbered, |segment| segment.ip_id = 0);
    for micros in GAPS {
        let found = counted(&mirrored(&numbered, micros, |_| ()));
        assert_eq!(found, Counted::of_loss(PACKETS), "{micros}");
        assert_nearly_all(&mirrored(&stamped, micros, |_| ()), micros);
    }
}

/// Asserts that retransmissions are those of the kernel. Duplicate ACKs without IP ID may hide a
/// few copies of one another.
fn assert_nearly_all(segments: &[Observed], micros: u64) {
    let Counted { retransmissions, copies, .. } = counted(segments);
    assert_eq!(retransmissions, RETRANSMISSIONS, "{micros}");
    assert!((PACKETS - 8..=PACKETS).contains(&copies), "{micros}: {copies}");
}

/// Without IP ID and timestamps only the gap shows copies: that of the handshake.
#[test]
fn without_id_and_timestamps_copies_follow_at_one_gap() {
    let segments = segments_of("loss-id-zero");
    for micros in GAPS {
        assert_nearly_all(&mirrored(&segments, micros, |_| ()), micros);
    }
    // One duplicate SYN makes no copy of a retransmission.
    let mut with_syn = segments.clone();
    with_syn.push(Observed { at: segments[0].at + Duration::from_millis(5), ..segments[0] });
    assert_eq!(counted(&in_order(with_syn)), Counted::of_loss(1));
}

/// If the handshake is not in the capture, IP IDs and timestamps show copies.
#[test]
fn copies_are_told_in_the_middle_of_a_connection() {
    let segments = segments_of("loss");
    let numbered = middle_of(&segments);
    let copies = numbered.len() as u64;
    assert_eq!(counted(numbered), Counted::of_loss(0));
    assert_eq!(counted(&mirrored(numbered, 5_000, |_| ())), Counted::of_loss(copies));
    let unnumbered = changed(numbered, |segment| segment.ip_id = 0);
    // Only timestamps show these, once newer ones have been seen. Nothing shows the first ones.
    let found = counted(&mirrored(&unnumbered, 5_000, |_| ()));
    assert!(found.copies > copies - 20, "{found:?}");
    assert!(found.retransmissions < RETRANSMISSIONS + 20, "{found:?}");
}

/// A sender with one IP ID for all of its packets repeats it in retransmissions.
#[test]
fn one_id_for_all_packets_tells_nothing() {
    let segments = changed(&segments_of("loss-id-zero"), |segment| segment.ip_id = 7);
    assert_eq!(counted(&segments).retransmissions, RETRANSMISSIONS);
    assert_eq!(counted(middle_of(&segments)).retransmissions, RETRANSMISSIONS);
}

/// A router between VLANs 10 and 20 shows each packet in both, with a lower TTL in the second. A
/// tunnel may show it inside and outside.
#[test]
fn a_packet_in_two_networks_is_one() {
    let segments = changed(&segments_of("loss"), |segment| segment.label = 10);
    for (label, micros) in [(20, 20), (20, 3_000), (0, 20)] {
        let routed = mirrored(&segments, micros, |copy| {
            copy.label = label;
            copy.ttl -= 1;
        });
        assert_eq!(counted(&routed), Counted::of_loss(PACKETS), "{label} {micros}");
    }
}

/// Tunnels may have another number in each direction.
#[test]
fn each_direction_may_have_a_network_of_its_own() {
    for name in ["loss", "copies-5ms-ipv6"] {
        let segments = segments_of(name);
        let apart = changed(&segments, |segment| {
            segment.label =
                if segment.source.port < segment.destination.port { 0x1234 } else { 0x4321 };
        });
        assert_eq!(counted(&apart), counted(&segments), "{name}");
        assert_eq!(counted(middle_of(&apart)).connections, 1, "{name}");
    }
}

/// Answers of 4,344, 8,688 and 13,032 bytes, also if the addresses were of IPv6.
#[test]
fn networks_may_share_addresses() {
    let segments = segments_of("three-vlans");
    let with_v6 = changed(&segments, |segment| {
        for end in [&mut segment.source, &mut segment.destination] {
            let IpAddr::V4(ip) = end.ip else { continue };
            end.ip = IpAddr::V6(Ipv6Addr::from(u128::from(ip.to_bits()) | 0x2001_0db8 << 96));
        }
    });
    for segments in [segments, with_v6] {
        let expected = Counted { connections: 3, retransmissions: 0, copies: 0 };
        assert_eq!(counted(&segments), expected);
        let connections = found_in(&segments).connections;
        let mut sent: Vec<u64> = connections.iter().map(|one| one.server_sent.bytes).collect();
        sent.sort_unstable();
        assert_eq!(sent, [4_344, 8_688, 13_032]);
        // If no handshake was captured, the numbers are too far from each other.
        let without_syn: Vec<Observed> =
            segments.into_iter().filter(|segment| !segment.has(Flags::SYN)).collect();
        assert_eq!(found_in(&without_syn).connections.len(), 3);
    }
}

/// The ends of a connection in one network open another, whose packets are captured in a second
/// network first.
#[test]
fn ends_that_are_used_again_are_another_connection_in_all_networks() {
    const NUMBERS: u32 = 1 << 30;
    let segments = segments_of("loss");
    let minute = Duration::from_secs(60);
    let later = changed(&segments, |segment| {
        segment.at += minute;
        segment.seq = segment.seq + NUMBERS;
        segment.ack = segment.ack + NUMBERS;
        segment.label = 10;
    });
    let later = mirrored(&later, 5, |copy| copy.label = 0);
    let found = counted(&[segments, later].concat());
    let expected =
        Counted { connections: 2, retransmissions: 2 * RETRANSMISSIONS, copies: PACKETS };
    assert_eq!(found, expected);
}

/// A clock's first instants are no gap.
#[test]
fn a_capture_may_begin_at_time_zero() {
    let segments = segments_of("copies-5ms");
    let first = segments[0].at;
    let early = changed(&segments, |segment| {
        segment.at = Instant::ZERO + segment.at.saturating_since(first);
    });
    assert_eq!(counted(&early), Counted::of_loss(PACKETS));
}
