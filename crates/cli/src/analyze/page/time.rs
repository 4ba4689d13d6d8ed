//! Shares of the time: by cause, size, network and hour.

use findings::{TimeFindings, TimeRow, TimeSums};
use report::{
    BarPart, BarRow, Block, Cell, Colour, Column, Quantity, Role, Row, Section, ShareBars, Table,
    seconds,
};
use trace::TimeShare;
use units::counted;

/// The colour of timeouts, as a share of time and as a retransmission.
pub(super) const TIMEOUT: Colour = Colour::Cause(6);
/// Networks that have a bar; the table has more.
const BARS: usize = 12;
/// Networks of the table.
const NETWORKS: usize = 500;

/// The name of a share on the page.
const fn share_name(share: TimeShare) -> &'static str {
    match share {
        TimeShare::Handshake => "TCP handshake",
        TimeShare::Tls => "TLS handshake",
        TimeShare::Request => "request",
        TimeShare::Think => "server think time",
        TimeShare::SlowStart => "slow start",
        TimeShare::Avoidance => "congestion avoidance",
        TimeShare::Recovery => "recovery",
        TimeShare::Timeout => "timeouts",
        TimeShare::ReceiverWindow => "receiver window",
        TimeShare::SendBuffer => "send buffer",
        TimeShare::Nagle => "Nagle's algorithm",
        TimeShare::Pacing => "pacing",
        TimeShare::Application => "application pauses",
        TimeShare::Path => "path",
        TimeShare::Unexplained => "unexplained",
    }
}

const fn share_colour(share: TimeShare) -> Colour {
    match share {
        TimeShare::Handshake => Colour::Role(Role::Rounds),
        TimeShare::Tls => Colour::Role(Role::Secure),
        TimeShare::Request => Colour::Role(Role::Client),
        TimeShare::Think => Colour::Role(Role::Server),
        TimeShare::SlowStart => Colour::Role(Role::Cwnd),
        TimeShare::Avoidance => Colour::Cause(2),
        TimeShare::Recovery => Colour::Role(Role::Recovery),
        TimeShare::Timeout => TIMEOUT,
        TimeShare::ReceiverWindow => Colour::Role(Role::ReceiveWindow),
        TimeShare::SendBuffer => Colour::Cause(3),
        TimeShare::Nagle => Colour::Cause(4),
        TimeShare::Pacing => Colour::Cause(5),
        TimeShare::Application => Colour::Role(Role::Blocked),
        TimeShare::Path => Colour::Role(Role::Path),
        TimeShare::Unexplained => Colour::Cause(7),
    }
}

pub(super) fn section(time: &TimeFindings) -> Section {
    let mut blocks = vec![
        Block::Text(
            "Each moment of each transfer has one cause. Nothing can remove the path. Time that the capture does not explain \
             is called unexplained."
                .to_owned(),
        ),
        share_bars("All transfers", [("all".to_owned(), &time.all)]),
        Block::Table(causes_table(&time.all)),
        share_bars("By the size of the response", rows_with_time(&time.by_size)),
        Block::Table(groups("size", "Bytes of the response", &time.by_size)),
        share_bars("By the network of the client: those that took most time", rows_with_time(&time.by_prefix).take(BARS)),
        Block::Table(groups("network", "/24, or /48 of IPv6", &time.by_prefix[..time.by_prefix.len().min(NETWORKS)])),
    ];
    if time.by_hour.len() > 1 {
        blocks.push(share_bars(
            "By the hour in which transfers began, UTC",
            rows_with_time(&time.by_hour),
        ));
        blocks.push(Block::Table(groups("hour", "UTC", &time.by_hour)));
    }
    Section { heading: "Where the time went".to_owned(), blocks }
}

fn rows_with_time(rows: &[TimeRow]) -> impl Iterator<Item = (String, &TimeSums)> {
    let with_time = rows.iter().filter(|row| row.sums.transfers > 0);
    with_time.map(|row| (row.group.clone(), &row.sums))
}

fn share_bars<'a>(title: &str, rows: impl IntoIterator<Item = (String, &'a TimeSums)>) -> Block {
    let part = |share| BarPart { name: share_name(share).to_owned(), colour: share_colour(share) };
    let row = |(label, sums): (String, &TimeSums)| BarRow {
        label,
        values: TimeShare::ALL.map(|share| sums.seconds(share)).to_vec(),
        text: format!("{}, mean {}", counted(sums.transfers, "transfer"), seconds(mean(sums))),
    };
    Block::Bars(ShareBars {
        title: title.to_owned(),
        parts: TimeShare::ALL.map(part).to_vec(),
        rows: rows.into_iter().map(row).collect(),
    })
}

fn mean(sums: &TimeSums) -> f64 {
    sums.total_nanos() as f64 / 1e9 / sums.transfers.max(1) as f64
}

fn number_cell(value: f64) -> Cell {
    Cell::Number(value.into())
}

fn causes_table(all: &TimeSums) -> Table {
    let columns = [
        Column::new("cause", Quantity::Text, "What the time was spent on"),
        Column::new("share", Quantity::Share, "Of the time of all transfers"),
        Column::new("mean", Quantity::Time, "Per transfer"),
        Column::new("total", Quantity::Time, "All transfers together"),
    ];
    let rows = all.causes().into_iter().map(|cause| {
        let name = Cell::Text(share_name(cause.share).to_owned());
        let cells = vec![
            name,
            number_cell(cause.part),
            number_cell(cause.mean),
            number_cell(cause.seconds),
        ];
        Row { cells, is_reference: cause.share == TimeShare::Path }
    });
    Table { columns: columns.into(), rows: rows.collect() }
}

fn groups(head: &str, help: &str, rows: &[TimeRow]) -> Table {
    let columns = [
        Column::new(head, Quantity::Text, help),
        Column::new("transfers", Quantity::Count, "Requests with their responses"),
        Column::new("bytes", Quantity::Bytes, "Payload of the responses"),
        Column::new("mean time", Quantity::Time, "Of a transfer"),
        Column::new(
            "fit",
            Quantity::Share,
            "Transfers that fit into their first window and cannot gain",
        ),
        Column::new("retransmissions", Quantity::Count, "Of the responses"),
        Column::new("timeouts", Quantity::Count, "Of these, timeouts"),
    ];
    let shares = TimeShare::ALL.map(|share| {
        Column::new(share_name(share), Quantity::Share, "Share of the time of these transfers")
    });
    let row = |row: &TimeRow| {
        let sums = &row.sums;
        let total = sums.total_nanos() as f64 / 1e9;
        let mut cells = vec![
            Cell::Text(row.group.clone()),
            number_cell(sums.transfers as f64),
            number_cell(sums.bytes as f64),
            number_cell(mean(sums)),
            number_cell(sums.fit_first_window as f64 / sums.transfers.max(1) as f64),
            number_cell(sums.retransmissions as f64),
            number_cell(sums.timeouts as f64),
        ];
        cells.extend(TimeShare::ALL.map(|share| match total > 0.0 {
            true => number_cell(sums.seconds(share) / total),
            false => Cell::Undefined,
        }));
        Row { cells, is_reference: false }
    };
    let columns = columns.into_iter().chain(shares).collect();
    Table { columns, rows: rows.iter().filter(|row| row.sums.transfers > 0).map(row).collect() }
}
