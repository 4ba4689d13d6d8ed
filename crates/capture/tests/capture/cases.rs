//! Captures with known answers (`tests/cases`).

use crate::tools::{Everything, assert_same};
use capture::{NotASegment, Observed, TlsContent, UdpUse};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A capture with known answers.
fn case(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    folder.join(format!("{name}.pcap.zst"))
}

/// Packets of the QUIC capture with long headers are 4 of 12.
#[test]
fn quic_is_told_by_its_handshake() {
    let counters = Everything::of_files([case("udp-443")]).counters;
    assert_eq!((counters.packets, counters.segments), (12, 0));
    assert_eq!((counters.of_udp(UdpUse::Quic), counters.of_udp(UdpUse::Other)), (4, 8));
}

/// Each form of the capture of an HTTP answer has the same segments, but for when the time of one
/// is none.
#[test]
fn every_form_of_a_capture_is_read() {
    let plain = Everything::of_files([case("http")]).segments;
    assert_eq!(plain.len(), 23);
    let answered = plain.iter().filter(|segment| segment.source.port == 80);
    assert_eq!(answered.map(|segment| segment.payload).sum::<u32>(), 14_480);
    for name in [
        "pppoe",
        "pppoe-compressed",
        "ppp",
        "ppp-compressed",
        "nflog",
        "pktap",
        "radiotap",
        "erspan",
        "gtp-u",
        "gre-over-udp",
    ] {
        assert_same(&Everything::of_files([case(name)]).segments, &plain, name);
    }
    let left_out = Everything::of_files([case("impossible-time")]);
    assert_same(&left_out.segments, &[&plain[..5], &plain[6..]].concat(), "impossible time");
    assert_eq!(left_out.counters.of(NotASegment::ImpossibleTime), 1);
    assert_eq!(left_out.counters.first_impossible, 6);
}

/// Three VLANs, as they are numbered.
#[test]
fn vlans_are_labels() {
    let segments = Everything::of_files([case("three-vlans")]).segments;
    let labels: BTreeSet<u16> = segments.iter().map(|segment| segment.label).collect();
    assert_eq!(labels, [10, 20, 30].into());
}

/// The first records of frames, as tshark numbers and names them.
#[test]
fn records_of_tls_are_told() {
    let segments = Everything::of_files([case("tls.server")]).segments;
    let of = |frame: u64| -> &Observed {
        segments.iter().find(|segment| segment.number == frame).expect("a segment")
    };
    let hello = |frame| {
        let tls = of(frame).tls;
        assert_eq!(tls.content(), TlsContent::ServerHello, "{frame}");
        (tls.version(), tls.is_resumed(), tls.certificate_len(), tls.record_len())
    };
    // TLS 1.3, 1.3 resumed, 1.2, 1.2 resumed.
    assert_eq!(hello(6), (Some(4), Some(false), None, 122));
    assert_eq!(hello(32), (Some(4), Some(true), None, 128));
    assert_eq!(hello(57), (Some(3), Some(false), Some(818), 69));
    assert_eq!(hello(80), (Some(3), Some(true), None, 85));
    for (frame, content, length) in [
        (4, TlsContent::ClientHello, 241),
        (8, TlsContent::ChangeCipherSpec, 1),
        (11, TlsContent::ApplicationData, 282),
        (59, TlsContent::Handshake, 37),
    ] {
        let tls = of(frame).tls;
        assert_eq!((tls.content(), tls.record_len()), (content, length), "{frame}");
    }
    // Client key exchange, and a new ticket.
    assert_eq!([59, 60].map(|frame| of(frame).tls.handshake_type()), [Some(16), Some(4)]);
    // The end of an answer that began segments before.
    assert_eq!(of(90).tls.content(), TlsContent::None);
}

/// With 16 bytes of TLS a packet, the first record is the same, and nothing is known of versions.
#[test]
fn of_a_cut_record_less_is_told() {
    let [whole, cut] =
        ["tls.server", "tls-snap82"].map(|name| Everything::of_files([case(name)]).segments);
    assert_eq!(whole.len(), cut.len());
    for (whole, cut) in whole.iter().zip(&cut) {
        assert_eq!(cut.tls.content(), whole.tls.content());
        assert_eq!(cut.tls.record_len(), whole.tls.record_len());
        assert_eq!(cut.tls.handshake_type(), whole.tls.handshake_type());
        assert_eq!((cut.tls.version(), cut.tls.certificate_len()), (None, None));
    }
}
