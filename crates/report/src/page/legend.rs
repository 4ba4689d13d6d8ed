//! Colours for names that are not known beforehand, and the legends that explain them.

use crate::figure::{Colour, SeriesShape};
use crate::text;
use maud::{Markup, html};

/// Distinct names in the order of their first appearance; each keeps its colour on the whole page.
pub(crate) struct Names<'a> {
    names: Vec<&'a str>,
}

/// Number of causes with a colour of their own; later ones are subdued, all alike: a longer legend
/// does not help.
pub(crate) const MAX_CAUSES: usize = 2 * Colour::COUNT;

impl<'a> Names<'a> {
    /// The first distinct names, up to `most`.
    pub(crate) fn collect(names: impl Iterator<Item = &'a str>, most: usize) -> Self {
        let mut distinct: Vec<&str> = Vec::new();
        for name in names {
            if distinct.len() == most {
                break;
            }
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        Self { names: distinct }
    }

    /// A scheme's hue; `None` if it is none of these.
    pub(crate) fn scheme_hue(&self, name: &str) -> Option<Colour> {
        self.index_of(name).map(Colour::Hue)
    }

    /// A cause's colour; subdued for names above the limit.
    pub(crate) fn colour(&self, name: &str) -> Colour {
        self.index_of(name).map_or(Colour::Muted, Colour::Cause)
    }

    /// Round dots for the first round of hues, square ones for the second.
    pub(crate) fn dot_shape(&self, name: &str) -> SeriesShape {
        match self.index_of(name) {
            Some(place) if place >= Colour::COUNT => SeriesShape::Squares,
            _ => SeriesShape::Dots,
        }
    }

    /// The names to draw apart, in order, and last `None` for all others.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Option<&'a str>> {
        self.iter().map(Some).chain([None])
    }

    /// Whether [`Self::groups`] has a name in `group`.
    pub(crate) fn is_in_group(&self, name: &str, group: Option<&str>) -> bool {
        group.map_or_else(|| self.index_of(name).is_none(), |group| group == name)
    }

    /// The names in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().copied()
    }

    /// Index of a name in the order.
    pub(crate) fn index_of(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| *n == name)
    }
}

/// One entry of a legend: the class of its swatch's form, its colour and its text.
pub(crate) struct LegendEntry {
    pub(crate) form: &'static str,
    pub(crate) colour: Colour,
    pub(crate) text: String,
}

impl LegendEntry {
    pub(crate) fn new(form: &'static str, colour: Colour, text: impl Into<String>) -> Self {
        Self { form, colour, text: text.into() }
    }
}

/// A line of entries.
pub(crate) fn legend_markup(entries: &[LegendEntry], max_chars: usize) -> Markup {
    html! {
        ul.legend {
            @for entry in entries {
                li {
                    svg class={ "swatch " (entry.colour.class()) } aria-hidden="true"
                        viewBox="0 0 18 10" width="18" height="10" { (form_swatch(entry.form)) }
                    bdi { (text::label(&entry.text, max_chars)) }
                }
            }
        }
    }
}

fn form_swatch(form: &str) -> Markup {
    html! {
        @match form {
            "dots" => { path.dots d="M9 5h0" {} }
            "squares" => { path.squares d="M9 5h0" {} }
            "dots large" => { path.dots.large d="M9 5h0" {} }
            "squares large" => { path.squares.large d="M9 5h0" {} }
            "spans" => { path.spans d="M3 9v-4M7 8v-4M11 6v-4M15 5v-4" {} }
            "shade" => { path.shade d="M0 0h18v10h-18z" {} }
            "area" => { path.step.area d="M1 9v-4h8v-3h8v7" {} }
            "dashed" => { path.line.dashed d="M0 5h18" {} }
            "below" => { path.fill d="M1 5h16v4h-16z" {} }
            "bar" => { path.fill d="M1 1h16v8h-16z" {} }
            "ring" => { path.dots d="M9 5h0" {} path.hole d="M9 5h0" {} }
            "line" => { path.line d="M0 5h18" {} }
            symbol => { use href={ "#" (symbol) } x="9" y="5" {} }
        }
    }
}
