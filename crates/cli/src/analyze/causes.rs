//! The causes of time in words, with the evidence of the rarer ones and what would help.

use findings::{TimeCause, TimeSums};
use report::{bytes, rounded_rate, seconds};
use std::fmt::Write;
use trace::TimeShare;
use units::counted;

/// Causes that are listed at most, and the part of the time that each has at least.
const CAUSES: usize = 3;
const MIN_PART: f64 = 0.01;
/// Causes of large requests that are listed, and the part of the time from which on they matter.
const REQUEST_CAUSES: usize = 3;
const REQUEST_PART: f64 = 0.1;

/// A phrase for the cause of the time, and one for its remedy.
const fn cause_and_remedy(share: TimeShare) -> (&'static str, &'static str) {
    match share {
        TimeShare::Handshake => {
            ("TCP handshakes", "connections that stay open, or QUIC, spare them")
        }
        TimeShare::Tls => {
            ("TLS handshakes", "resumed sessions, TLS 1.3 and smaller certificates shorten them")
        }
        TimeShare::Request => ("clients that send their requests", "smaller requests help"),
        TimeShare::Think => ("servers that think before they answer", "a faster application helps"),
        TimeShare::SlowStart => (
            "slow start while the path had room",
            "a larger first window, or a warm start, spares round trips",
        ),
        TimeShare::Avoidance => (
            "full windows in congestion avoidance",
            "the path had room: another congestion control would use it",
        ),
        TimeShare::Recovery => {
            ("repairs of losses", "less loss helps, and a newer TCP repairs sooner")
        }
        TimeShare::Timeout => {
            ("waiting for retransmission timeouts", "tail-loss probes and SACK spare most of them")
        }
        TimeShare::ReceiverWindow => (
            "receive windows of clients that were full or shut",
            "clients that read sooner, or have larger buffers, help",
        ),
        TimeShare::SendBuffer => (
            "send buffers that are too small, or another limit on bytes in flight",
            "each ACK let go what it acknowledged, below the windows: raise SO_SNDBUF or tcp_wmem",
        ),
        TimeShare::Nagle => (
            "Nagle's algorithm, which held small segments back for ACKs",
            "set TCP_NODELAY, or write each answer at once",
        ),
        TimeShare::Pacing => (
            "pacing, slower than windows and path",
            "segments left steadily without ACKs: look at SO_MAX_PACING_RATE and at shapers",
        ),
        TimeShare::Application => (
            "pauses of applications within a response",
            "the window had room, and the server sent nothing: a faster application helps",
        ),
        TimeShare::Path => ("propagation and transmission", "no sender can spare them"),
        TimeShare::Unexplained => ("unexplained", "the capture does not show the cause"),
    }
}

/// Writes the causes of the time of all transfers.
pub(super) fn time(text: &mut String, all: &TimeSums) {
    let total = all.total_nanos() as f64 / 1e9;
    let _ = writeln!(
        text,
        "{} of {} took {}{}. The time went to:",
        counted(all.transfers, "transfer"),
        bytes(all.bytes),
        seconds(total),
        if all.transfers > 1 { " together" } else { "" }
    );
    let is_apart = |cause: &TimeCause| cause.share == TimeShare::Path && !all.is_link_full();
    let (path, causes): (Vec<TimeCause>, Vec<TimeCause>) =
        all.causes().into_iter().partition(is_apart);
    let listed = causes.iter().take(CAUSES).take_while(|cause| cause.part >= MIN_PART);
    let listed: Vec<&TimeCause> = listed.collect();
    for (n, cause) in listed.iter().enumerate() {
        let (what, help) = match full_link(cause.share, all) {
            Some(what) => {
                (what, "a faster link or fewer bytes help, and nothing that a sender does")
            }
            None => (cause_and_remedy(cause.share).0.to_owned(), cause_and_remedy(cause.share).1),
        };
        let (part, mean) = (percent(cause.part), seconds(cause.mean));
        let _ = writeln!(text, "  {}. {what}: {part}, {mean} a transfer\n     ({help})", n + 1);
    }
    let rest: f64 = causes.iter().skip(listed.len()).map(|cause| cause.part).sum();
    if rest > 0.0 {
        let _ = writeln!(text, "  Other causes: {}", percent(rest));
    }
    for cause in path {
        let _ = writeln!(
            text,
            "  Propagation and transmission, which nothing can remove: {}",
            percent(cause.part)
        );
    }
    requests(text, all);
    write_remarks(text, all);
}

/// The path as a cause: its link was full.
fn full_link(share: TimeShare, all: &TimeSums) -> Option<String> {
    let rate = all.full.mean_rate().filter(|_| share == TimeShare::Path && all.is_link_full())?;
    let part = all.full.seconds() / (all.total_nanos() as f64 / 1e9);
    Some(format!(
        "the link was full for {} of the time, at {} a connection; with propagation",
        percent(part),
        rounded_rate(rate.as_bps() as f64)
    ))
}

/// Writes the causes that large requests waited for.
fn requests(text: &mut String, all: &TimeSums) {
    let total = all.total_nanos() as f64 / 1e9;
    let of = |share: TimeShare| (all.request_seconds(share), share);
    let mut causes: Vec<(f64, TimeShare)> = TimeShare::ALL.into_iter().map(of).collect();
    causes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let sum: f64 = causes.iter().map(|(seconds, _)| seconds).sum();
    if sum < REQUEST_PART * total || sum == 0.0 {
        return;
    }
    let listed = causes.iter().take(REQUEST_CAUSES).filter(|(seconds, _)| *seconds > 0.0);
    let listed: Vec<String> = listed
        .map(|(seconds, share)| {
            format!("{} {}", cause_and_remedy(*share).0, percent(seconds / sum))
        })
        .collect();
    let _ = writeln!(
        text,
        "Large requests took {} of the time. Their causes: {}.",
        percent(sum / total),
        listed.join(", ")
    );
}

/// Writes remarks on requests that got no answer, and on TLS.
fn write_remarks(text: &mut String, all: &TimeSums) {
    if all.unanswered > 0 {
        let _ = writeln!(
            text,
            "{} got no answer while the client waited.",
            counted(all.unanswered, "request")
        );
    }
    if all.cut_off > 0 {
        let _ = writeln!(
            text,
            "{} cut off by a reset of the connection.",
            if all.cut_off == 1 {
                "1 response was".to_owned()
            } else {
                format!("{} responses were", all.cut_off)
            }
        );
    }
    let tls = &all.tls;
    if tls.handshakes == 0 {
        return;
    }
    let trips = tls.round_trips as f64 / tls.handshakes as f64;
    let _ =
        write!(text, "{}: {trips:.1} round trips each", counted(tls.handshakes, "TLS handshake"));
    if tls.resumed + tls.full > 0 {
        let _ = write!(text, ", {} resumed", percent_of(tls.resumed, tls.resumed + tls.full));
    }
    let _ = write!(text, "; the largest flights of a server have {}", bytes(tls.most_server_bytes));
    if tls.most_certificate_bytes > 0 {
        let _ = write!(text, ", its certificates {}", bytes(tls.most_certificate_bytes.into()));
    }
    let _ = writeln!(text, ".");
}

pub(super) fn percent(part: f64) -> String {
    if part > 0.0 && part < 0.01 {
        "under 1 %".to_owned()
    } else {
        format!("{:.0} %", 100.0 * part)
    }
}

pub(super) fn percent_of(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}
