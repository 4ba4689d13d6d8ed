//! Describes packets of captures that are not analysed, and the captures' own remarks, in words.

use capture::{CaptureCounters, UdpUse};
use units::counted;

/// A line for each thing that is not usual; empty if there is none.
pub(super) fn unusual_packets(counters: &CaptureCounters) -> String {
    let mut text = String::new();
    let others: Vec<String> =
        counters.reasons().map(|(why, count)| format!("{count} {why}")).collect();
    if !others.is_empty() {
        let count = counters.packets - counters.segments;
        text += &format!("{} not analysed: {}.", counted(count, "packet"), others.join(", "));
        if let Some(link) = counters.unknown_link {
            text += &format!(
                " Link type {link} is not understood; `docs/capture.md` lists those that are."
            );
        }
        text += &of_udp(counters);
        text += &impossible(counters);
        text.push('\n');
    }
    let lines = [
        (
            counters.lost,
            "lost by the capturing program: the results lack them, and some losses are its own",
        ),
        (counters.untimed, "without a time; they have that of the packet before"),
        (counters.first_fragments, "of which only the first IP fragment counts"),
    ];
    for (count, what) in lines.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!("{} {what}.\n", counted(count, "packet"));
    }
    text
}

/// Names the use of UDP, if there is more of it than of TCP.
fn of_udp(counters: &CaptureCounters) -> String {
    let counts = UdpUse::ALL.map(|used_for| counters.of_udp(used_for));
    if counts.iter().sum::<u64>() <= counters.segments {
        return String::new();
    }
    let known = UdpUse::ALL.into_iter().filter(|used_for| *used_for != UdpUse::Other);
    match known.max_by_key(|used_for| counters.of_udp(*used_for)) {
        // Its later packets look like anything.
        Some(UdpUse::Quic) if counters.of_udp(UdpUse::Quic) > 0 => {
            " Most is UDP, with handshakes of QUIC (HTTP/3), which does not use TCP.".to_owned()
        }
        Some(used_for) if counters.of_udp(used_for) > counters.of_udp(UdpUse::Other) => {
            format!(" Most is UDP: {}.", used_for.name())
        }
        _ => " Most is UDP.".to_owned(),
    }
}

/// Names the first packet whose time cannot be.
fn impossible(counters: &CaptureCounters) -> String {
    match counters.first_impossible {
        0 => String::new(),
        first => format!(
            " Packet {first} is the first with an impossible time; the results leave out all packets of this kind."
        ),
    }
}
