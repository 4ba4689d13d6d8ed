//! A figure as a file of its own, for papers and documents: fixed size, own colours, a legend.

use super::canvas::viewport;
use super::{Figure, SeriesShape, Symbol, SymbolForm};
use svg::Document;
use svg::node::element::{Definitions, Path, SVG, Style, Text};
use unicode_width::UnicodeWidthStr;

/// Margins in pixels.
struct Margins {
    left: u32,
    right: u32,
    top: u32,
    bottom: u32,
}

const MARGINS: Margins = Margins { left: 58, right: 14, top: 24, bottom: 38 };
/// Height of the legend's line.
const LEGEND: u32 = 20;
/// Mean advance of the legend's letters, and what a swatch and a gap take beside them.
const LETTER: f64 = 6.2;
const SWATCH: f64 = 24.0;
const GAP: f64 = 16.0;

const STYLE: &str = include_str!("standalone.css");

impl Figure {
    /// The figure as an SVG file `width` pixels wide, legend included; white paper is assumed.
    pub fn to_svg(&self, width: u32) -> String {
        let legend_height = if self.has_legend() { LEGEND } else { 0 };
        let height = self.height + legend_height;
        let document = Document::new()
            .set("width", width)
            .set("height", height)
            .set("viewBox", (0, 0, width, height))
            .set("role", "img")
            .add(svg::node::element::Title::new(crate::text::clean_text(&self.title)))
            .add(Style::new(format!("{STYLE}{}", crate::palette::light_classes())))
            .add(definitions());
        let document = self.legend_svgs().into_iter().fold(document, SVG::add);
        let plot = viewport("plot").set("y", legend_height);
        let layers = self.to_canvas(None, None).into_layers().into_iter();
        let plot = layers.map(|layer| self.place_layer(layer, width)).fold(plot, SVG::add);
        document.add(plot).to_string()
    }

    fn place_layer(&self, layer: SVG, width: u32) -> SVG {
        let Margins { left, right, top, bottom } = MARGINS;
        layer
            .set("x", left)
            .set("y", top)
            .set("width", width.saturating_sub(left + right))
            .set("height", self.height.saturating_sub(top + bottom))
    }

    fn has_legend(&self) -> bool {
        self.series.iter().any(|s| !s.name.is_empty())
    }

    /// A swatch and a name for each series, side by side.
    fn legend_svgs(&self) -> Vec<SVG> {
        let mut left = f64::from(MARGINS.left);
        let named = self.series.iter().filter(|s| !s.name.is_empty());
        let entries = named.map(|series| {
            let name = crate::text::clean_text(&series.name);
            let entry = viewport(&format!("entry {}", series.colour.class())).set("x", left);
            left += SWATCH + LETTER * name.width() as f64 + GAP;
            let swatch = Path::new().set("class", super::draw::class_of(series.shape));
            let text = Text::new(name).set("x", SWATCH).set("y", 14);
            entry.add(swatch.set("d", swatch_path(series.shape))).add(text)
        });
        entries.collect()
    }
}

fn swatch_path(shape: SeriesShape) -> &'static str {
    match shape {
        SeriesShape::Dots
        | SeriesShape::Squares
        | SeriesShape::LargeDots
        | SeriesShape::LargeSquares => "M9 10h0",
        SeriesShape::Spans => "M9 5v10",
        _ => "M0 10h18",
    }
}

fn definitions() -> Definitions {
    Symbol::ALL.into_iter().fold(Definitions::new(), |definitions, drawn| {
        let SymbolForm { id, d, .. } = drawn;
        definitions.add(Path::new().set("id", id).set("d", d))
    })
}
