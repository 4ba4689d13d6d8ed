//! The snapshot for people: a page of tables in the frame of all our reports.

use super::snapshot::{ConnectionSnapshot, PathSnapshot, Snapshot};
use report::{Block, Cell, Column, Document, Quantity, Row, Section, Table};
use std::collections::BTreeMap;

/// The page.
pub(super) fn html(snapshot: &Snapshot) -> String {
    let document = Document {
        title: "headstart serve".to_owned(),
        facts: status_facts(snapshot),
        sections: vec![
            section("Paths", paths(&snapshot.paths), "No path: no client is connected."),
            section("Connections", connections(&snapshot.connections), "No connection."),
            section("Endpoint", counters(&snapshot.counters.endpoint), "Nothing was counted."),
            section("TCP", counters(&snapshot.counters.tcp), "Nothing was refused or limited."),
        ],
        ..Document::default()
    };
    document.to_html()
}

fn status_facts(snapshot: &Snapshot) -> Vec<String> {
    let (server, memory) = (&snapshot.server, &snapshot.memory);
    vec![
        format!("Scheme {}", server.scheme),
        format!("Weights {}", server.weights),
        format!(
            "{} in {}",
            units::counted(server.requests, "request"),
            duration(server.uptime_seconds)
        ),
        format!("Buffers {}", report::bytes(memory.buffer_bytes as u64)),
        format!("{} remembered", units::counted(memory.remembered_destinations, "destination")),
        "For machines: /.headstart/status.json".to_owned(),
    ]
}

fn duration(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {seconds} s"),
        _ => format!("{hours} h {minutes} min"),
    }
}

fn section(heading: &str, table: Table, if_empty: &str) -> Section {
    let block = match table.rows.is_empty() {
        true => Block::Text(if_empty.to_owned()),
        false => Block::Table(table),
    };
    Section { heading: heading.to_owned(), blocks: vec![block] }
}

fn paths(paths: &[PathSnapshot]) -> Table {
    let columns = [
        Column::new("client", Quantity::Text, "Address of the peer"),
        Column::new("connections", Quantity::Text, "Numbers of the connections on this path"),
        Column::new("window", Quantity::Bytes, "Congestion window"),
        Column::new("ssthresh", Quantity::Bytes, "Slow-start threshold"),
        Column::new(
            "in flight",
            Quantity::Bytes,
            "Sent and neither acknowledged nor presumed lost",
        ),
        Column::new("round trip", Quantity::Time, "Smoothed round trip"),
        Column::new("min. round trip", Quantity::Time, "Shortest round trip"),
        Column::new("timeout", Quantity::Time, "Retransmission timeout without doublings"),
        Column::new("pacing", Quantity::Rate, "Rate at which sending is spread"),
        Column::new(
            "start-up",
            Quantity::Text,
            "Whether the start-up still controls the window, or its end",
        ),
        Column::new("start", Quantity::Text, "Cold start, or start with remembered values"),
    ];
    status_table(columns, paths.iter().map(path))
}

fn path(path: &PathSnapshot) -> Vec<Cell> {
    let numbers: Vec<_> = path.connections.iter().map(u32::to_string).collect();
    let shared = if path.is_shared { "shared by " } else { "" };
    let from_ms = |time: Option<f64>| optional_number_cell(time.map(|time| time / 1e3));
    vec![
        text(&path.client),
        text(format!("{shared}{}", numbers.join(", "))),
        count(path.cwnd_bytes),
        path.ssthresh_bytes.map_or(text("unlimited"), count),
        count(path.in_flight_bytes),
        from_ms(path.srtt_ms),
        from_ms(path.min_rtt_ms),
        from_ms(Some(path.rto_ms)),
        optional_number_cell(path.pacing_bps.map(|rate| rate as f64)),
        text(match (path.is_in_startup, path.startup_exit) {
            (true, _) => "under way".to_owned(),
            (false, Some(exit)) => format!("ended: {exit}"),
            (false, None) => "over".to_owned(),
        }),
        text(if path.is_remembered { "remembered" } else { "cold" }),
    ]
}

fn connections(connections: &[ConnectionSnapshot]) -> Table {
    let columns = [
        Column::new("no.", Quantity::Count, "Number of the connection"),
        Column::new("peer", Quantity::Text, "Address and port"),
        Column::new("state", Quantity::Text, "State by RFC 9293"),
        Column::new("scheme", Quantity::Text, "Its scheme"),
        Column::new("carries", Quantity::Text, "Content of the last response, and its weight"),
        Column::new("written", Quantity::Bytes, "Bytes that the server has written"),
        Column::new("acknowledged", Quantity::Bytes, "Bytes of these that the client has"),
        Column::new("unsent", Quantity::Bytes, "Bytes of these that wait to be sent"),
        Column::new(
            "rate",
            Quantity::Rate,
            "Bytes acknowledged per second in the last round trip with any",
        ),
        Column::new("lost", Quantity::Count, "Segments ever presumed lost"),
        Column::new("retransmitted", Quantity::Count, "Segments retransmitted"),
        Column::new("timeouts", Quantity::Count, "Retransmission timeouts"),
    ];
    status_table(columns, connections.iter().map(connection))
}

fn connection(connection: &ConnectionSnapshot) -> Vec<Cell> {
    let carries = match (connection.content, connection.weight) {
        (Some(content), Some(weight)) => text(format!("{content}, weight {weight}")),
        (Some(content), None) => text(content),
        (None, _) => Cell::Undefined,
    };
    let state = if connection.is_recovering { ", recovering" } else { "" };
    vec![
        count(connection.number.into()),
        text(connection.peer.to_string()),
        text(format!("{}{state}", connection.state)),
        text(&connection.scheme),
        carries,
        count(connection.written_bytes),
        count(connection.acked_bytes),
        count(connection.unsent_bytes),
        // 0: not measured yet.
        optional_number_cell(
            Some(connection.delivery_bps).filter(|rate| *rate > 0).map(|rate| rate as f64),
        ),
        count(connection.lost_segments),
        count(connection.retransmitted_segments),
        count(connection.timeouts),
    ]
}

/// Table of the counters that are not zero.
fn counters(counters: &BTreeMap<String, u64>) -> Table {
    let columns = [
        Column::new("counter", Quantity::Text, "Its name"),
        Column::new("count", Quantity::Count, "Since the server began"),
    ];
    let counted = counters.iter().filter(|(_, n)| **n > 0);
    status_table(columns, counted.map(|(name, n)| vec![text(name.replace('_', " ")), count(*n)]))
}

fn status_table<const N: usize>(
    columns: [Column; N],
    rows: impl Iterator<Item = Vec<Cell>>,
) -> Table {
    Table {
        columns: columns.into(),
        rows: rows.map(|cells| Row { cells, is_reference: false }).collect(),
    }
}

fn text(words: impl Into<String>) -> Cell {
    Cell::Text(words.into())
}

fn optional_number_cell(value: Option<f64>) -> Cell {
    value.map_or(Cell::Undefined, |value| Cell::Number(value.into()))
}

fn count(n: u64) -> Cell {
    optional_number_cell(Some(n as f64))
}
