//! The report page: one HTML file that needs nothing but itself.
//!
//! The page answers a reader's questions from top to bottom. The result in words, the critical path
//! and its load come first. The tables of results, two loads beside each other and the progress of
//! all schemes follow. Each scheme has a panel with its waterfall, connections and queues.
//!
//! Every string from outside passes through `text` and the escaping of the markup builders. A
//! content security policy names the page's own script and style by their hashes. It forbids
//! everything else, the network first of all.

mod bars;
mod budget;
mod chart;
mod compare;
mod connection;
mod document;
mod heat;
mod legend;
mod link;
mod phases;
mod policy;
mod progress;
mod queue;
mod ranges;
mod scheme;
mod table;
mod times;
mod waterfall;
mod window;

use crate::figure::Colour;
use crate::figure::Symbol;
use crate::{RaceReport, SchemeView, text};
use budget::Detail;
use document::Bounds;
use document::Shared;
use legend::{MAX_CAUSES, Names};
use link::Linker;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use policy::Styles;
use times::TimeRange;

/// No report page is larger, whatever its input.
pub const MAX_HTML_BYTES: usize = 5_000_000;

const HINT: &str = "Point at a mark for its values. The wheel zooms, dragging pans, a double click \
    or the key 0 resets; with a figure focused, + and − zoom and the arrows pan.";

/// Values that the parts of a page share.
struct Context<'a> {
    report: &'a RaceReport,
    detail: Detail,
    /// Common to the progress figure and all waterfalls.
    time: TimeRange,
    /// Schemes, by first appearance.
    schemes: Names<'a>,
    /// Causes of window changes, by first appearance.
    causes: Names<'a>,
}

impl RaceReport {
    /// The race as one HTML file of at most [`MAX_HTML_BYTES`], without any reference outside
    /// itself. The same report gives the same bytes.
    pub fn to_html(&self) -> String {
        let mut detail = Detail::for_report(self);
        loop {
            let page = Context::new(self, detail).page_markup().into_string();
            if page.len() <= MAX_HTML_BYTES || detail == detail.halved_limits() {
                return page;
            }
            detail = detail.halved_limits();
        }
    }
}

impl<'a> Context<'a> {
    fn new(report: &'a RaceReport, detail: Detail) -> Self {
        let schemes = report.schemes.iter().map(|s| s.name.as_str());
        let connections = report.schemes.iter().flat_map(|s| &s.connections);
        let causes = connections.flat_map(|c| &c.window).map(|w| w.cause.as_ref());
        Self {
            report,
            detail,
            time: TimeRange::of_report(report),
            schemes: Names::collect(schemes, usize::MAX),
            causes: Names::collect(causes, MAX_CAUSES),
        }
    }

    /// A scheme's colour, the same in all figures.
    fn scheme_colour(&self, name: &str) -> Colour {
        self.schemes.scheme_hue(name).unwrap_or_default()
    }

    /// An outside string for the page.
    fn label(&self, label: &str) -> String {
        text::label(label, self.detail.label)
    }

    fn page_markup(&self) -> Markup {
        let RaceReport { title, words, glossary, assumptions, lead, sections, links, .. } =
            self.report;
        let linker = Linker::of(links, lead.iter().chain(sections));
        let bounds = Bounds::FIRST.showing(self.detail.table_rows, self.detail.label);
        let shared = Shared { bounds, schemes: &self.schemes, linker: &linker };
        let body = html! {
            main {
                @for (at, section) in lead.iter().enumerate() { (section.markup(at, &shared)) }
                (self.leading_load())
                section aria-labelledby="results" {
                    h2 #results { "Results" }
                    (self.report.table.to_markup(&shared, "Results"))
                }
                @for (at, section) in sections.iter().enumerate() {
                    (section.markup(lead.len() + at, &shared))
                }
                (self.comparison())
                (self.progress())
                (self.panels())
            }
        };
        let styles = if sections.is_empty() { Styles::Race } else { Styles::Document };
        let lines = self.detail.lines;
        let about = html! {
            (folded_lines("Words", glossary, lines, &shared))
            (folded_lines("Assumptions", assumptions, lines, &shared))
        };
        frame(styles, &Head { title, words, about: &about, lines }, &shared, &body)
    }

    fn panels(&self) -> Markup {
        let schemes = &self.report.schemes[..self.report.schemes.len().min(self.detail.schemes)];
        let left_out = self.report.schemes.len() - schemes.len();
        html! {
            @if !schemes.is_empty() {
                section aria-labelledby="schemes" {
                    h2 #schemes { "Scheme by scheme" }
                    p.hint { "The time axes of a scheme move together." }
                    div.more.tabbar { nav.tabs aria-label="Schemes" {
                        @for (at, scheme) in schemes.iter().enumerate() { (self.tab_markup(at, scheme)) }
                    } }
                    @for at in 0..schemes.len() { (self.panel_markup(at)) }
                }
            }
            @if left_out > 0 {
                p.note {
                    (units::counted(left_out, "more scheme")) " left out: the page is limited in size."
                }
            }
        }
    }

    /// Leads to the panel; the script reads from it what it needs to compare the scheme with
    /// another.
    fn tab_markup(&self, at: usize, scheme: &SchemeView) -> Markup {
        let colour = self.scheme_colour(&scheme.name);
        let end = self.load_end(at);
        let (share, text) = (end.as_ref().map(|end| &end.share), end.as_ref().map(|end| &end.text));
        html! {
            a href={ "#s" (at) } data-c=(colour.class()) data-end=[share] data-time=[text] {
                (swatch_markup(colour)) bdi { (self.label(&scheme.unique_title())) }
            }
        }
    }
}

/// A square of a scheme's colour beside its name; hollow where hues repeat.
pub(crate) fn swatch_markup(colour: Colour) -> Markup {
    let form = match colour {
        Colour::Hue(n) if n >= Colour::COUNT => "M0 0h9v9h-9zM2 2v5h5v-5z",
        _ => "M0 0h9v9h-9z",
    };
    html! {
        svg class={ "key " (colour.class()) } aria-hidden="true" width="9" height="9" {
            path d=(form) {}
        }
    }
}

/// Texts at the head of a page.
struct Head<'a> {
    title: &'a str,
    /// The result, in sentences.
    words: &'a [String],
    about: &'a Markup,
    /// Most sentences shown.
    lines: usize,
}

/// Lines under a heading that opens them; nothing if there are none.
fn folded_lines(heading: &str, lines: &[String], most: usize, shared: &Shared<'_>) -> Markup {
    html! {
        @if !lines.is_empty() {
            details.about-it { summary { (heading) } (facts_markup(lines, most, shared)) }
        }
    }
}

/// Facts, one a line.
fn facts_markup(lines: &[String], most: usize, shared: &Shared<'_>) -> Markup {
    html! {
        @if !lines.is_empty() {
            ul.facts { @for line in lines.iter().take(most) { li { (shared.text(line)) } } }
        }
    }
}

/// The whole page around its `main` part.
fn frame(styles: Styles, top: &Head<'_>, shared: &Shared<'_>, body: &Markup) -> Markup {
    let title = text::label(top.title, shared.bounds.label);
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(styles, &title))
            body {
                (definitions())
                header {
                    h1 { bdi { (title) } }
                    @for sentence in top.words.iter().take(top.lines) { p.words { (shared.text(sentence)) } }
                    (top.about)
                }
                (body)
                div #tip hidden {}
                @for script in policy::SCRIPTS { script { (PreEscaped(script)) } }
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

/// The forms of the marks, referred to by every figure.
fn definitions() -> Markup {
    html! {
        svg.defs aria-hidden="true" width="0" height="0" {
            @for form in Symbol::ALL { path id=(form.id) d=(form.d) {} }
        }
    }
}
