//! A queue's occupancy over time, with what it dropped.

use super::Context;
use super::connection::legend_with_count;
use super::legend::{LegendEntry, legend_markup};
use super::times::{TimeRange, format_exact};
use crate::figure::{
    Axis, AxisUnit, Colour, Figure, FigureMark, Point, Reference, Series, SeriesShape, Symbol,
};
use crate::thin::{self, Extent};
use crate::{QueueCapacity, QueuePoint, QueueView, Role, format};
use maud::{Markup, html};
use units::Instant;

const HEIGHT: u32 = 190;
const OCCUPANCY: Colour = Colour::Role(Role::Queued);
const DROPPED: Colour = Colour::Role(Role::Dropped);

/// Draws one queue.
pub(super) struct Drawing<'a> {
    pub(super) page: &'a Context<'a>,
    pub(super) view: &'a QueueView,
    pub(super) time: TimeRange,
    pub(super) link: &'a str,
}

impl Drawing<'_> {
    /// The occupancy figure.
    pub(super) fn figure_markup(&self) -> Markup {
        html! {
            figure {
                h5 { bdi { (self.page.label(&self.view.label)) } }
                (self.time.canvas(&self.occupancy_figure(), self.link).into_markup())
                figcaption { (legend_markup(&self.entries(), self.page.detail.label)) }
            }
        }
    }

    fn occupancy_figure(&self) -> Figure {
        let unit = if self.in_bytes() { AxisUnit::Bytes } else { AxisUnit::Count };
        let label = if self.in_bytes() { "bytes queued" } else { "packets queued" };
        Figure {
            title: format!("Occupancy over time, {}", self.page.label(&self.view.label)),
            x: self.time.axis(),
            y: Axis { label: label.to_owned(), unit, ..Axis::default() },
            height: HEIGHT,
            shades: Vec::new(),
            series: vec![Series {
                name: label.to_owned(),
                shape: SeriesShape::Area,
                colour: OCCUPANCY,
                points: self.occupancy_points(),
            }],
            marks: self.drops(),
            references: self.capacity().into_iter().collect(),
        }
    }

    fn in_bytes(&self) -> bool {
        matches!(self.view.capacity, Some(QueueCapacity::Bytes(_)))
    }

    fn value(&self, point: &QueuePoint) -> f64 {
        if self.in_bytes() { point.bytes as f64 } else { point.packets as f64 }
    }

    fn occupancy_points(&self) -> Vec<Point> {
        let extent = |p: &QueuePoint| Extent::of(p.at.as_secs_f64(), self.value(p));
        let extents: Vec<_> = self.view.points.iter().map(extent).collect();
        let kept = thin::thin_to_envelope(&extents, self.page.detail.points).into_iter();
        kept.map(|i| Point::new(extents[i].x, extents[i].low)).collect()
    }

    /// Crosses at the level the queue had when it refused.
    fn drops(&self) -> Vec<FigureMark> {
        let drops = &self.view.drops;
        let kept = thin::evenly(drops.len(), self.page.detail.events).into_iter();
        let mark = |at: Instant| FigureMark {
            x: at.as_secs_f64(),
            y: self.level(at),
            symbol: Symbol::Cross,
            colour: DROPPED,
            text: format!("dropped at {}", format_exact(at)),
        };
        kept.map(|i| mark(drops[i])).collect()
    }

    fn level(&self, at: Instant) -> f64 {
        let after = self.view.points.partition_point(|p| p.at <= at);
        after.checked_sub(1).map_or(0.0, |i| self.value(&self.view.points[i]))
    }

    fn capacity(&self) -> Option<Reference> {
        let (at, label) = match self.view.capacity? {
            QueueCapacity::Packets(n) => (n, format!("capacity {}", format::group_digits(n))),
            QueueCapacity::Bytes(n) => (n, format!("capacity {} B", format::group_digits(n))),
        };
        // A bound far above anything queued would flatten the curve.
        let peak = self.view.points.iter().map(|p| self.value(p)).fold(0.0, f64::max);
        let at = at as f64;
        (at <= 3.0 * peak).then_some(Reference { at, upright: false, label, colour: Colour::Muted })
    }

    fn entries(&self) -> Vec<LegendEntry> {
        let occupancy = if self.in_bytes() { "bytes" } else { "packets" };
        let mut entries =
            vec![LegendEntry::new("area", OCCUPANCY, format!("{occupancy} in the queue"))];
        if !self.view.drops.is_empty() {
            let text = legend_with_count("dropped", self.view.drops.len(), self.page.detail.events);
            entries.push(LegendEntry::new("m-cross", DROPPED, text));
        }
        if let (Some(capacity), None) = (self.view.capacity, self.capacity()) {
            let text = match capacity {
                QueueCapacity::Packets(1) => "capacity 1 packet".to_owned(),
                QueueCapacity::Packets(n) => {
                    format!("capacity {} packets", format::group_digits(n))
                }
                QueueCapacity::Bytes(n) => format!("capacity {} B", format::group_digits(n)),
            };
            entries.push(LegendEntry::new(
                "dashed",
                Colour::Muted,
                format!("{text} (not in view)"),
            ));
        }
        entries
    }
}
