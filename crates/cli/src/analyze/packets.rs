//! Describes packets of captures that are not analysed, and the captures' own remarks, in words.

use capture::{Tally, UdpUse};
use units::counted;

/// A line for each thing that is not usual; empty if there is none.
pub(super) fn unusual(tally: &Tally) -> String {
    let mut text = String::new();
    let others: Vec<String> =
        tally.reasons().map(|(why, count)| format!("{count} {why}")).collect();
    if !others.is_empty() {
        let count = tally.packets - tally.segments;
        text += &format!("{} not analysed: {}.", counted(count, "packet"), others.join(", "));
        if let Some(link) = tally.unknown_link {
            text += &format!(
                " Link type {link} is not understood; `docs/capture.md` lists those that are."
            );
        }
        text += &of_udp(tally);
        text += &impossible(tally);
        text.push('\n');
    }
    let lines = [
        (
            tally.lost,
            "lost by the capturing program: the results lack them, and some losses are its own",
        ),
        (tally.untimed, "without a time; they have that of the packet before"),
        (tally.first_fragments, "of which only the first IP fragment counts"),
    ];
    for (count, what) in lines.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!("{} {what}.\n", counted(count, "packet"));
    }
    text
}

/// Names the use of UDP, if there is more of it than of TCP.
fn of_udp(tally: &Tally) -> String {
    let counts = UdpUse::ALL.map(|used_for| tally.of_udp(used_for));
    if counts.iter().sum::<u64>() <= tally.segments {
        return String::new();
    }
    let known = UdpUse::ALL.into_iter().filter(|used_for| *used_for != UdpUse::Other);
    match known.max_by_key(|used_for| tally.of_udp(*used_for)) {
        // Its later packets look like anything.
        Some(UdpUse::Quic) if tally.of_udp(UdpUse::Quic) > 0 => {
            " Most is UDP, with handshakes of QUIC (HTTP/3), which does not use TCP.".to_owned()
        }
        Some(used_for) if tally.of_udp(used_for) > tally.of_udp(UdpUse::Other) => {
            format!(" Most is UDP: {}.", used_for.name())
        }
        _ => " Most is UDP.".to_owned(),
    }
}

/// Names the first packet whose time cannot be.
fn impossible(tally: &Tally) -> String {
    match tally.first_impossible {
        0 => String::new(),
        first => format!(
            " Packet {first} is the first with an impossible time; the results leave out all packets of this kind."
        ),
    }
}
