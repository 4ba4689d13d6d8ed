//! Pages of tables and figures in any order: what is not a race hands these over to be shown.
//!
//! Plain public structs, no behaviour; `page/document.rs` turns them into HTML. As everywhere here,
//! strings may come from outside and are cleaned and escaped on output.

use crate::{Colour, Figure, Links, Quantity, Ranges, ShareBars, Table};

/// A page: a title, facts under it, sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Headline.
    pub title: String,
    /// Facts about the run, one a line.
    pub facts: Vec<String>,
    /// Sections, in order.
    pub sections: Vec<Section>,
    /// Schemes that keep a colour on the whole page, in the order of [`Colour::Hue`].
    pub schemes: Vec<String>,
    /// Words of its texts that are links.
    pub links: Links,
}

/// A headed part of a [`Document`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a [`Section`].
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Notes, one a line.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// A figure with its legend; its title is the caption.
    Figure(Figure),
    /// A heat map.
    Heat(HeatMap),
    /// Values with extremes, in rows.
    Ranges(Ranges),
    /// Bars of shares.
    Bars(ShareBars),
    /// A word in a frame: a conclusion.
    Badge(Badge),
}

/// A word in a frame of a colour; the word says it all without the colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Badge {
    /// The word.
    pub text: String,
    /// Colour of word and frame.
    pub colour: Colour,
}

/// Numbers in rows and columns, coloured by how far they are from a middle.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Caption: what the map shows, in one sentence.
    pub title: String,
    /// Head of the rows' own column: what they are.
    pub row_head: String,
    /// Groups of columns, in order.
    pub groups: Vec<HeatGroup>,
    /// Rows, in order.
    pub rows: Vec<HeatRow>,
    /// Quantity of the numbers.
    pub quantity: Quantity,
    /// Mapping from numbers to colours.
    pub scale: HeatScale,
    /// Write no numbers, only colours: for many columns. Values show on hover.
    pub is_dense: bool,
}

/// Columns of a [`HeatMap`] under one head.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatGroup {
    /// The head.
    pub title: String,
    /// Heads of its columns.
    pub columns: Vec<String>,
}

/// A row of a [`HeatMap`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatRow {
    /// Its head.
    pub title: String,
    /// Values, over the columns of all groups; `None` or missing: not defined.
    pub values: Vec<Option<f64>>,
}

/// Colours from a middle, which has none, in steps to either side: less is better, more is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatScale {
    /// No colour.
    pub middle: f64,
    /// Distances from the middle at which the steps of colour begin, ascending; there are
    /// [`HeatScale::STEPS`] colours. Distances above the last have its colour.
    pub steps: &'static [f64],
    /// Distances are factors above 1, as of positive numbers; else differences above 0.
    pub is_ratio: bool,
    /// The least value that there can be; the legend has no steps below it.
    pub least: f64,
}
