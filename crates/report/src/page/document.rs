//! A [`Document`] as one HTML file, in the frame of the report page.

use super::legend::{Entry, legend};
use super::policy::Styles;
use super::{HINT, MAX_HTML_BYTES, frame};
use crate::document::{Block, Document, Section};
use crate::figure::{Figure, Series, Shape};
use crate::thin::{self, Extent};
use maud::{Markup, html};

/// How much of a document is shown; halved until it fits the page's limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Rows of a table or heat map.
    pub(super) rows: usize,
    /// Columns of a heat map.
    pub(super) columns: usize,
    /// Points of a series.
    points: usize,
    /// Blocks of a section; sections.
    blocks: usize,
    /// Characters of a label.
    pub(super) label: usize,
}

impl Bounds {
    pub(super) const FIRST: Self =
        Self { rows: 1024, columns: 512, points: 3000, blocks: 256, label: 120 };

    fn halved(self) -> Self {
        Self {
            rows: (self.rows / 2).max(8),
            columns: (self.columns / 2).max(8),
            points: (self.points / 2).max(8),
            blocks: (self.blocks / 2).max(4),
            label: (self.label / 2).max(16),
        }
    }
}

impl Document {
    /// The document as one HTML file of at most [`MAX_HTML_BYTES`], without any reference outside
    /// itself. The same document gives the same bytes.
    pub fn to_html(&self) -> String {
        let mut bounds = Bounds::FIRST;
        loop {
            let page = self.page(bounds).into_string();
            if page.len() <= MAX_HTML_BYTES || bounds == bounds.halved() {
                return page;
            }
            bounds = bounds.halved();
        }
    }

    fn page(&self, bounds: Bounds) -> Markup {
        let has_figures =
            self.sections.iter().flat_map(|s| &s.blocks).any(|b| matches!(b, Block::Figure(_)));
        let sections = self.sections.iter().take(bounds.blocks).enumerate();
        let body = html! {
            main {
                @if has_figures { p.hint { (HINT) } }
                @for (at, section) in sections { (section.markup(at, bounds)) }
            }
        };
        frame(Styles::Document, (&self.title, &self.facts), (bounds.label, 64), &body)
    }
}

impl Section {
    pub(super) fn markup(&self, at: usize, bounds: Bounds) -> Markup {
        let id = format!("part{at}");
        html! {
            section aria-labelledby=(id) {
                h2 id=(id) { bdi { (crate::text::label(&self.heading, bounds.label)) } }
                @for block in self.blocks.iter().take(bounds.blocks) { (block.markup(bounds)) }
            }
        }
    }
}

impl Block {
    fn markup(&self, bounds: Bounds) -> Markup {
        match self {
            Self::Text(text) => html! { p.note { (crate::text::label(text, 20 * bounds.label)) } },
            Self::Table(table) => table.to_markup(bounds.rows, bounds.label),
            Self::Figure(figure) => captioned(figure, bounds),
            Self::Heat(heat) => heat.to_markup(bounds),
            Self::Ranges(ranges) => ranges.to_markup(bounds),
            Self::Badge(badge) => html! {
                p { span class={ "badge " (badge.colour.class()) } {
                    (crate::text::label(&badge.text, bounds.label))
                } }
            },
        }
    }
}

fn captioned(figure: &Figure, bounds: Bounds) -> Markup {
    let series = figure.series.iter().map(|series| thinned(series, bounds.points));
    let figure = Figure { series: series.collect(), ..figure.clone() };
    let named = figure.series.iter().filter(|series| !series.name.is_empty());
    let entries: Vec<Entry> = named.map(entry).collect();
    html! {
        figure {
            h5 { (crate::text::label(&figure.title, 2 * bounds.label)) }
            (figure.to_canvas(None).into_markup())
            @if !entries.is_empty() { figcaption { (legend(&entries, bounds.label)) } }
        }
    }
}

fn thinned(series: &Series, points: usize) -> Series {
    let extent = |p: &crate::Point| Extent::of(p.x, p.y);
    let extents: Vec<_> = series.points.iter().map(extent).collect();
    let kept = match series.shape {
        Shape::Dots | Shape::Squares | Shape::Spans => thin::evenly(series.points.len(), points),
        _ => thin::envelope(&extents, points),
    };
    let points = kept.into_iter().map(|at| series.points[at]).collect();
    Series { points, ..series.clone() }
}

fn entry(series: &Series) -> Entry {
    let form = match series.shape {
        Shape::Line | Shape::Step => "line",
        Shape::Dashed | Shape::DashedStep => "dashed",
        Shape::Area | Shape::Band => "area",
        Shape::Dots => "dots",
        Shape::Squares => "squares",
        Shape::Spans => "spans",
    };
    Entry::new(form, series.colour, series.name.as_str())
}
