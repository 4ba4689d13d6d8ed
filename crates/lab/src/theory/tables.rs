//! The topics as tables.

use super::topics::{Gaps, Losses, Time, Topics};
use cmdline::request::NamedTable;
use cmdline::{Failure, stdout};
use link::matrix::SIZES;
use report::{Cell, Column, Quantity, Row, Table};
use theory::{Matrix, WindowComparison, WindowRow};
use units::{Duration, Rate};

/// Shares of the path that a terminal shows; page and JSON have all.
const SHARES: [u32; 15] = [1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200];

pub(super) fn print(topics: &Topics) -> Result<(), Failure> {
    let mut is_first = true;
    for NamedTable { name, table } in all(topics) {
        let gap = if std::mem::take(&mut is_first) { "" } else { "\n" };
        stdout::print(&format!("{gap}{name}\n\n"))?;
        stdout::print_table(&table)?;
    }
    Ok(())
}

/// The tables of all topics, each with its title.
pub(super) fn all(topics: &Topics) -> Vec<NamedTable> {
    let mut tables = Vec::new();
    if let Some(rows) = &topics.windows {
        tables.extend(sizes_of(rows).into_iter().map(|size| windows(rows, size, &SHARES)));
    }
    tables.extend(topics.gaps.iter().flat_map(gaps));
    tables.extend(topics.losses.iter().flat_map(losses));
    tables.extend(topics.time.iter().flat_map(time));
    tables.into_iter().map(|(title, table)| NamedTable::new(title, table)).collect()
}

/// The sizes of the rows, each once.
pub(super) fn sizes_of(rows: &[WindowRow]) -> Vec<u64> {
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.segments).collect();
    sizes.dedup();
    sizes
}

fn number_cell(value: f64) -> Cell {
    Cell::Number(value.into())
}

fn count(value: u64) -> Cell {
    number_cell(value as f64)
}

fn new_row(cells: Vec<Cell>) -> Row {
    Row { cells, is_reference: false }
}

fn new_table<const N: usize>(columns: [Column; N], rows: Vec<Row>) -> Table {
    Table { columns: columns.into(), rows }
}

fn windows(rows: &[WindowRow], size: u64, shares: &[u32]) -> (String, Table) {
    let chosen = rows.iter().filter(|r| r.segments == size && shares.contains(&r.capacity));
    let lines = chosen.map(|r| {
        new_row(
            [
                u64::from(r.capacity),
                r.unshifted,
                r.shifted,
                r.rfc2414,
                r.round_trips_unshifted,
                r.round_trips,
                r.round_trips_rfc2414,
            ]
            .map(count)
            .to_vec(),
        )
    });
    let columns = [
        Column::new(
            "Wc",
            Quantity::Count,
            "Segments of the connection's share of the path: pipe and buffer",
        ),
        Column::new("unshifted", Quantity::Count, "cwnd_opt before the shift (equation 3)"),
        Column::new("cwnd_opt", Quantity::Count, "With the shift (equation 4)"),
        Column::new("RFC 2414", Quantity::Count, "Its initial window, segments of 1000 bytes"),
        Column::new(
            "RTTs unshifted",
            Quantity::Count,
            "Round trips from the window before the shift",
        ),
        Column::new("RTTs cwnd_opt", Quantity::Count, "Round trips from cwnd_opt"),
        Column::new(
            "RTTs RFC 2414",
            Quantity::Count,
            "Round trips of a slow start that nothing stops but Wc",
        ),
    ];
    let title = format!(
        "Initial window of a transfer of {} (SPAND, Figure 5)",
        units::counted(size, "segment")
    );
    (title, new_table(columns, lines.collect()))
}

pub(super) fn gaps(gaps: &Gaps) -> Vec<(String, Table)> {
    let cases = gaps.cases.iter().map(|case| {
        let rates = match case.rate_to {
            Some(to) => format!("{:.2} to {to:.2}", case.rate_from),
            None => format!("{:.2} and up", case.rate_from),
        };
        new_row(vec![
            count(u64::from(case.case)),
            Cell::Text(format!("{:.3} to {:.3}", case.alpha_from, case.alpha_to)),
            Cell::Text(case.form.to_owned()),
            count(u64::from(case.trains)),
            Cell::Text(rates),
        ])
    });
    let columns = [
        Column::new("case", Quantity::Count, "Of Table 2"),
        Column::new("alpha", Quantity::Text, "Share of the capacity that is available"),
        Column::new("exit gap / g_B", Quantity::Text, "Closed form, in gaps of the capacity"),
        Column::new("trains", Quantity::Count, "Trains sent, the pair included"),
        Column::new("rate / available", Quantity::Text, "Rate at the exit over what is available"),
    ];
    let title = "Paced Start's exits (its Table 2)".to_owned();
    vec![(title, new_table(columns, cases.collect())), exits(gaps)]
}

fn exits(gaps: &Gaps) -> (String, Table) {
    let every_tenth = gaps.exits.iter().skip(9).step_by(10);
    let lines = every_tenth.map(|exit| {
        new_row(vec![
            number_cell(exit.alpha),
            count(u64::from(exit.case)),
            number_cell(exit.gap),
            number_cell(exit.gap_by_search),
            number_cell(exit.ideal),
            number_cell(exit.rate_over_available),
            count(u64::from(exit.trains)),
        ])
    });
    let columns = [
        Column::new("alpha", Quantity::Ratio, "Share of the capacity that is available"),
        Column::new("case", Quantity::Count, "Of Table 2"),
        Column::new("exit gap", Quantity::Ratio, "By the closed form, in gaps of the capacity"),
        Column::new(
            "by search",
            Quantity::Ratio,
            "By stepping the search in integers through the model",
        ),
        Column::new("ideal", Quantity::Ratio, "1 / alpha"),
        Column::new("rate / available", Quantity::Ratio, "Rate at the exit over what is available"),
        Column::new("trains", Quantity::Count, "Trains sent, the pair included"),
    ];
    ("Paced Start's exits, closed form and search".to_owned(), new_table(columns, lines.collect()))
}

pub(super) fn losses(losses: &Losses) -> Vec<(String, Table)> {
    let lines = losses.parallel.iter().map(|p| {
        new_row(vec![
            count(u64::from(p.connections)),
            number_cell(p.hit),
            number_cell(p.factor),
            number_cell(p.factor_one_hit),
            number_cell(p.factor_all_hit),
            count(u64::from(p.growth)),
        ])
    });
    let columns = [
        Column::new("connections", Quantity::Count, "Open at once, n"),
        Column::new("hit", Quantity::Ratio, "m = 0.50 n + 0.1: the line through Figure 7"),
        Column::new("factor", Quantity::Ratio, "What is left of the common window, 1 - m / 2n"),
        Column::new("one hit", Quantity::Ratio, "The same if one is hit"),
        Column::new("all hit", Quantity::Ratio, "The same if all are: a single connection's"),
        Column::new("growth", Quantity::Count, "Segments per round trip of congestion avoidance"),
    ];
    let title = "Parallel connections: effective decrease factor (busy server, §3.2.2)".to_owned();
    vec![(title, new_table(columns, lines.collect())), loss_shares_table(losses)]
}

/// A column for each number of losses, a row for each share.
fn loss_shares_table(losses: &Losses) -> (String, Table) {
    let mut kinds: Vec<u32> = losses.shares.iter().map(|s| s.losses).collect();
    kinds.dedup();
    let per_kind = losses.shares.len() / kinds.len().max(1);
    let lines = (0..per_kind).step_by(2).map(|at| {
        let of_kind = (0..kinds.len()).map(|kind| &losses.shares[kind * per_kind + at]);
        let share = number_cell(losses.shares[at].share);
        new_row([share].into_iter().chain(of_kind.map(|s| number_cell(s.probability))).collect())
    });
    let first = Column::new("share", Quantity::Ratio, "Of all windows, x");
    let help = "Chance that the connection is hit, 1 - (1 - x)^k";
    let of_losses = |k: &u32| Column::new(format!("{k} lost"), Quantity::Share, help);
    let columns = [first].into_iter().chain(kinds.iter().map(of_losses)).collect();
    let title = "Chance to be hit if losses strike without favour (busy server, §3.2.3)";
    (title.to_owned(), Table { columns, rows: lines.collect() })
}

pub(super) fn time(time: &Time) -> Vec<(String, Table)> {
    let title = format!(
        "First windows over {}: the link is busy from {} on, the path holds {}",
        time.path,
        units::counted(time.pipe, "segment"),
        time.capacity
    );
    vec![(title, comparisons(&time.sizes)), matrix(&time.matrix)]
}

fn comparisons(sizes: &[WindowComparison]) -> Table {
    let lines = sizes.iter().map(|c| {
        let mut cells = vec![Cell::Text(size_text(c.bytes))];
        cells.extend([c.segments, c.fastest, c.shifted, c.unshifted].map(count));
        cells.extend([c.bound_s, c.fastest_s, c.shifted_s, c.unshifted_s].map(number_cell));
        cells.push(number_cell(c.excess()));
        cells.extend([c.fastest_round_trips, c.shifted_round_trips].map(count));
        new_row(cells)
    });
    let columns = [
        Column::new("size", Quantity::Text, "Bytes of the transfer"),
        Column::new("segments", Quantity::Count, "The same in segments of 1460 bytes"),
        Column::new("fastest", Quantity::Count, "The window that minimises the time"),
        Column::new("cwnd_opt", Quantity::Count, "SPAND's window"),
        Column::new("unshifted", Quantity::Count, "SPAND's window before the shift"),
        Column::new("bound", Quantity::Time, "A link that never idles"),
        Column::new("T fastest", Quantity::Time, "From the fastest window"),
        Column::new("T cwnd_opt", Quantity::Time, "From cwnd_opt"),
        Column::new("T unshifted", Quantity::Time, "From cwnd_opt before the shift"),
        Column::new(
            "excess",
            Quantity::Gain,
            "Time from cwnd_opt over that from the fastest, less one",
        ),
        Column::new("RTTs fastest", Quantity::Count, "Round trips, as the paper counts"),
        Column::new("RTTs cwnd_opt", Quantity::Count, "Round trips, as the paper counts"),
    ];
    new_table(columns, lines.collect())
}

/// `30 kB`, `1 MB`.
pub(super) fn size_text(bytes: u64) -> String {
    match bytes {
        n if n % 1_000_000 == 0 => format!("{} MB", n / 1_000_000),
        n if n % 1000 == 0 => format!("{} kB", n / 1000),
        n => format!("{n} B"),
    }
}

/// `10mbit, 80ms, 0.25 bdp`.
pub(super) fn path_text(row: &Matrix) -> String {
    let rtt = Duration::from_secs_f64(row.rtt_s);
    format!("{}, {rtt}, {} bdp", Rate::from_bps(row.rate_bps), row.queue_bdp)
}

fn matrix(rows: &[Matrix]) -> (String, Table) {
    let lines = rows.iter().map(|r| {
        let mut cells = vec![Cell::Text(path_text(r)), count(r.pipe), count(r.capacity)];
        cells.extend(r.sizes.iter().map(|cell| number_cell(cell.excess())));
        new_row(cells)
    });
    let fixed = [
        Column::new("path", Quantity::Text, "Rate, round trip, queue"),
        Column::new("pipe", Quantity::Count, "Segments that keep the link busy"),
        Column::new("Wc", Quantity::Count, "Segments that the path holds"),
    ];
    let help = "Time from cwnd_opt over that from the fastest window, less one";
    let by_size = SIZES.map(|bytes| Column::new(size_text(bytes), Quantity::Gain, help));
    let columns = fixed.into_iter().chain(by_size).collect();
    let title = "Where cwnd_opt is slower than the fastest window, and by how much".to_owned();
    (title, Table { columns, rows: lines.collect() })
}
