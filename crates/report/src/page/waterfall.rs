//! The waterfall: one row per object, from the byte that reveals it to its last byte, in phases.
//!
//! A bar is drawn once, in the panel of its scheme, in hundredths of a row. `compare` shows it
//! again by reference.

use super::chart::{ChartRow, RowCells, RowChart, UprightLine};
use super::phases::{Extent, Phase, PhaseKind, phases};
use super::times::format_instant;
use super::{Context, HINT, legend};
use crate::figure::Colour;
use crate::figure::axis::Span;
use crate::figure::path::GRID;
use crate::{CriticalSpan, LimitView, ObjectSpan, SchemeView, format, split_address, text};
use legend::{LegendEntry, legend_markup};
use maud::{Markup, html};
use std::collections::BTreeMap;
use svg::node::element::{Group, Path};
use units::Instant;

/// Columns of a fixed width that are kept of a name, of the query in it, and of a kind.
const NAME_COLUMNS: usize = 48;
const QUERY_COLUMNS: usize = 8;
const KIND_COLUMNS: usize = 10;
/// The mark of the critical path in a row, in hundredths of its height from the top.
const CRITICAL: Extent = Extent { top: 80, bottom: 100 };

/// A waterfall in the making.
struct Waterfall<'a> {
    page: &'a Context<'a>,
    x: Span,
    /// Index of the scheme.
    at: usize,
    /// The scheme's objects, by their index.
    objects: BTreeMap<usize, &'a ObjectSpan>,
}

impl Context<'_> {
    /// The section of the leading scheme's page load; nothing if there is no such scheme.
    pub(super) fn leading_load(&self) -> Markup {
        let Some(at) = self.leading_scheme() else { return html! {} };
        let title = self.label(&self.report.schemes[at].unique_title());
        html! {
            section id="load" aria-label=(title) {
                h2 { "Page load under " bdi { (title) } (self.along_time()) }
                (self.waterfall(at))
                p.hint { (HINT) }
            }
        }
    }

    /// The quantity along the axis of a waterfall, and the loads, beside a heading.
    pub(super) fn along_time(&self) -> Markup {
        let which = self.label(&self.report.which_loads);
        html! {
            span.counts { "by time since the load began" @if !which.is_empty() { ", " (which) } }
        }
    }

    /// The index of the scheme whose page load stands above the results.
    pub(super) fn leading_scheme(&self) -> Option<usize> {
        let scheme = self.report.schemes.get(self.report.leading)?;
        let is_shown = self.report.leading < self.detail.schemes;
        (is_shown && !self.shown_objects(scheme).is_empty()).then_some(self.report.leading)
    }

    /// The page load of a scheme in its panel. The leading scheme's stands above the results.
    pub(super) fn own_load(&self, at: usize) -> Markup {
        let objects = self.shown_objects(&self.report.schemes[at]);
        html! {
            @if self.leading_scheme() == Some(at) {
                p.note { "The " a href="#load" { "page load" } " stands above the results." }
            } @else if !objects.is_empty() {
                h4 { "Page load" (self.along_time()) }
                (self.waterfall(at))
            }
        }
    }

    /// The waterfall of a scheme, with its legend.
    fn waterfall(&self, at: usize) -> Markup {
        let scheme = &self.report.schemes[at];
        let shown = self.shown_objects(scheme);
        let waterfall = Waterfall {
            page: self,
            x: self.time.time_span(),
            at,
            objects: scheme.objects.iter().map(|object| (object.index, object)).collect(),
        };
        html! {
            figure {
                (waterfall.chart(scheme, &shown).into_markup())
                figcaption {
                    (legend_markup(&phase_entries(&shown), self.detail.label))
                    @if shown.len() < scheme.objects.len() {
                        p.note {
                            (shown.len()) " of " (scheme.objects.len())
                            " objects: the critical path, and the first others in order of discovery."
                        }
                    }
                }
            }
        }
    }

    /// The objects that have a row: those on the critical path, and the first others.
    pub(super) fn shown_objects<'s>(&self, scheme: &'s SchemeView) -> Vec<&'s ObjectSpan> {
        let is_critical = |object: &ObjectSpan| object.critical.is_some();
        let critical = scheme.objects.iter().filter(|object| is_critical(object)).count();
        let mut others = self.detail.objects.saturating_sub(critical);
        let mut keeps = |object: &ObjectSpan| {
            let keeps = is_critical(object) || others > 0;
            others -= usize::from(keeps && !is_critical(object));
            keeps
        };
        scheme.objects.iter().filter(|object| keeps(object)).take(self.detail.objects).collect()
    }

    /// Name, host, kind and size of an object beside its row.
    pub(super) fn row_cells(&self, object: &ObjectSpan) -> RowCells {
        RowCells {
            name: text::columns_end(&name_of(object), NAME_COLUMNS.min(self.detail.label)),
            host: self.label(&object.host),
            kind: text::columns_end(&object.kind, KIND_COLUMNS),
            size: format::bytes(object.bytes),
        }
    }
}

impl Waterfall<'_> {
    fn chart(&self, scheme: &SchemeView, shown: &[&ObjectSpan]) -> RowChart {
        let objects = units::counted(scheme.objects.len(), "object");
        let limit = scheme.limit.as_ref().unwrap_or(&self.page.report.limit);
        let own = scheme.milestones.iter().map(|milestone| UprightLine {
            lane: "",
            name: self.page.label(&milestone.name),
            at: milestone.at,
            colour: Colour::Ink,
        });
        let row = |object: &&ObjectSpan| ChartRow {
            cells: self.page.row_cells(object),
            text: self.describe(object),
            is_critical: object.critical.is_some(),
            is_later: self.page.time.is_out_of_sight(object),
            drawing: self.draw_object(object).set("id", bar_id(self.at, object)),
        };
        RowChart {
            is_comparison: false,
            title: format!(
                "Waterfall of {objects} under {}",
                self.page.label(&scheme.unique_title())
            ),
            x: self.x,
            rest: self.page.time.objects_out_of_sight(&scheme.objects),
            link: Some(panel_id(self.at)),
            rows: shown.iter().map(row).collect(),
            lines: limit_lines(limit).into_iter().chain(own).collect(),
        }
    }

    /// An object's phases in hundredths of a row, and below them the part that the load waits for.
    fn draw_object(&self, object: &ObjectSpan) -> Group {
        let group = Group::new().set("class", "bar");
        let group =
            phases(object).into_iter().map(|phase| self.phase(phase)).fold(group, Group::add);
        let critical = object.critical.map(|CriticalSpan { from, to }| {
            self.part(from, Some(to), CRITICAL).set("class", "critical ink")
        });
        critical.into_iter().fold(group, Group::add)
    }

    fn phase(&self, Phase { kind, from, to }: Phase) -> Path {
        let class = kind.colour().class();
        let class = if to.is_some() { class.to_owned() } else { format!("{class} never") };
        self.part(from, to, kind.row_extent()).set("class", class)
    }

    /// A bar between two instants; without an end it runs to the border.
    fn part(&self, from: Instant, to: Option<Instant>, extent: Extent) -> Path {
        let Extent { top, bottom } = extent;
        let on_grid = |at: Instant| (self.x.fraction(at.as_secs_f64()) * GRID).round() as i64;
        let left = on_grid(from);
        let width = to.map_or(GRID as i64, on_grid) - left;
        Path::new().set("d", format!("M{left} {top}h{width}v{}h{}z", bottom - top, -width))
    }

    /// All that is known of an object, in lines.
    fn describe(&self, object: &ObjectSpan) -> String {
        let label = |text: &str| self.page.label(text);
        let size = format!("{} B with header", format::group_digits(object.bytes));
        let mut lines = vec![
            label(&object.label),
            format!("{} · {} · {size}", label(&object.kind), label(&object.host)),
        ];
        if !object.connection.is_empty() {
            lines.push(format!("on {}", label(&object.connection)));
        }
        lines.extend(self.revealed_by(object));
        lines.push(format!("discovered at {}", format_instant(object.discovered)));
        lines.extend(phases(object).into_iter().map(|phase| phase_text(phase, object)));
        lines.extend(object.done.map(|at| format!("done at {}", format_instant(at))));
        lines.extend(object.critical.map(|CriticalSpan { from, to }| {
            format!("the load waits for it from {} to {}", format_instant(from), format_instant(to))
        }));
        text::clean_lines(&lines.join("\n"))
    }

    fn revealed_by(&self, object: &ObjectSpan) -> Option<String> {
        let parent = self.objects.get(&object.revealed_by?)?;
        let name = self.page.label(path_of(parent));
        let host = match parent.host == object.host {
            true => String::new(),
            false => format!(" of {}", self.page.label(&parent.host)),
        };
        let at = object.revealed.map_or(String::new(), |at| format!(" at {}", format_instant(at)));
        Some(format!("revealed by {name}{host}{at}"))
    }
}

/// A phase and its time; the server's time is a part of the wait for the first byte.
fn phase_text(Phase { kind, from, to }: Phase, object: &ObjectSpan) -> String {
    let time = to.map_or("never ends".to_owned(), |to| format_instant(since(from, to)));
    let server = format_instant(Instant::ZERO + object.server_wait);
    match kind {
        PhaseKind::Wait => format!("{}: {time} (server time {server})", kind.name()),
        _ => format!("{}: {time}", kind.name()),
    }
}

/// The limit's two instants.
pub(super) fn limit_lines(limit: &LimitView) -> [UprightLine; 2] {
    [("limit of the document", limit.document), ("limit of the load", limit.page)].map(
        |(name, at)| UprightLine { lane: "", name: name.to_owned(), at, colour: Colour::Muted },
    )
}

/// Name of the panel of a scheme by its index, and of its axis of time.
pub(super) fn panel_id(scheme: usize) -> String {
    format!("s{scheme}")
}

/// Name of an object's bar in the panel of the scheme with this index.
pub(super) fn bar_id(scheme: usize, object: &ObjectSpan) -> String {
    format!("s{scheme}o{}", object.index)
}

/// The address of an object without its host, or the label if it is no such address.
fn path_of(object: &ObjectSpan) -> &str {
    let Some((host, path)) = split_address(&object.label) else { return &object.label };
    match host.strip_prefix(&*object.host) {
        Some("") if path.is_empty() => "/",
        Some("") => path,
        // A port stays with the path.
        Some(port) if port.starts_with(':') => {
            &object.label[object.label.len() - port.len() - path.len()..]
        }
        _ => &object.label,
    }
}

/// The path of an object with the beginning of its query. A long query would push the name of the
/// file out of its column.
fn name_of(object: &ObjectSpan) -> String {
    let path = path_of(object);
    match path.split_once('?') {
        Some((file, query)) if query.chars().count() > QUERY_COLUMNS => {
            let begin: String = query.chars().take(QUERY_COLUMNS - 1).collect();
            format!("{file}?{begin}…")
        }
        _ => path.to_owned(),
    }
}

/// The phases, and the critical path if one of the objects is on it.
pub(super) fn phase_entries(objects: &[&ObjectSpan]) -> Vec<LegendEntry> {
    let looks_up =
        objects.iter().any(|o| o.opening.is_some_and(|opening| opening.lookup.is_some()));
    let phases = PhaseKind::ALL.into_iter().filter(|kind| looks_up || *kind != PhaseKind::Lookup);
    let phases = phases.map(|kind| LegendEntry::new("bar", kind.colour(), kind.name()));
    let critical = objects.iter().any(|object| object.critical.is_some());
    let critical = critical.then(|| {
        LegendEntry::new("below", Colour::Ink, "critical path: the load waits for this object")
    });
    phases.chain(critical).collect()
}

/// The time between two instants, as an instant.
fn since(from: Instant, to: Instant) -> Instant {
    Instant::ZERO + to.saturating_since(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(label: &str, host: &str) -> String {
        let (label, host) = (label.to_owned(), host.to_owned());
        name_of(&ObjectSpan { label, host, ..ObjectSpan::default() })
    }

    /// The host has a column of its own. A port is kept; a longer host with the same
    /// beginning is another one. A query keeps eight columns, the ellipsis included.
    #[test]
    fn a_name_is_the_address_without_its_host() {
        assert_eq!(shown("https://a.example/b/c.png?d=1", "a.example"), "/b/c.png?d=1");
        assert_eq!(shown("https://a.example", "a.example"), "/");
        assert_eq!(shown("https://a.example:8443/b", "a.example"), ":8443/b");
        assert_eq!(shown("https://a.example.org/b", "a.example"), "https://a.example.org/b");
        assert_eq!(shown("30kB", "host"), "30kB");
        assert_eq!(shown("https://a.example/t?12345678", "a.example"), "/t?12345678");
        assert_eq!(shown("https://a.example/t?123456789", "a.example"), "/t?1234567…");
    }
}
