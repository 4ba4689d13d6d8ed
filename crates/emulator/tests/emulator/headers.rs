//! Headers read from packets and written into them.

use crate::packets::{Made, adds_up, set_traffic_class};
use emulator::{classify, mark_ce};
use etherparse::PacketBuilder;
use link::PacketInfo;
use proptest::prelude::*;

fn of(made: Made) -> PacketInfo {
    classify(&made.tcp())
}

/// RFC 3168 §5: Not-ECT 00, ECT(1) 01, ECT(0) 10, CE 11.
#[test]
fn ecn_is_read_from_both_families() {
    for v6 in [false, true] {
        let capable = [0, 1, 2, 3]
            .map(|traffic_class| of(Made { v6, traffic_class, ..Made::plain(0) }).ecn_capable);
        assert_eq!(capable, [false, true, true, true]);
    }
}

/// RFC 2597 §6: AFij is 8i + 2j; with two levels, j = 1 is the better one (§2). Best effort, CS1
/// (8) and EF (46) have no drop precedence.
#[test]
fn drop_precedence_is_read_from_both_families() {
    for v6 in [false, true] {
        let low =
            |dscp: u8| of(Made { v6, traffic_class: dscp << 2 | 1, ..Made::plain(0) }).low_priority;
        for class in 1..=4 {
            let precedences = [1, 2, 3].map(|precedence| low(8 * class + 2 * precedence));
            assert_eq!(precedences, [false, true, true], "AF{class}x");
        }
        assert_eq!([0, 8, 46, 44].map(low), [false; 4]);
    }
}

#[test]
fn only_bare_acknowledgements_are_pure() {
    let write = |builder: etherparse::PacketBuilderStep<etherparse::TcpHeader>, payload: &[u8]| {
        let mut packet = Vec::new();
        builder.write(&mut packet, payload).unwrap();
        classify(&packet).pure_ack
    };
    let tcp = || PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(1, 2, 3, 4);
    assert!(write(tcp().ack(1), &[]));
    assert!(!write(tcp().ack(1), &[0]));
    assert!(!write(tcp().ack(1).syn(), &[]));
    assert!(!write(tcp().ack(1).fin(), &[]));
    assert!(!write(tcp().ack(1).rst(), &[]));
    assert!(!write(tcp().syn(), &[]));
    let mut udp = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1, 2);
    builder.write(&mut udp, &[]).unwrap();
    assert!(!classify(&udp).pure_ack);
}

/// The packets of a flow share a number, those of two ports do not; the contents of a packet, and
/// its traffic class, do not matter.
#[test]
fn a_flow_is_hosts_and_ports() {
    for v6 in [false, true] {
        let flow = |port, payload, traffic_class| {
            of(Made { v6, port, payload, traffic_class, serial: payload as u32 }).flow
        };
        assert_eq!(flow(5000, 0, 0), flow(5000, 900, 2));
        assert_ne!(flow(5000, 0, 0), flow(5001, 0, 0));
    }
}

/// Sizes are those of whole IP packets, whatever can be read of them.
#[test]
fn size_is_the_whole_packet() {
    assert_eq!(of(Made::plain(960)).bytes, 1000);
    assert_eq!(classify(&[0xff; 77]), PacketInfo::plain(77));
    assert_eq!(classify(&[]), PacketInfo::plain(0));
}

proptest! {
    /// Any packet is read without error, and a mark changes nothing but the two bits and the
    /// checksum.
    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        prop_assert_eq!(classify(&bytes).bytes as usize, bytes.len());
        let mut marked = bytes.clone();
        if !mark_ce(&mut marked) {
            prop_assert_eq!(&marked, &bytes);
        }
        prop_assert_eq!(marked.len(), bytes.len());
    }

    /// A correct packet is correct with its mark: CE, the checksum, everything else alike. A packet
    /// that is not ECN-capable stays unchanged.
    #[test]
    fn a_mark_is_ce_and_a_checksum(v6: bool, class: u8, port: u16, payload in 0usize..1400) {
        let packet = Made { v6, port, traffic_class: class, payload, serial: 9 }.tcp();
        let mut marked = packet.clone();
        prop_assert_eq!(mark_ce(&mut marked), class & 3 != 0);
        let mut expected = packet;
        if class & 3 != 0 {
            set_traffic_class(&mut expected, class | 3);
        }
        prop_assert!(v6 || adds_up(&marked));
        prop_assert_eq!(marked, expected);
    }

    /// A checksum that was wrong stays wrong by as much: damage is not covered up.
    #[test]
    fn damage_stays_visible(class: u8, damage in 1u16..0xffff) {
        let mut packet = Made { traffic_class: class | 2, ..Made::plain(0) }.tcp();
        let wrong = u16::from_be_bytes([packet[10], packet[11]]) ^ damage;
        packet[10..12].copy_from_slice(&wrong.to_be_bytes());
        prop_assume!(!adds_up(&packet));
        mark_ce(&mut packet);
        prop_assert!(!adds_up(&packet));
    }
}
