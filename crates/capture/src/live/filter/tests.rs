//! Runs the filter's program in an interpreter that follows the kernel, and compares the result
//! with the specification.

use super::*;
use proptest::prelude::*;

/// A packet, and the kernel's metadata of it.
#[derive(Clone, Debug)]
struct Seen {
    interface: u32,
    hardware: u32,
    packet_type: u32,
    protocol: u32,
    bytes: Vec<u8>,
}

/// Runs a program (`man 4 bpf`, `net/core/filter.c`): a load past the end of the packet ends it
/// with 0.
fn passes(program: &[Instruction], seen: &Seen) -> bool {
    run(program, seen).unwrap_or(0) > 0
}

fn run(program: &[Instruction], seen: &Seen) -> Option<u32> {
    let byte = |at: u32| seen.bytes.get(at as usize).copied().map(u32::from);
    let half = |at: u32| Some(byte(at)? << 8 | byte(at + 1)?);
    let (mut a, mut x, mut at) = (0_u32, 0_u32, 0);
    loop {
        let Instruction { code, then, otherwise, k } = program[at];
        at += 1;
        let mut jump =
            |condition: bool| at += usize::from(if condition { then } else { otherwise });
        match code {
            LOAD_WORD => {
                a = match k {
                    PROTOCOL => seen.protocol,
                    PACKET_TYPE => seen.packet_type,
                    INTERFACE => seen.interface,
                    HARDWARE => seen.hardware,
                    _ => panic!("a load of {k:#x}"),
                }
            }
            LOAD_HALF => a = half(k)?,
            LOAD_BYTE => a = byte(k)?,
            LOAD_HALF_AT_X => a = half(x + k)?,
            LOAD_X => x = k,
            LOAD_X_HEADER => x = 4 * (byte(k)? & 15),
            ADD => a += k,
            SHIFT_LEFT => a <<= k,
            TO_X => x = a,
            JUMP => at += k as usize,
            IF_EQUAL => jump(a == k),
            IF_ABOVE => jump(a > k),
            IF_AT_LEAST => jump(a >= k),
            IF_BITS => jump(a & k != 0),
            RETURN => return Some(k),
            _ => panic!("an instruction {code:#x}"),
        }
    }
}

/// Returns a TCP packet over IPv4 with options of `extra` words, or over IPv6. There `extra` adds a
/// hop-by-hop header with this many units of eight bytes after the first.
fn packet(is_v6: bool, extra: Option<u8>, ports: [u16; 2]) -> Vec<u8> {
    let mut bytes = match (is_v6, extra) {
        (false, words) => {
            let words = words.unwrap_or(0);
            let mut header = vec![0; 20 + 4 * usize::from(words)];
            (header[0], header[9]) = (0x45 + words, 6);
            header
        }
        (true, None) => {
            let mut header = vec![0; 40];
            (header[0], header[6]) = (0x60, 6);
            header
        }
        (true, Some(eights)) => {
            let mut header = vec![0; 48 + 8 * usize::from(eights)];
            (header[0], header[40], header[41]) = (0x60, 6, eights);
            header
        }
    };
    ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
    bytes.extend([0; 16]);
    bytes
}

fn seen(is_v6: bool, bytes: Vec<u8>) -> Seen {
    let protocol = if is_v6 { ETHERTYPE_IPV6 } else { ETHERTYPE_IPV4 };
    Seen { interface: 3, hardware: 1, packet_type: 0, protocol, bytes }
}

fn range() -> impl Strategy<Value = PortRange> {
    (1..200_u16, 0..20_u16, any::<bool>()).prop_map(|(first, more, one)| PortRange {
        first,
        last: first + if one { 0 } else { more },
    })
}

proptest! {
    /// A segment passes if one of its ports is within a range, and its interface is in the list.
    #[test]
    fn ports_and_interfaces_decide(
        ranges in prop::collection::vec(range(), 0..=PortRange::MAX_RANGES),
        interfaces in prop::collection::vec(1..6_u32, 0..5),
        ports in [1..230_u16, 1..230_u16],
        is_v6: bool,
        extra in prop::option::of(0..=10_u8),
    ) {
        let program = segments(&interfaces, &ranges);
        let within = |port: &u16| ranges.iter().any(|range| (range.first..=range.last).contains(port));
        let expected = (ranges.is_empty() || ports.iter().any(within))
            && (interfaces.is_empty() || interfaces.contains(&3));
        prop_assert_eq!(passes(&program, &seen(is_v6, packet(is_v6, extra, ports))), expected);
    }

    /// The program ends for any packet.
    #[test]
    fn any_packet_is_judged(bytes in prop::collection::vec(any::<u8>(), 0..80), is_v6: bool) {
        let ports = [PortRange { first: 80, last: 443 }];
        passes(&segments(&[3], &ports), &seen(is_v6, bytes.clone()));
        passes(&segments(&[], &[]), &seen(is_v6, bytes));
    }
}

#[test]
fn only_segments_pass() {
    let program = segments(&[], &["80".parse().unwrap()]);
    for is_v6 in [false, true] {
        let good = seen(is_v6, packet(is_v6, None, [80, 1]));
        assert!(passes(&program, &good));
        let mut udp = good.clone();
        udp.bytes[if is_v6 { 6 } else { 9 }] = 17;
        assert!(!passes(&program, &udp));
        assert!(!passes(&program, &Seen { protocol: 0x0806, ..good.clone() }));
        // A packet sent over the loopback interface is seen again when it is received.
        let looped = Seen { hardware: LOOPBACK, packet_type: OUTGOING, ..good.clone() };
        assert!(!passes(&program, &looped));
        assert!(passes(&program, &Seen { packet_type: 0, ..looped }));
        assert!(passes(&program, &Seen { packet_type: OUTGOING, ..good.clone() }));
        assert!(!passes(&reject_all(), &good));
    }
    let mut fragment = seen(false, packet(false, None, [80, 1]));
    fragment.bytes[7] = 185;
    assert!(!passes(&program, &fragment), "a later fragment");
    (fragment.bytes[6], fragment.bytes[7]) = (0x20, 0);
    assert!(passes(&program, &fragment), "the first fragment");
}

/// With the maximum number of ports and interfaces, every jump is short enough.
#[test]
fn the_longest_filter_is_possible() {
    let ranges = [PortRange { first: 1, last: 2 }; PortRange::MAX_RANGES];
    let interfaces = [7; PortRange::MAX_RANGES];
    let program = segments(&interfaces, &ranges);
    assert!(program.len() < 4_096, "what the kernel takes");
    assert!(!passes(&program, &seen(false, packet(false, None, [1, 2]))));
}

#[test]
fn ports_are_read() {
    let read = |text: &str| text.parse::<PortRange>().map(|range| (range.first, range.last));
    assert_eq!(read("443"), Ok((443, 443)));
    assert_eq!(read("8000-8080"), Ok((8000, 8080)));
    for wrong in ["", "0", "x", "80-", "90-80", "65536", "80,443", "0-5"] {
        assert!(read(wrong).unwrap_err().contains("neither a port"), "{wrong}");
    }
    assert_eq!(PortRange { first: 1, last: 1 }.to_string(), "1");
    assert_eq!(PortRange { first: 1, last: 9 }.to_string(), "1-9");
}
