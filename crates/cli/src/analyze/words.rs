//! The findings in plain words: the causes that took most time first.

use super::causes::{self, percent, percent_of};
use findings::TraceFindings;
use report::seconds;
use std::fmt::Write;
use trace::{RetransmissionKind, SparedBy, TimeShare};
use units::counted;

/// The findings in words.
pub(super) fn findings_text(found: &TraceFindings) -> String {
    let mut text = String::new();
    if found.time.all.transfers == 0 {
        return "No transfers: the capture has no response of a server, or none of its ACKs.\n"
            .to_owned();
    }
    causes::time(&mut text, &found.time.all);
    start(&mut text, found);
    losses(&mut text, found);
    parallel(&mut text, found);
    text
}

fn start(text: &mut String, found: &TraceFindings) {
    let (all, warm) = (&found.time.all, &found.warm);
    let _ = writeln!(
        text,
        "{} of the transfers fit into their first window and cannot gain from a larger one.",
        percent_of(all.fit_first_window, all.transfers)
    );
    let known = warm.host_knew_more + warm.network_knew_more;
    if warm.first_transfers > 0 {
        let first = counted(warm.first_transfers, "connection");
        if known == 0 {
            let _ = writeln!(
                text,
                "A warm start could have helped none of {first}: no host or network had a larger window within five \
                 minutes before."
            );
        }
    }
    if known > 0 {
        let _ = writeln!(
            text,
            "A warm start could have helped {} of {} connections: their host ({}) or network ({}) had a larger \
             window within five minutes before. It would spare {} of slow start at most, {} of their time.",
            known,
            warm.first_transfers,
            warm.host_knew_more,
            warm.network_knew_more,
            seconds(warm.sparable_s),
            percent(warm.sparable_s / warm.seconds.max(1e-9))
        );
    }
    let requests = &found.requests;
    if requests.requests > 1 {
        let _ = writeln!(
            text,
            "{} of {} requests came within five minutes of one from the same network.",
            percent(requests.helped_share()),
            requests.requests
        );
    }
}

fn losses(text: &mut String, found: &TraceFindings) {
    let losses = &found.losses;
    let again: u64 = losses.kinds.iter().map(|row| row.retransmissions).sum();
    let segments = again + losses.phases.iter().map(|row| row.segments).sum::<u64>();
    let lost: u64 = losses.phases.iter().map(|row| row.lost).sum();
    if segments == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "{} with data, {lost} of them lost ({}). {again} were retransmissions.",
        counted(segments, "segment"),
        percent_of(lost, segments)
    );
    let timeouts = losses.of_kind(RetransmissionKind::Timeout);
    if timeouts > 0 {
        let by = |by| losses.spared_by(by);
        let _ = writeln!(
            text,
            "{}: SACK would have spared {}, right-edge recovery {}, tail-loss probes {}.",
            counted(timeouts, "timeout"),
            by(SparedBy::Sack),
            by(SparedBy::RightEdge),
            by(SparedBy::TailProbe)
        );
    }
    if losses.window_limited > 0 {
        let all = &found.time.all;
        let full = all.seconds(TimeShare::ReceiverWindow) / (all.total_nanos() as f64 / 1e9);
        let _ = writeln!(
            text,
            "In {} of {} the congestion window exceeded the client's offered window. Full receiver windows took {} of the time.",
            losses.window_limited,
            counted(losses.connections, "connection"),
            percent(full)
        );
    }
}

fn parallel(text: &mut String, found: &TraceFindings) {
    let epochs = &found.parallel.epochs;
    let several = epochs.by_open.iter().filter(|row| row.open > 1);
    let (mut count, mut open, mut hit) = (0, 0.0, 0.0);
    for row in several {
        count += row.epochs;
        open += row.epochs as f64 * row.open as f64;
        hit += row.epochs as f64 * row.hit;
    }
    if count > 0 {
        let _ = writeln!(
            text,
            "When clients with several open connections lost something ({}), {:.1} of {:.1} connections \
             lost.",
            counted(count, "time"),
            hit / count as f64,
            open / count as f64
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::{FindingsSink, TimeSums};

    #[test]
    fn nothing_is_said_of_nothing() {
        let text = findings_text(&FindingsSink::default().finish());
        assert!(text.starts_with("No transfers: ") && text.lines().count() == 1, "{text}");
        assert_eq!(TimeSums::default().causes(), []);
    }

    #[test]
    fn small_parts_are_not_none() {
        assert_eq!([0.0, 0.001, 0.0149, 0.5].map(percent), ["0 %", "under 1 %", "1 %", "50 %"]);
    }
}
