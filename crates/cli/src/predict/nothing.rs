//! Names the reason why captures hold nothing to predict, and what would help.

use forecast::CapturedVisitors;
use units::counted;

/// The reason, in words.
pub(super) fn why_no_prediction(visitors: &CapturedVisitors) -> String {
    let CapturedVisitors { without_pure_acks, started_before, incomplete, .. } = *visitors;
    let reason = if without_pure_acks > 0 {
        format!(
            "{} of these captures {} no ACK without data, as if exported through a display filter, so the end of transfers is \
             not known; export whole connections, with all of their packets",
            counted(without_pure_acks, "connection"),
            if without_pure_acks == 1 { "has" } else { "have" }
        )
    } else if started_before > 0 {
        format!(
            "the handshakes of {} are not in these captures, so the windows of their servers are not known; capture for \
             longer, so that connections begin in the capture",
            counted(started_before, "connection")
        )
    } else if incomplete > 0 {
        format!(
            "no transfer in these captures was acknowledged to its end ({} began); capture both directions",
            counted(incomplete, "transfer")
        )
    } else {
        "these captures hold no transfer".to_owned()
    };
    format!("{reason}. There is nothing to predict; `headstart analyze` says what they hold")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection without pure ACKs lacks its handshake and ends of transfers as well: the first
    /// reason explains the others.
    #[test]
    fn the_reason_that_explains_the_others_is_named() {
        let mut visitors = CapturedVisitors::default();
        assert!(why_no_prediction(&visitors).contains("hold no transfer"));
        visitors.incomplete = 3;
        assert!(why_no_prediction(&visitors).contains("3 transfers began"));
        visitors.started_before = 2;
        assert!(why_no_prediction(&visitors).contains("handshakes of 2 connections"));
        visitors.without_pure_acks = 1;
        assert!(
            why_no_prediction(&visitors)
                .contains("1 connection of these captures has no ACK without data")
        );
    }
}
