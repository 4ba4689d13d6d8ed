//! The waterfall: one row per object, from its discovery to its last byte, in phases.
//!
//! A bar is drawn once, in the panel of its scheme, in hundredths of a row; `compare` shows it again by reference.

use super::phases::{Phase, PhaseKind, phases};
use super::times::{LABEL, exact};
use super::{Context, legend};
use crate::figure::axis::Span;
use crate::figure::canvas::{Canvas, percent, tooltip, viewport};
use crate::figure::path::GRID;
use crate::figure::{Colour, draw};
use crate::{LimitView, ObjectSpan, SchemeView, format};
use legend::{LegendEntry, legend};
use maud::{Markup, html};
use svg::Node;
use svg::node::element::{Group, Path, SVG, Text};
use units::Instant;

/// Height of a row on a wide and on a narrow page, where its label stands above the bar.
const ROW: u32 = 17;
const NARROW_ROW: u32 = 34;
/// What stands above and below the rows, as in `style.css`.
const MARGINS: u32 = 58 + 40;
/// Columns of a fixed width that fit for a label, and for the kind of an object.
const LABEL_COLUMNS: usize = 33;
const KIND_COLUMNS: usize = 10;

impl Context<'_> {
    /// The waterfall of the scheme at this place, with its legend.
    pub(super) fn waterfall(&self, at: usize, link: &str) -> Markup {
        let scheme = &self.report.schemes[at];
        let shown = self.shown_objects(scheme);
        let canvas = self.waterfall_canvas(at, shown, link);
        html! {
            @if !shown.is_empty() {
                figure {
                    h4 { "Page load" }
                    (canvas.into_markup())
                    figcaption {
                        (legend(&phase_entries(), self.detail.label))
                        @if shown.len() < scheme.objects.len() {
                            p.note {
                                "The first " (shown.len()) " of " (scheme.objects.len())
                                " objects, in order of discovery."
                            }
                        }
                    }
                }
            }
        }
    }

    /// The objects that have a row.
    pub(super) fn shown_objects<'s>(&self, scheme: &'s SchemeView) -> &'s [ObjectSpan] {
        &scheme.objects[..scheme.objects.len().min(self.detail.objects)]
    }

    fn waterfall_canvas(&self, at: usize, shown: &[ObjectSpan], link: &str) -> Canvas {
        let scheme = &self.report.schemes[at];
        let x = self.time.span();
        let bars = shown.iter().enumerate().map(|(row, object)| {
            in_row(row, shown.len(), self.bar(&x, object).set("id", bar_id(at, object))).into()
        });
        let rows = shown.iter().enumerate();
        let gutter = rows.map(|(row, object)| self.row_label(row, shown.len(), object).into());
        let objects = units::counted(scheme.objects.len(), "object");
        Canvas {
            class: "waterfall",
            title: format!("Waterfall of {objects} under {}", self.label(&scheme.title())),
            height: MARGINS + ROW * shown.len() as u32,
            narrow_height: Some(MARGINS + NARROW_ROW * shown.len() as u32),
            x: (x, LABEL.to_owned()),
            y: None,
            link: Some(link.to_owned()),
            curves: bars.collect(),
            marks: self.milestones(scheme, &x),
            gutter: gutter.collect(),
        }
    }

    /// An object's phases in hundredths of a row, with a text for hover.
    fn bar(&self, x: &Span, object: &ObjectSpan) -> Group {
        let group = Group::new().set("class", "bar").add(tooltip(&self.describe(object)));
        phases(object).into_iter().map(|phase| phase_path(x, phase)).fold(group, Group::add)
    }

    fn describe(&self, object: &ObjectSpan) -> String {
        let mut lines = vec![self.label(&object.label)];
        let size = format!("{} B", format::grouped(object.bytes));
        lines.push(format!("{} · {} · {size}", self.label(&object.kind), self.label(&object.host)));
        if !object.connection.is_empty() {
            lines.push(format!("on {}", self.label(&object.connection)));
        }
        lines.push(format!("discovered at {}", exact(object.discovered)));
        lines.extend(phases(object).into_iter().map(|phase| match phase.to {
            Some(to) => format!("{}: {}", phase.kind.name(), exact(since(phase.from, to))),
            None => format!("{}: never ends", phase.kind.name()),
        }));
        lines.extend(object.done.map(|at| format!("done at {}", exact(at))));
        lines.join("\n")
    }

    /// Name, kind and size of an object beside its row.
    pub(super) fn row_label(&self, row: usize, of: usize, object: &ObjectSpan) -> Group {
        let y = percent((row as f64 + 0.5) / of as f64);
        let text = |class: &str, text: String| {
            Text::new(text).set("class", class).set("y", y.as_str()).set("dy", "0.32em")
        };
        let name = crate::text::columns_end(&object.label, LABEL_COLUMNS.min(self.detail.label));
        let kind = crate::text::columns_end(&object.kind, KIND_COLUMNS);
        Group::new()
            .add(text("name", name))
            .add(text("kind", kind).set("x", "100%").set("dx", -58))
            .add(text("size", format::bytes(object.bytes)).set("x", "100%"))
    }

    /// The limit's instants and the scheme's own. The earlier a line, the higher its label: labels
    /// run to the right, where later lines end below them.
    fn milestones(&self, scheme: &SchemeView, x: &Span) -> Vec<Box<dyn Node>> {
        let limit = scheme.limit.as_ref().unwrap_or(&self.report.limit);
        let own = [("document", scheme.document_done), ("page", scheme.page_done)];
        let own = own.map(|(name, at)| Milestone {
            lane: "",
            name: name.to_owned(),
            at,
            colour: Colour::Ink,
        });
        upright_lines(x, limit_lines(limit).into_iter().chain(own))
    }
}

/// An upright line.
pub(super) struct Milestone {
    /// Class of the lane that it belongs to; empty if to all.
    pub(super) lane: &'static str,
    pub(super) name: String,
    pub(super) at: Option<Instant>,
    pub(super) colour: Colour,
}

/// The limit's two instants.
pub(super) fn limit_lines(limit: &LimitView) -> [Milestone; 2] {
    [("limit, document", limit.document), ("limit, page", limit.page)].map(|(name, at)| Milestone {
        lane: "",
        name: name.to_owned(),
        at,
        colour: Colour::Muted,
    })
}

/// Lines whose labels stand below each other, that of the latest the lowest.
pub(super) fn upright_lines(
    x: &Span,
    lines: impl Iterator<Item = Milestone>,
) -> Vec<Box<dyn Node>> {
    let mut lines: Vec<Milestone> = lines.collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.at));
    let lines = lines.into_iter().enumerate().filter_map(|(i, line)| {
        let at = line.at?.as_secs_f64();
        let text = Text::new(format!("{} {}", line.name, format::seconds(at)));
        let class = format!("ref {} {}", line.colour.class(), line.lane);
        let group: SVG = viewport(class.trim_end());
        Some(draw::upright(group, x.fraction(at), text, -0.4 - 1.1 * i as f64).into())
    });
    lines.collect()
}

/// Name of an object's bar in the panel of the scheme at this place.
pub(super) fn bar_id(scheme: usize, object: &ObjectSpan) -> String {
    format!("s{scheme}o{}", object.index)
}

/// What is drawn in hundredths of a row, in its place among so many.
pub(super) fn in_row(row: usize, of: usize, bar: impl Into<Box<dyn Node>>) -> Group {
    let (top, height) = (GRID * row as f64 / of as f64, GRID / of as f64);
    let transform = format!("translate(0 {top:.1}) scale(1 {:.4})", height / 100.0);
    Group::new().set("class", "row").set("transform", transform).add(bar)
}

/// A bar over a phase; without an end it runs to the edge.
fn phase_path(x: &Span, phase: Phase) -> Path {
    let on_grid = |at: Instant| (x.fraction(at.as_secs_f64()) * GRID).round() as i64;
    let left = on_grid(phase.from);
    let width = phase.to.map_or(GRID as i64, on_grid) - left;
    let (top, bottom) = phase.kind.extent();
    let height = bottom - top;
    let class = phase.kind.colour().class();
    let class = if phase.to.is_some() { class.to_owned() } else { format!("{class} never") };
    Path::new().set("class", class).set("d", format!("M{left} {top}h{width}v{height}h{}z", -width))
}

pub(super) fn phase_entries() -> Vec<LegendEntry> {
    PhaseKind::ALL.map(|kind| LegendEntry::new("bar", kind.colour(), kind.name())).into()
}

/// The time between two instants, as an instant.
fn since(from: Instant, to: Instant) -> Instant {
    Instant::ZERO + to.saturating_since(from)
}
