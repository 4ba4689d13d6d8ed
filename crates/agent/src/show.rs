//! Results as text for people.

use agent::check::Finding;
use agent::paths::Remembered;
use agent::question::Status;
use agent::totals::Sum;

pub(crate) fn findings(findings: &[Finding]) -> String {
    let yes = |finding: &Finding| if finding.is_there { "yes" } else { "no" };
    let rows = findings.iter().map(|f| [f.what.to_owned(), yes(f).to_owned(), f.remark.clone()]);
    table(["needed", "here", ""], rows)
}

pub(crate) fn paths(paths: &[Remembered]) -> String {
    if paths.is_empty() {
        return "nothing is remembered".to_owned();
    }
    let rows = paths.iter().map(|path| {
        [
            path.prefix.to_string(),
            path.window.to_string(),
            path.window_now.to_string(),
            format!("{:.1} ms", path.srtt_ms),
            format!("{:.0} s", path.age_s),
            path.connections.to_string(),
            path.warm.to_string(),
            path.retreats.to_string(),
            path.namespace.to_string(),
        ]
    });
    let head =
        ["prefix", "window", "now", "round trip", "age", "closed", "warm", "retreats", "namespace"];
    table(head, rows)
}

pub(crate) fn status(status: &Status) -> String {
    let head =
        ["connections", "closed", "first window", "retransmitted", "retreats", "restarts", "MB"];
    let rows = [("warm", &status.connections.warm), ("cold", &status.connections.cold)];
    let sums = table(head, rows.into_iter().map(|(name, sum)| sum_row(name, sum)));
    let cgroups = status.cgroups.iter().map(|cgroup| cgroup.display().to_string());
    let mut text = format!(
        "{} ({}) for {}, first windows of at most {} segments\n{} of at most {} paths remembered\n\n{sums}",
        status.control,
        status.congestion_controls.join(", "),
        cgroups.collect::<Vec<_>>().join(", "),
        status.cap,
        status.paths,
        status.max_paths,
    );
    if status.summaries_lost > 0 {
        text += &format!("\n\n{} more have closed uncounted", status.summaries_lost);
    }
    text
}

fn sum_row(name: &str, sum: &Sum) -> [String; 7] {
    let ratio = |part: u64, whole: u64| match whole {
        0 => None,
        _ => Some(part as f64 / whole as f64),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let retransmitted = ratio(sum.segments_retransmitted, sum.segments_sent);
    [
        name.to_owned(),
        sum.closed.to_string(),
        or_dash(ratio(sum.first_windows, sum.closed).map(|mean| format!("{mean:.1}"))),
        or_dash(retransmitted.map(|part| format!("{:.2} %", part * 100.0))),
        sum.retreats.to_string(),
        sum.restarts.to_string(),
        format!("{:.1}", sum.bytes_acked as f64 / 1e6),
    ]
}

/// Columns as wide as their widest cell.
fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
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
