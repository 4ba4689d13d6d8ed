//! The time-sequence plot of a connection, as tcptrace draws it: data, ACKs, the ends of both
//! windows, and retransmissions by kind.

use super::worst::{RecordedConnection, SequenceEvent};
use report::{
    Axis, AxisUnit, Block, Colour, Figure, Point, Role, Section, Series, SeriesShape, bytes,
    seconds,
};
use trace::RetransmissionKind;
use units::{Instant, counted};

const HEIGHT: u32 = 380;
/// Room above the last byte, as a part of all.
const HEADROOM: f64 = 1.08;

/// The name by which table and section call it.
pub(super) fn name(recorded: &RecordedConnection) -> String {
    format!("C{}", recorded.summary.connection)
}

/// Retransmissions of a kind, as the legend has them.
const fn kind_name(kind: RetransmissionKind) -> &'static str {
    match kind {
        RetransmissionKind::Fast => "fast retransmission",
        RetransmissionKind::Recovery => "further retransmission of the episode",
        RetransmissionKind::Timeout => "retransmission by timeout",
        RetransmissionKind::SlowStart => "slow-start retransmission after a timeout",
        RetransmissionKind::TailProbe => "tail-loss probe",
    }
}

const fn kind_look(kind: RetransmissionKind) -> (SeriesShape, Colour) {
    match kind {
        RetransmissionKind::Fast => (SeriesShape::Squares, Colour::Role(Role::Retransmitted)),
        RetransmissionKind::Recovery => (SeriesShape::Squares, Colour::Role(Role::Recovery)),
        RetransmissionKind::Timeout => (SeriesShape::Squares, super::time::TIMEOUT),
        RetransmissionKind::SlowStart => (SeriesShape::Dots, Colour::Cause(1)),
        RetransmissionKind::TailProbe => (SeriesShape::Dots, Colour::Cause(0)),
    }
}

/// A section of its own for the connection.
pub(super) fn section(recorded: &RecordedConnection) -> Section {
    let heading = name(recorded);
    let blocks =
        vec![Block::Text(connection_summary(recorded)), Block::Figure(sequence_figure(recorded))];
    Section { heading, blocks }
}

fn connection_summary(recorded: &RecordedConnection) -> String {
    let (summary, sums) = (&recorded.summary, &recorded.sums);
    let mut text = format!(
        "Client {}, server {}: {} of {} in all, with {}, of which {} by timeout. {} were lost to what a sender can change.",
        summary.client,
        summary.server,
        counted(sums.transfers, "transfer"),
        bytes(sums.bytes),
        counted(sums.retransmissions, "retransmission"),
        sums.timeouts,
        seconds(recorded.avoidable_seconds())
    );
    if recorded.step > 1 {
        let all = if recorded.thins_again { "" } else { ", and all retransmissions" };
        text += &format!(" One of {} events is drawn{all}.", recorded.step);
    }
    text
}

fn sequence_figure(recorded: &RecordedConnection) -> Figure {
    let events = &recorded.events;
    let first = events.iter().map(at).min().unwrap_or_default();
    let since = |at: Instant| at.saturating_since(first).as_secs_f64();
    let top = events.iter().map(highest).max().unwrap_or(1) as f64 * HEADROOM;
    // A window's end far above all data would press the data flat.
    let within = |edge: u64| if edge as f64 <= top { edge as f64 } else { f64::NAN };
    let mut sent = Vec::new();
    let (mut acked, mut receive, mut window) = (Vec::new(), Vec::new(), Vec::new());
    let mut again: [Vec<Point>; RetransmissionKind::COUNT] = Default::default();
    for event in events {
        match *event {
            SequenceEvent::Sent { at, end, bytes } => {
                let (low, high) = (end.saturating_sub(bytes) as f64, end as f64);
                sent.push(Point { x: since(at), y: high, extent: Some((low, high)) });
            }
            SequenceEvent::Acked { at, una, receive_edge, window_edge } => {
                acked.push(Point::new(since(at), una as f64));
                receive.push(Point::new(since(at), within(receive_edge)));
                window.push(Point::new(since(at), within(window_edge)));
            }
            SequenceEvent::Again { at, start, len, kind } => {
                let middle = start as f64 + f64::from(len) / 2.0;
                again[kind as usize].push(Point::new(since(at), middle));
            }
        }
    }
    let line = |name: &str, shape, role, points| Series {
        name: name.to_owned(),
        shape,
        colour: Colour::Role(role),
        points,
    };
    let mut series = vec![
        line("end of the receive window", SeriesShape::Step, Role::ReceiveWindow, receive),
        line("end of the congestion window", SeriesShape::DashedStep, Role::Cwnd, window),
        line("acknowledged", SeriesShape::Step, Role::Acked, acked),
        line("sent", SeriesShape::Spans, Role::Sent, sent),
    ];
    for (kind, points) in RetransmissionKind::ALL.into_iter().zip(again) {
        let (shape, colour) = kind_look(kind);
        series.push(Series { name: kind_name(kind).to_owned(), shape, colour, points });
    }
    series.retain(|series| series.points.iter().any(|point| point.y.is_finite()));
    Figure {
        title: format!("{}: bytes of the stream over time", name(recorded)),
        x: Axis { label: "time".to_owned(), unit: AxisUnit::Seconds, ..Axis::default() },
        y: Axis {
            label: "bytes".to_owned(),
            unit: AxisUnit::Bytes,
            range: Some((0.0, top)),
            ..Axis::default()
        },
        height: HEIGHT,
        series,
        ..Figure::default()
    }
}

const fn at(event: &SequenceEvent) -> Instant {
    match event {
        SequenceEvent::Sent { at, .. }
        | SequenceEvent::Acked { at, .. }
        | SequenceEvent::Again { at, .. } => *at,
    }
}

/// The highest byte that is data.
fn highest(event: &SequenceEvent) -> u64 {
    match event {
        SequenceEvent::Sent { end, .. } => *end,
        SequenceEvent::Acked { una, .. } => *una,
        SequenceEvent::Again { start, len, .. } => start + u64::from(*len),
    }
}
