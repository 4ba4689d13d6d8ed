//! A [`Document`] as one HTML file, in the frame of the report page.

use super::legend::{LegendEntry, Names, legend_markup};
use super::link::Linker;
use super::policy::Styles;
use super::{HINT, Head, MAX_HTML_BYTES, facts_markup, frame};
use crate::document::{Block, Document, Section};
use crate::figure::{Figure, Series, SeriesShape};
use crate::thin::{self, Extent};
use maud::{Markup, html};

/// Bounds of the shown part of a document; halved until it fits the page's limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Rows of a table or heat map.
    pub(crate) rows: usize,
    /// Columns of a heat map.
    pub(super) columns: usize,
    /// Points of a series.
    points: usize,
    /// Blocks of a section; sections.
    blocks: usize,
    /// Characters of a label.
    pub(crate) label: usize,
}

impl Bounds {
    pub(super) const FIRST: Self =
        Self { rows: 1024, columns: 512, points: 3000, blocks: 256, label: 120 };

    /// The bounds with other numbers of rows and of characters of a label.
    pub(super) const fn showing(self, rows: usize, label: usize) -> Self {
        Self { rows, label, ..self }
    }

    fn halve(self) -> Self {
        Self {
            rows: (self.rows / 2).max(8),
            columns: (self.columns / 2).max(8),
            points: (self.points / 2).max(8),
            blocks: (self.blocks / 2).max(4),
            label: (self.label / 2).max(16),
        }
    }
}

/// Values that the parts of a page share.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) bounds: Bounds,
    /// The schemes that have a colour on the page.
    pub(crate) schemes: &'a Names<'a>,
    pub(crate) linker: &'a Linker<'a>,
}

/// Largest length of a text, as a multiple of a label's: it is to be read whole.
const TEXT: usize = 40;

impl Shared<'_> {
    /// A text from outside, with its links.
    pub(crate) fn text(&self, text: &str) -> Markup {
        let text = crate::text::label(text, TEXT * self.bounds.label);
        html! { bdi { (self.linker.markup(&text)) } }
    }

    /// A name from outside.
    pub(crate) fn label(&self, label: &str) -> String {
        crate::text::label(label, self.bounds.label)
    }
}

impl Document {
    /// The document as one HTML file of at most [`MAX_HTML_BYTES`], without any reference outside
    /// itself. The same document gives the same bytes.
    pub fn to_html(&self) -> String {
        let mut bounds = Bounds::FIRST;
        loop {
            let page = self.page_markup(bounds).into_string();
            if page.len() <= MAX_HTML_BYTES || bounds == bounds.halve() {
                return page;
            }
            bounds = bounds.halve();
        }
    }

    fn page_markup(&self, bounds: Bounds) -> Markup {
        let has_figures =
            self.sections.iter().flat_map(|s| &s.blocks).any(|b| matches!(b, Block::Figure(_)));
        let linker = Linker::of(&self.links, self.sections.iter());
        let schemes = Names::collect(self.schemes.iter().map(String::as_str), usize::MAX);
        let shared = Shared { bounds, schemes: &schemes, linker: &linker };
        let sections = self.sections.iter().take(bounds.blocks).enumerate();
        let body = html! {
            main {
                @if has_figures { p.hint { (HINT) } }
                @for (at, section) in sections { (section.markup(at, &shared)) }
            }
        };
        let about = facts_markup(&self.facts, MAX_FACTS, &shared);
        let head = Head { title: &self.title, words: &[], about: &about, lines: 0 };
        frame(Styles::Document, &head, &shared, &body)
    }
}

/// Facts under the title of a document.
const MAX_FACTS: usize = 64;

impl Section {
    pub(super) fn markup(&self, at: usize, shared: &Shared<'_>) -> Markup {
        let id = format!("part{at}");
        html! {
            section aria-labelledby=(id) {
                h2 id=(id) { bdi { (shared.label(&self.heading)) } }
                @for block in self.blocks.iter().take(shared.bounds.blocks) {
                    (block.markup(shared, &self.heading))
                }
            }
        }
    }
}

impl Block {
    /// The block, in the section of this heading.
    fn markup(&self, shared: &Shared<'_>, heading: &str) -> Markup {
        let bounds = shared.bounds;
        match self {
            Self::Text(text) => html! { p.note { (shared.text(text)) } },
            Self::List(notes) => facts_markup(notes, bounds.rows, shared),
            Self::Table(table) => table.to_markup(shared, heading),
            Self::Figure(figure) => captioned(figure, bounds),
            Self::Heat(heat) => heat.to_markup(bounds),
            Self::Ranges(ranges) => ranges.to_markup(shared),
            Self::Bars(bars) => bars.to_markup(bounds),
            Self::Badge(badge) => html! {
                p { span class={ "badge " (badge.colour.class()) } { (shared.label(&badge.text)) } }
            },
        }
    }
}

fn captioned(figure: &Figure, bounds: Bounds) -> Markup {
    let series = figure.series.iter().map(|series| thin_series(series, bounds.points));
    let figure = Figure { series: series.collect(), ..figure.clone() };
    let named = figure.series.iter().filter(|series| !series.name.is_empty());
    let entries: Vec<LegendEntry> = named.map(legend_entry).collect();
    html! {
        figure {
            h5 { (crate::text::label(&figure.title, 2 * bounds.label)) }
            (figure.to_canvas(None, None).into_markup())
            @if !entries.is_empty() { figcaption { (legend_markup(&entries, bounds.label)) } }
        }
    }
}

fn thin_series(series: &Series, points: usize) -> Series {
    let extent = |p: &crate::Point| Extent::of(p.x, p.y);
    let extents: Vec<_> = series.points.iter().map(extent).collect();
    let kept = match series.shape {
        SeriesShape::Dots
        | SeriesShape::Squares
        | SeriesShape::LargeDots
        | SeriesShape::LargeSquares
        | SeriesShape::Spans => thin::evenly(series.points.len(), points),
        _ => thin::thin_to_envelope(&extents, points),
    };
    let points = kept.into_iter().map(|at| series.points[at]).collect();
    Series { points, ..series.clone() }
}

fn legend_entry(series: &Series) -> LegendEntry {
    let form = match series.shape {
        SeriesShape::Line | SeriesShape::Step => "line",
        SeriesShape::Dashed | SeriesShape::DashedStep => "dashed",
        SeriesShape::Area | SeriesShape::Band => "area",
        SeriesShape::Dots => "dots",
        SeriesShape::Squares => "squares",
        SeriesShape::LargeDots => "dots large",
        SeriesShape::LargeSquares => "squares large",
        SeriesShape::Spans => "spans",
    };
    LegendEntry::new(form, series.colour, series.name.as_str())
}
