//! A connection's two figures: its byte stream over time, and its windows (`window`).

use super::Context;
use super::legend::{LegendEntry, legend_markup};
use super::times::{TimeRange, format_exact};
use crate::figure::{
    Axis, AxisUnit, Colour, Figure, FigureMark, Point, Series, SeriesShape, Symbol,
};
use crate::thin::{self, Extent};
use crate::{ConnectionView, Role, SequenceKind, SequencePoint, format};
use maud::{Markup, html};

pub(super) const HEIGHT: u32 = 270;

const SENT: Colour = Colour::Role(Role::Sent);
const RETRANSMITTED: Colour = Colour::Role(Role::Retransmitted);
const ACKED: Colour = Colour::Role(Role::Acked);
const SACKED: Colour = Colour::Role(Role::Sacked);
const DROPPED: Colour = Colour::Role(Role::Dropped);

/// Draws one connection.
pub(super) struct Drawing<'a> {
    pub(super) page: &'a Context<'a>,
    pub(super) view: &'a ConnectionView,
    pub(super) time: TimeRange,
    pub(super) link: &'a str,
}

impl Drawing<'_> {
    /// The time-sequence figure and the window figure.
    pub(super) fn connection_figures(&self) -> Markup {
        html! {
            @if !self.view.sequence.is_empty() {
                (self.render("Time–sequence", &self.sequence(), &self.sequence_entries()))
            }
            @if !self.view.window.is_empty() || !self.view.flight.is_empty() {
                (self.render("Windows, and what bounded the sender", &self.window(), &self.window_entries()))
            }
        }
    }

    fn render(&self, heading: &str, figure: &Figure, entries: &[LegendEntry]) -> Markup {
        html! {
            figure {
                h5 { (heading) }
                (self.time.canvas(figure, self.link).into_markup())
                figcaption { (legend_markup(entries, self.page.detail.label)) }
            }
        }
    }

    fn sequence(&self) -> Figure {
        let kinds = [
            self.range_series(SequenceKind::Sent, "sent", SENT),
            self.range_series(SequenceKind::Sacked, "selectively acknowledged", SACKED),
            self.acks(),
            self.range_series(SequenceKind::Retransmitted, "retransmitted", RETRANSMITTED),
        ];
        let retransmitted =
            self.figure_marks(SequenceKind::Retransmitted, Symbol::Triangle, RETRANSMITTED);
        let dropped = self.figure_marks(SequenceKind::Dropped, Symbol::Cross, DROPPED);
        Figure {
            title: format!("Bytes sent and acknowledged over time, {}", self.name()),
            x: self.time.axis(),
            y: bytes("stream offset"),
            height: HEIGHT,
            shades: Vec::new(),
            series: kinds.into_iter().filter(|s| !s.points.is_empty()).collect(),
            marks: retransmitted.into_iter().chain(dropped).collect(),
            references: Vec::new(),
        }
    }

    pub(super) fn name(&self) -> String {
        self.page.label(&self.view.label)
    }

    /// The points of a kind, in order of time.
    fn of(&self, kind: SequenceKind) -> Vec<SequencePoint> {
        let points = self.view.sequence.iter().filter(|p| p.kind == kind);
        let mut points: Vec<SequencePoint> = points.copied().collect();
        points.sort_by_key(|p| (p.at, p.from, p.to));
        points
    }

    /// The ranges of a kind as upright strokes, thinned to their outline where there are too many.
    fn range_series(&self, kind: SequenceKind, name: &str, colour: Colour) -> Series {
        let ranges = self.of(kind).into_iter();
        let extent = |p: SequencePoint| Extent {
            x: p.at.as_secs_f64(),
            low: p.from as f64,
            high: p.to as f64,
        };
        let extents: Vec<_> = ranges.map(extent).collect();
        let kept = thin::thin_to_envelope(&extents, self.page.detail.points).into_iter();
        let points = kept.map(|i| extents[i]);
        let points =
            points.map(|Extent { x, low, high }| Point { x, y: high, extent: Some((low, high)) });
        Series {
            name: name.to_owned(),
            shape: SeriesShape::Spans,
            colour,
            points: points.collect(),
        }
    }

    fn acks(&self) -> Series {
        let acks = self.of(SequenceKind::Acked).into_iter();
        let extents: Vec<_> = acks.map(|p| Extent::of(p.at.as_secs_f64(), p.to as f64)).collect();
        let kept = thin::thin_to_envelope(&extents, self.page.detail.points).into_iter();
        let points = kept.map(|i| Point::new(extents[i].x, extents[i].high)).collect();
        Series { name: "acknowledged".to_owned(), shape: SeriesShape::Step, colour: ACKED, points }
    }

    fn figure_marks(&self, kind: SequenceKind, symbol: Symbol, colour: Colour) -> Vec<FigureMark> {
        let events = self.of(kind);
        let kept = thin::evenly(events.len(), self.page.detail.events).into_iter();
        let what = if kind == SequenceKind::Dropped { "dropped" } else { "retransmitted" };
        let mark = |p: SequencePoint| FigureMark {
            x: p.at.as_secs_f64(),
            y: p.from as f64 / 2.0 + p.to as f64 / 2.0,
            symbol,
            colour,
            text: format!(
                "{what} at {}\nbytes {} to {}",
                format_exact(p.at),
                format::group_digits(p.from),
                format::group_digits(p.to)
            ),
        };
        kept.map(|i| mark(events[i])).collect()
    }

    fn sequence_entries(&self) -> Vec<LegendEntry> {
        let count = |kind| self.view.sequence.iter().filter(|p| p.kind == kind).count();
        let events = self.page.detail.events;
        let entries = [
            ("spans", SequenceKind::Sent, SENT, "sent", usize::MAX),
            ("line", SequenceKind::Acked, ACKED, "acknowledged", usize::MAX),
            ("spans", SequenceKind::Sacked, SACKED, "selectively acknowledged", usize::MAX),
            ("m-triangle", SequenceKind::Retransmitted, RETRANSMITTED, "retransmitted", events),
            ("m-cross", SequenceKind::Dropped, DROPPED, "dropped", events),
        ];
        let entries = entries.into_iter().filter(|e| count(e.1) > 0);
        entries
            .map(|(form, kind, colour, what, max)| {
                LegendEntry::new(form, colour, legend_with_count(what, count(kind), max))
            })
            .collect()
    }
}

/// A legend's text with its count, and how many of them are drawn if not all.
pub(super) fn legend_with_count(what: &str, count: usize, max: usize) -> String {
    match count > max {
        true => format!("{what} ({max} of {count} drawn)"),
        false => format!("{what} ({count})"),
    }
}

/// An axis of bytes.
pub(super) fn bytes(label: &str) -> Axis {
    Axis { label: label.to_owned(), unit: AxisUnit::Bytes, ..Axis::default() }
}
