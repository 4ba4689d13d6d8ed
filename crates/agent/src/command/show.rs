//! Results as text for people.

use ::canary::interval::ConfidenceInterval;
use agent::canary::comparison::{CanaryVerdict, Compared, ComparedPart, Side};
use agent::canary::totals::Sum;
use agent::interface::question::AgentStatus;
use agent::memory::paths::RememberedPath;
use agent::programs::check::Finding;
use agent::programs::load_options::Mode;
use agent::programs::telemetry::handshake_timers::TimedHandshakes;
use agent::programs::telemetry::option_counts::OptionCounts;
use gateway_client::ClientStatus;

pub(crate) fn findings(findings: &[Finding]) -> String {
    let yes = |finding: &Finding| if finding.is_there { "yes" } else { "no" };
    let rows = findings.iter().map(|f| [f.what.to_owned(), yes(f).to_owned(), f.remark.clone()]);
    table(["needed", "here", ""], rows)
}

/// Formats the table of remembered paths.
pub(crate) fn paths(paths: &[RememberedPath]) -> String {
    if paths.is_empty() {
        return "nothing is remembered".to_owned();
    }
    let rows = paths.iter().map(|path| {
        [
            path.prefix.to_string(),
            path.window.to_string(),
            path.window_now.to_string(),
            format!("{:.1} ms", path.srtt_ms),
            or_dash(path.rate_mbps.map(|rate| format!("{rate:.1} Mbit/s"))),
            format!("{:.0} s", path.age_s),
            path.connections.to_string(),
            path.warm.to_string(),
            path.fallbacks.to_string(),
            or_dash(percent(path.segments_retransmitted, path.segments_sent)),
            format!("{:.1}", path.bytes_acked as f64 / 1e6),
            path.namespace.to_string(),
        ]
    });
    let head = [
        "prefix",
        "window",
        "now",
        "round trip",
        "rate",
        "age",
        "closed",
        "warm",
        "fallbacks",
        "retransmitted",
        "MB",
        "namespace",
    ];
    table(head, rows)
}

/// Names the windows and congestion controls that connections get.
fn windows_and_controls(status: &AgentStatus) -> String {
    match status.mode {
        Mode::Wrap => format!("{} ({})", status.control, status.congestion_controls.join(", ")),
        Mode::Window => "windows alone (mode window)".to_owned(),
        Mode::Measure => "nothing (dry run)".to_owned(),
    }
}

/// Describes the state of the site's gateways.
fn gateway(status: &ClientStatus) -> String {
    let who = match (&status.gateway, &status.trouble) {
        (Some(gateway), _) => format!("gateway {gateway} answers"),
        (None, Some(why)) => {
            format!("NO GATEWAY ANSWERS ({why}); connections start with what is known here")
        }
        (None, None) => "no gateway has answered yet".to_owned(),
    };
    let mut line = format!(
        "{who}: {} paths asked for, {} answered in time, {} later, {} not; {} reports taken",
        status.asked, status.in_time, status.late, status.none, status.reports_taken,
    );
    for (count, what) in [(status.reports_refused, "refused"), (status.reports_dropped, "dropped")]
    {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    if status.arrivals > 0 {
        line += &format!("; notified of {} arriving visitors", status.arrivals);
    }
    line
}

/// Describes the fate of TCP options.
fn tcp_option(counts: &OptionCounts) -> String {
    let OptionCounts { written, passed, choked, spared, no_room } = counts;
    format!(
        "TCP options: {written} written, {passed} acknowledged, {choked} lost or reset; left out: {spared} to networks that lose them, {no_room} for want of room"
    )
}

/// Describes the number of handshakes with a shortened timer.
fn handshake_timers(counts: &TimedHandshakes) -> String {
    let TimedHandshakes { by_memory, by_handshake } = counts;
    format!(
        "handshakes with a shorter timer: {by_memory} by the memory of their path, {by_handshake} by its last handshake"
    )
}

/// Formats the status of an agent, as `headstart agent status` prints it.
pub(crate) fn status(status: &AgentStatus) -> String {
    let sums = &status.connections;
    let rows = [("warm", &sums.warm), ("control group", &sums.control_group), ("cold", &sums.cold)];
    let sums = table(SUM_HEAD, rows.into_iter().map(|(name, sum)| sum_row(name, sum)));
    let cgroups = status.cgroups.iter().map(|cgroup| cgroup.display().to_string());
    let control_group = status.control_group_share * 100.0;
    let mut text = format!(
        "{} for {}, first windows of at most {} segments\n{} % of connections may start warm, {} % are the control group\n{} of at most {} paths remembered\n\n{sums}",
        windows_and_controls(status),
        cgroups.collect::<Vec<_>>().join(", "),
        status.cap,
        status.percent.min(100.0 - control_group),
        control_group,
        status.paths,
        status.max_paths,
    );
    if let Some(timers) = &status.handshake_timers {
        text = format!("{}\n{text}", handshake_timers(timers));
    }
    if let Some(options) = &status.tcp_option {
        text = format!("{}\n{text}", tcp_option(options));
    }
    if let Some(gateways) = &status.gateway {
        text = format!("{}\n{text}", gateway(gateways));
    }
    if !status.detachments.missing.is_empty() {
        let missing = status.detachments.missing.join(", ");
        text = format!(
            "PROGRAMS ARE DETACHED by another process ({missing}): new connections are stock there\n\n{text}"
        );
    } else if status.detachments.count > 0 {
        let count = status.detachments.count;
        text = format!(
            "{count} times another process has detached a program, which the agent has attached again\n{text}"
        );
    }
    if let Some(why) = &status.off {
        text =
            format!("ALL WINDOWS ARE LEFT ALONE: {why}\n`headstart agent arm` ends that\n\n{text}");
    }
    if status.dry_run {
        text = format!(
            "dry run: connections keep their own congestion control and windows, \"proposed\" is the first window that they would get\n\n{text}"
        );
    }
    for stopped in &status.stopped {
        text = format!("windows are left alone ({}): {}\n{text}", stopped.part, stopped.why);
    }
    let is_compared = |part: &ComparedPart| part.chosen > 0 && part.control_group > 0;
    if status.parts.iter().any(is_compared) {
        text += "\n\nchosen for a warm start / control group: all intervals hold at once and at every look (95 %)\n";
        text += &table(PART_HEAD, status.parts.iter().map(part_row));
        text += &of_fleet(status);
        text += "\n\nby bytes that were delivered, which is known afterwards alone (parts of connections: 95 % at one look)\n";
        text += &table(CLASS_HEAD, status.comparison.iter().map(class_row));
    }
    if status.summaries_lost > 0 {
        text += &format!("\n\n{} more have closed uncounted", status.summaries_lost);
    }
    text
}

/// Returns the comparison of all servers of the site, if there are several.
fn of_fleet(status: &AgentStatus) -> String {
    match &status.fleet {
        Some(fleet) if fleet.hosts > 1 => format!(
            "\n\nthe same on {} servers of the site {:.0} s ago, whichever of them is left out\n{}",
            fleet.hosts,
            fleet.age_s,
            table(PART_HEAD, fleet.parts.iter().map(part_row))
        ),
        _ => String::new(),
    }
}

const SUM_HEAD: [&str; 8] = [
    "connections",
    "closed",
    "first window",
    "proposed",
    "retransmitted",
    "fallbacks",
    "restarts",
    "MB",
];

const CLASS_HEAD: [&str; 6] =
    ["bytes up to", "closed", "time", "retransmitted", "lost of first flight", ""];

const PART_HEAD: [&str; 6] =
    ["which", "closed", "time", "retransmissions", "lossy connections", ""];

/// Returns the word for a conclusion; capitals show harm.
const fn verdict_label(verdict: CanaryVerdict) -> &'static str {
    match verdict {
        CanaryVerdict::Open => "",
        CanaryVerdict::Gain => "faster",
        CanaryVerdict::Slower => "SLOWER",
        CanaryVerdict::Lossier => "LOSSIER",
        CanaryVerdict::Stopped => "STOPPED",
    }
}

/// Formats a row of the table of parts.
fn part_row(part: &ComparedPart) -> [String; 6] {
    [
        part.part.clone(),
        format!("{} / {}", part.chosen, part.control_group),
        or_dash(part.time_ratio.filter(is_known).map(ratio)),
        or_dash(part.retransmission_ratio.filter(is_known).map(ratio)),
        or_dash(part.lossy_ratio.filter(is_known).map(ratio)),
        verdict_label(part.verdict).to_owned(),
    ]
}

/// Returns true if the interval is narrow enough to be shown. With hardly any retransmissions in a
/// group it reaches over all ratios.
fn is_known(of: &ConfidenceInterval) -> bool {
    of.high / of.low < 1000.0
}

fn ratio(of: ConfidenceInterval) -> String {
    format!("{:.2} ({:.2}–{:.2})", of.estimate, of.low, of.high)
}

/// Formats a row of the table of classes by size.
fn class_row(class: &Compared) -> [String; 6] {
    let (warm, control_group) = (&class.warm, &class.control_group);
    let both = |of: fn(&Side) -> Option<ConfidenceInterval>| {
        format!("{} / {}", or_dash(of(warm).map(part)), or_dash(of(control_group).map(part)))
    };
    [
        class.up_to_bytes.map_or_else(|| "larger".to_owned(), |bytes| bytes.to_string()),
        format!("{} / {}", warm.closed, control_group.closed),
        or_dash(class.time_ratio.map(ratio)),
        both(|side| side.retransmitting),
        both(|side| side.lost_first),
        verdict_label(class.verdict).to_owned(),
    ]
}

fn part(of: ConfidenceInterval) -> String {
    format!("{:.1} ({:.1}–{:.1}) %", of.estimate * 100.0, of.low * 100.0, of.high * 100.0)
}

fn percent(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| format!("{:.2} %", part as f64 / whole as f64 * 100.0))
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// Formats a row of the table of sums.
fn sum_row(name: &str, sum: &Sum) -> [String; 8] {
    let mean =
        |sum: u64, count: u64| (count > 0).then(|| format!("{:.1}", sum as f64 / count as f64));
    [
        name.to_owned(),
        sum.closed.to_string(),
        or_dash(mean(sum.first_windows, sum.closed)),
        or_dash(mean(sum.proposed_windows, sum.proposed)),
        or_dash(percent(sum.segments_retransmitted, sum.segments_sent)),
        sum.fallbacks.to_string(),
        sum.restarts.to_string(),
        format!("{:.1}", sum.bytes_acked as f64 / 1e6),
    ]
}

/// Formats columns as wide as their widest cell.
pub(crate) fn table<const N: usize>(
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut all = vec![head.map(str::to_owned)];
    all.extend(rows);
    let width = |n: usize| all.iter().map(|row| row[n].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}
