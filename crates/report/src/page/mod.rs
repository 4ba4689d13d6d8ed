//! The report page: one HTML file that needs nothing but itself.
//!
//! From top to bottom: what was run, the table, the schemes' progress side by side, then a panel per
//! scheme (waterfall, connections, queues). Every string from outside passes through `text` and the
//! escaping of the markup builders; a content security policy that names the page's own script and
//! style by their hashes forbids everything else, the network first of all.

mod budget;
mod connection;
mod document;
mod heat;
mod legend;
mod policy;
mod progress;
mod queue;
mod ranges;
mod scheme;
mod times;
mod waterfall;
mod window;

use crate::figure::Symbol;
use crate::{RaceReport, text};
use budget::Detail;
use document::Bounds;
use legend::Names;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use policy::Styles;
use times::TimeRange;

/// No report page is larger, whatever its input.
pub const MAX_HTML_BYTES: usize = 5_000_000;

const HINT: &str = "Point at a mark for its values. The wheel zooms, dragging pans, a double click \
    or the key 0 resets; with a figure focused, + and − zoom and the arrows pan. The time axes of \
    a scheme move together.";

/// What the parts of a page share.
struct Context<'a> {
    report: &'a RaceReport,
    detail: Detail,
    /// Common to the progress figure and all waterfalls.
    time: TimeRange,
    /// Kinds of objects, by first appearance.
    kinds: Names<'a>,
    /// Causes of window changes, by first appearance.
    causes: Names<'a>,
}

impl RaceReport {
    /// The race as one HTML file of at most [`MAX_HTML_BYTES`], without any reference outside
    /// itself. The same report gives the same bytes.
    pub fn to_html(&self) -> String {
        let mut detail = Detail::for_report(self);
        loop {
            let page = Context::new(self, detail).page().into_string();
            if page.len() <= MAX_HTML_BYTES || detail == detail.halved() {
                return page;
            }
            detail = detail.halved();
        }
    }
}

impl<'a> Context<'a> {
    fn new(report: &'a RaceReport, detail: Detail) -> Self {
        let kinds = report.schemes.iter().flat_map(|s| &s.objects).map(|o| o.kind.as_str());
        let connections = report.schemes.iter().flat_map(|s| &s.connections);
        let causes = connections.flat_map(|c| &c.window).map(|w| w.cause.as_ref());
        Self {
            report,
            detail,
            time: TimeRange::of_report(report),
            kinds: Names::collect(kinds),
            causes: Names::collect(causes),
        }
    }

    /// An outside string for the page.
    fn label(&self, label: &str) -> String {
        text::label(label, self.detail.label)
    }

    fn page(&self) -> Markup {
        let body = html! {
            main {
                section aria-labelledby="results" {
                    h2 #results { "Results" }
                    (self.report.table.to_markup(self.detail.table_rows, self.detail.label))
                }
                @for (at, section) in self.report.sections.iter().enumerate() {
                    (section.markup(at, Bounds::FIRST))
                }
                (self.progress())
                (self.panels())
            }
        };
        let head = (self.report.title.as_str(), self.report.subtitle.as_slice());
        let styles = if self.report.sections.is_empty() { Styles::Race } else { Styles::Document };
        frame(styles, head, (self.detail.label, self.detail.lines), &body)
    }

    fn panels(&self) -> Markup {
        let schemes = &self.report.schemes[..self.report.schemes.len().min(self.detail.schemes)];
        let left_out = self.report.schemes.len() - schemes.len();
        html! {
            @if !schemes.is_empty() {
                section aria-labelledby="schemes" {
                    h2 #schemes { "Scheme by scheme" }
                    p.hint { (HINT) }
                    nav.tabs aria-label="Schemes" {
                        @for (at, scheme) in schemes.iter().enumerate() {
                            a href={ "#s" (at) } { bdi { (self.label(&scheme.name)) } }
                        }
                    }
                    @for at in 0..schemes.len() { (self.panel(at)) }
                }
            }
            @if left_out > 0 {
                p.note { (left_out) " more schemes have no panel: the page is limited in size." }
            }
        }
    }
}

/// The whole page around its `main` part: title and facts, of at most so many characters a label and
/// so many facts.
fn frame(
    styles: Styles,
    (title, facts): (&str, &[String]),
    (label, lines): (usize, usize),
    body: &Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(styles, &text::label(title, label)))
            body {
                (definitions())
                (header(&text::label(title, label), facts, (label, lines)))
                (body)
                div #tip hidden {}
                script { (PreEscaped(policy::SCRIPT)) }
            }
        }
    }
}

fn head(styles: Styles, title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(styles.policy());
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            title { (title) }
            @for sheet in styles.sheets() { style { (PreEscaped(sheet)) } }
        }
    }
}

fn header(title: &str, facts: &[String], (label, lines): (usize, usize)) -> Markup {
    html! {
        header {
            h1 { bdi { (title) } }
            @if !facts.is_empty() {
                ul.facts {
                    @for line in facts.iter().take(lines) {
                        li { bdi { (text::label(line, 4 * label)) } }
                    }
                }
            }
        }
    }
}

/// The forms of the marks, referred to by every figure.
fn definitions() -> Markup {
    html! {
        svg.defs aria-hidden="true" width="0" height="0" {
            @for form in Symbol::ALL { path id=(form.id) d=(form.d) {} }
        }
    }
}
