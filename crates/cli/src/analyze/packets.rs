//! What captures hold beside the segments that are analysed, and what they say of themselves, in words.

use capture::{NotASegment, Tally};
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
                " Link type {link} is not understood; captures of Ethernet, of raw IP and of `-i any` are."
            );
        }
        if tally.of(NotASegment::Udp) > tally.segments {
            text += " Most is UDP: HTTP/3 (QUIC) does not use TCP.";
        }
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
