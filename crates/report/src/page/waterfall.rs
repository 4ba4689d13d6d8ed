//! The waterfall: one row per object, from its discovery to its last byte.

use super::times::{LABEL, exact};
use super::{Context, legend};
use crate::figure::axis::Span;
use crate::figure::canvas::{Canvas, tooltip, viewport};
use crate::figure::path::GRID;
use crate::figure::{Colour, draw};
use crate::{ObjectSpan, SchemeView, format};
use legend::{Entry, legend};
use maud::{Markup, html};
use svg::Node;
use svg::node::element::{Group, Path, Text};
use units::Instant;

/// Height of a row, and of what stands above and below the rows; the latter as in `style.css`.
const ROW: u32 = 17;
const MARGINS: u32 = 58 + 40;
/// What of a row's height its bar fills.
const BAR: (f64, f64) = (0.16, 0.84);
/// Characters that fit beside the plot.
const GUTTER_CHARS: usize = 34;

impl Context<'_> {
    /// The waterfall of one scheme, with its legend.
    pub(super) fn waterfall(&self, scheme: &SchemeView, link: &str) -> Markup {
        let shown = &scheme.objects[..scheme.objects.len().min(self.detail.objects)];
        let canvas = self.waterfall_canvas(scheme, shown, link);
        html! {
            @if !shown.is_empty() {
                figure {
                    h4 { "Page load" }
                    (canvas.into_markup())
                    figcaption {
                        (legend(&self.waterfall_entries(), self.detail.label))
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

    fn waterfall_canvas(&self, scheme: &SchemeView, shown: &[ObjectSpan], link: &str) -> Canvas {
        let x = self.time.span();
        let rows = Rows { x, count: shown.len() as f64 };
        let bars = shown.iter().enumerate();
        let bars = bars.map(|(i, object)| self.bar(&rows, i, object).into());
        let gutter = shown.iter().enumerate().map(|(i, object)| self.row_label(i, object).into());
        let name = self.label(&scheme.name);
        Canvas {
            class: "waterfall",
            title: format!("Waterfall of {} objects under {name}", scheme.objects.len()),
            height: MARGINS + ROW * shown.len() as u32,
            x: (x, LABEL.to_owned()),
            y: None,
            link: Some(link.to_owned()),
            curves: bars.collect(),
            marks: self.milestones(scheme, &x),
            gutter: gutter.collect(),
        }
    }

    /// A row's three phases, with a text for hover.
    fn bar(&self, rows: &Rows, index: usize, object: &ObjectSpan) -> Group {
        let colour = self.kinds.colour(&object.kind);
        let group = Group::new().set("class", format!("row {}", colour.class()));
        let group = group.add(tooltip(&self.describe(object)));
        let ends = [Some(object.discovered), object.requested, object.first_byte, object.done];
        let phases = ["wait", "ask", "get"].iter().zip(ends.windows(2));
        phases.fold(group, |group, (phase, ends)| match (ends[0], ends[1]) {
            (Some(from), Some(to)) => group.add(rows.phase(phase, index, (from, Some(to)))),
            (Some(from), None) => group.add(rows.phase("never", index, (from, None))),
            _ => group,
        })
    }

    fn describe(&self, object: &ObjectSpan) -> String {
        let mut lines = vec![self.label(&object.label)];
        let size = format!("{} B", format::grouped(object.bytes));
        lines.push(format!("{} · {} · {size}", self.label(&object.kind), self.label(&object.host)));
        if !object.connection.is_empty() {
            lines.push(format!("on {}", self.label(&object.connection)));
        }
        lines.push(format!("discovered {}", exact(object.discovered)));
        let later = [
            ("requested", object.requested),
            ("first byte", object.first_byte),
            ("done", object.done),
        ];
        lines.extend(later.map(|(what, at)| match at {
            Some(at) => format!("{what} {}", exact(at)),
            None => format!("{what}: never"),
        }));
        lines.join("\n")
    }

    fn row_label(&self, index: usize, object: &ObjectSpan) -> Text {
        let y = f64::from(ROW) * (index as f64 + 0.5);
        let label = crate::text::label_end(&object.label, GUTTER_CHARS.min(self.detail.label));
        Text::new(label).set("x", "100%").set("y", y).set("dy", "0.32em")
    }

    /// The limit's instants and the scheme's own. The earlier a line, the higher its label: labels
    /// run to the right, where later lines end below them.
    fn milestones(&self, scheme: &SchemeView, x: &Span) -> Vec<Box<dyn Node>> {
        let limit = scheme.limit.as_ref().unwrap_or(&self.report.limit);
        let mut lines = [
            (limit.html, "limit, HTML", Colour::Muted),
            (limit.page, "limit, page", Colour::Muted),
            (scheme.html_done, "HTML", Colour::Ink),
            (scheme.page_done, "page", Colour::Ink),
        ];
        lines.sort_by_key(|line| std::cmp::Reverse(line.0));
        let lines = lines.into_iter().enumerate().filter_map(|(i, (at, name, colour))| {
            let at = at?.as_secs_f64();
            let text = Text::new(format!("{name} {}", format::seconds(at)));
            let group = viewport(&format!("ref {}", colour.class()));
            Some(draw::upright(group, x.fraction(at), text, -0.4 - 1.1 * i as f64).into())
        });
        lines.collect()
    }

    fn waterfall_entries(&self) -> Vec<Entry> {
        let phases = [
            Entry::new("wait", Colour::Ink, "waiting for a connection"),
            Entry::new("ask", Colour::Ink, "request to first byte"),
            Entry::new("get", Colour::Ink, "receiving"),
        ];
        let kinds = self.kinds.iter().map(|kind| Entry::new("get", self.kinds.colour(kind), kind));
        phases.into_iter().chain(kinds).collect()
    }
}

/// Geometry of the rows on the stretched grid.
struct Rows {
    x: Span,
    count: f64,
}

impl Rows {
    /// A bar over a phase; without an end it runs to the edge.
    fn phase(&self, class: &str, index: usize, (from, to): (Instant, Option<Instant>)) -> Path {
        let left = on_grid(self.x.fraction(from.as_secs_f64()));
        let right = on_grid(to.map_or(1.0, |to| self.x.fraction(to.as_secs_f64())));
        let row = |part: f64| on_grid((index as f64 + part) / self.count);
        let (top, width, height) = (row(BAR.0), right - left, row(BAR.1) - row(BAR.0));
        let d = format!("M{left} {top}h{width}v{height}h{}z", -width);
        Path::new().set("class", class).set("d", d)
    }
}

fn on_grid(fraction: f64) -> i64 {
    (fraction * GRID).round() as i64
}
