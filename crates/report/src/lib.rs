//! Shows a race: page loads under several TCP schemes beside a physical limit.
//!
//! The input is plain data ([`RaceReport`]): measured times, counts and labels. Nothing here knows
//! TCP or a simulator. Out come a terminal table ([`Table::to_text`]), the same in Markdown
//! ([`Table::to_markdown`]), and one self-contained HTML page ([`RaceReport::to_html`]) whose
//! figures are SVG with hover and zoom. A [`Document`] of texts, tables, figures and heat maps
//! shows other results in the same frame. [`Figure`] is the plot beneath them, usable alone;
//! [`write_atomically`] puts any of it on disk whole or not at all.
//!
//! Same input, same bytes: no timestamp, no random identifier, no hash order reaches the output.

mod address;
mod bars;
mod document;
mod figure;
mod file;
mod format;
mod hues;
mod input;
mod links;
mod page;
mod palette;
mod quantity;
mod ranges;
mod table;
mod text;
mod thin;

pub use address::split_address;
pub use bars::{BarPart, BarRow, ShareBars};
pub use document::{Badge, Block, Document, HeatGroup, HeatMap, HeatRow, HeatScale, Section};
pub use figure::{
    Axis, AxisUnit, Figure, FigureMark, Point, Reference, Scale, Series, SeriesShape, Shade, Symbol,
};
pub use file::{WriteError, check_writable, write_atomically};
pub use format::{bytes, estimate as written, rounded_rate, seconds};
pub use hues::Hues;
pub use input::{
    BoundPoint, ConnectionView, CriticalSpan, LevelPoint, LimitView, MilestoneView, ObjectSpan,
    OpeningView, QueueCapacity, QueuePoint, QueueView, RaceReport, SchemeView, SenderBound,
    SequenceKind, SequencePoint, WindowPoint,
};
pub use links::Links;
pub use page::MAX_HTML_BYTES;
pub use palette::{Colour, Role};
pub use quantity::{Estimate, Median, Quantity};
pub use ranges::{Range, RangeColours, RangeRow, Ranges};
pub use table::{
    CausesRow, Cell, Column, MilestoneCells, RaceRow, Row, Table, Terminal, VariantRow,
};
