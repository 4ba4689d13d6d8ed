//! A connection's two figures: its byte stream over time, and its window with the causes.

use super::Context;
use super::legend::{Entry, legend};
use super::times::{TimeRange, exact};
use crate::figure::{Axis, Colour, Figure, Mark, Point, Series, Shape, Symbol, Unit};
use crate::thin::{self, Extent};
use crate::{ConnectionView, SequenceKind, SequencePoint, WindowPoint, format};
use maud::{Markup, html};

const HEIGHT: u32 = 270;

const SENT: Colour = Colour::Hue(0);
const RETRANSMITTED: Colour = Colour::Hue(3);
const ACKED: Colour = Colour::Hue(2);
const SACKED: Colour = Colour::Hue(5);
const DROPPED: Colour = Colour::Hue(1);

/// Stands for all causes beyond those with a colour of their own.
const OTHER: &str = "other causes";

/// Draws one connection.
pub(super) struct Drawing<'a> {
    pub(super) page: &'a Context<'a>,
    pub(super) view: &'a ConnectionView,
    pub(super) time: TimeRange,
    pub(super) link: &'a str,
}

impl Drawing<'_> {
    /// The time-sequence figure and the window figure.
    pub(super) fn figures(&self) -> Markup {
        html! {
            @if !self.view.sequence.is_empty() {
                (self.render("Time–sequence", &self.sequence(), &self.sequence_entries()))
            }
            @if !self.view.window.is_empty() {
                (self.render("Congestion window", &self.window(), &self.window_entries()))
            }
        }
    }

    fn render(&self, heading: &str, figure: &Figure, entries: &[Entry]) -> Markup {
        html! {
            figure {
                h5 { (heading) }
                (figure.to_canvas(Some(self.link)).into_markup())
                figcaption { (legend(entries, self.page.detail.label)) }
            }
        }
    }

    fn sequence(&self) -> Figure {
        let kinds = [
            self.spans(SequenceKind::Sent, "sent", SENT),
            self.spans(SequenceKind::Sacked, "selectively acknowledged", SACKED),
            self.acks(),
            self.spans(SequenceKind::Retransmitted, "retransmitted", RETRANSMITTED),
        ];
        let retransmitted =
            self.marks(SequenceKind::Retransmitted, Symbol::Triangle, RETRANSMITTED);
        let dropped = self.marks(SequenceKind::Dropped, Symbol::Cross, DROPPED);
        Figure {
            title: format!("Bytes sent and acknowledged over time, {}", self.name()),
            x: self.time.axis(),
            y: bytes("stream offset"),
            height: HEIGHT,
            series: kinds.into_iter().filter(|s| !s.points.is_empty()).collect(),
            marks: retransmitted.into_iter().chain(dropped).collect(),
            references: Vec::new(),
        }
    }

    fn name(&self) -> String {
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
    fn spans(&self, kind: SequenceKind, name: &str, colour: Colour) -> Series {
        let ranges = self.of(kind).into_iter();
        let extent = |p: SequencePoint| Extent {
            x: p.at.as_secs_f64(),
            low: p.from as f64,
            high: p.to as f64,
        };
        let extents: Vec<_> = ranges.map(extent).collect();
        let kept = thin::envelope(&extents, self.page.detail.points).into_iter();
        let points = kept.map(|i| extents[i]);
        let points =
            points.map(|Extent { x, low, high }| Point { x, y: high, extent: Some((low, high)) });
        Series { name: name.to_owned(), shape: Shape::Spans, colour, points: points.collect() }
    }

    fn acks(&self) -> Series {
        let acks = self.of(SequenceKind::Acked).into_iter();
        let extents: Vec<_> = acks.map(|p| Extent::of(p.at.as_secs_f64(), p.to as f64)).collect();
        let kept = thin::envelope(&extents, self.page.detail.points).into_iter();
        let points = kept.map(|i| Point::new(extents[i].x, extents[i].high)).collect();
        Series { name: "acknowledged".to_owned(), shape: Shape::Step, colour: ACKED, points }
    }

    fn marks(&self, kind: SequenceKind, symbol: Symbol, colour: Colour) -> Vec<Mark> {
        let events = self.of(kind);
        let kept = thin::evenly(events.len(), self.page.detail.events).into_iter();
        let what = if kind == SequenceKind::Dropped { "dropped" } else { "retransmitted" };
        let mark = |p: SequencePoint| Mark {
            x: p.at.as_secs_f64(),
            y: p.from as f64 / 2.0 + p.to as f64 / 2.0,
            symbol,
            colour,
            text: format!(
                "{what} at {}\nbytes {} to {}",
                exact(p.at),
                format::grouped(p.from),
                format::grouped(p.to)
            ),
        };
        kept.map(|i| mark(events[i])).collect()
    }

    fn sequence_entries(&self) -> Vec<Entry> {
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
                Entry::new(form, colour, counted(what, count(kind), max))
            })
            .collect()
    }

    fn window(&self) -> Figure {
        let window = &self.view.window;
        let kept = self.kept_changes();
        let curve = |name: &str, shape, value: &dyn Fn(&WindowPoint) -> f64| Series {
            name: name.to_owned(),
            shape,
            colour: if shape == Shape::Step { Colour::Ink } else { Colour::Muted },
            points: kept
                .iter()
                .map(|&i| Point::new(seconds(&window[i]), value(&window[i])))
                .collect(),
        };
        let ssthresh = |p: &WindowPoint| p.ssthresh.map_or(f64::NAN, |bytes| bytes as f64);
        let curves = [
            curve("ssthresh", Shape::DashedStep, &ssthresh),
            curve("cwnd", Shape::Step, &|p| p.cwnd as f64),
        ];
        Figure {
            title: format!("Congestion window and its causes over time, {}", self.name()),
            x: self.time.axis(),
            y: bytes("cwnd, ssthresh"),
            height: HEIGHT,
            series: curves.into_iter().chain(self.cause_dots(&kept)).collect(),
            marks: Vec::new(),
            references: Vec::new(),
        }
    }

    /// The extremes of cwnd and of ssthresh, and the changes of cause.
    fn kept_changes(&self) -> Vec<usize> {
        let (window, detail) = (&self.view.window, self.page.detail);
        let extents = |value: fn(&WindowPoint) -> u64| -> Vec<_> {
            window.iter().map(|p| Extent::of(seconds(p), value(p) as f64)).collect()
        };
        let cwnd = thin::envelope(&extents(|p| p.cwnd), detail.points);
        // A threshold that becomes finite is a change of cause, so infinity needs no place here.
        let ssthresh = thin::envelope(&extents(|p| p.ssthresh.unwrap_or(0)), detail.points / 4);
        let changes: Vec<usize> = (0..window.len())
            .filter(|&i| i == 0 || window[i].cause != window[i - 1].cause)
            .collect();
        let drawn = thin::evenly(changes.len(), 2 * detail.events);
        let drawn: Vec<usize> = drawn.into_iter().map(|i| changes[i]).collect();
        thin::union(thin::union(cwnd, &ssthresh), &drawn)
    }

    /// A dot on cwnd at each change that is drawn, by cause.
    fn cause_dots(&self, kept: &[usize]) -> Vec<Series> {
        let causes = &self.page.causes;
        let drawn: Vec<&WindowPoint> = kept.iter().map(|&i| &self.view.window[i]).collect();
        let series = causes.groups().map(|group| {
            let points = drawn.iter().filter(|p| causes.belongs(&p.cause, group));
            let name = group.unwrap_or(OTHER);
            Series {
                name: self.page.label(name),
                shape: causes.dots(name),
                colour: causes.colour(name),
                points: points.map(|p| Point::new(seconds(p), p.cwnd as f64)).collect(),
            }
        });
        series.filter(|s| !s.points.is_empty()).collect()
    }

    fn window_entries(&self) -> Vec<Entry> {
        let mut entries = vec![Entry::new("line", Colour::Ink, "cwnd")];
        if self.view.window.iter().any(|p| p.ssthresh.is_some()) {
            entries.push(Entry::new("dashed", Colour::Muted, "ssthresh"));
        }
        let causes = &self.page.causes;
        for group in causes.groups() {
            let of_group = |p: &&WindowPoint| causes.belongs(&p.cause, group);
            let count = self.view.window.iter().filter(of_group).count();
            if count > 0 {
                let name = group.unwrap_or(OTHER);
                let form = if causes.dots(name) == Shape::Dots { "dots" } else { "squares" };
                let text = counted(name, count, usize::MAX);
                entries.push(Entry::new(form, causes.colour(name), text));
            }
        }
        entries
    }
}

/// A legend's text with its count, and how many of them are drawn if not all.
pub(super) fn counted(what: &str, count: usize, max: usize) -> String {
    match count > max {
        true => format!("{what} ({max} of {count} drawn)"),
        false => format!("{what} ({count})"),
    }
}

fn bytes(label: &str) -> Axis {
    Axis { label: label.to_owned(), unit: Unit::Bytes, ..Axis::default() }
}

fn seconds(point: &WindowPoint) -> f64 {
    point.at.as_secs_f64()
}
