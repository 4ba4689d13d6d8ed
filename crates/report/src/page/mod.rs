//! The report page.
mod budget;
use crate::RaceReport;
use maud::{DOCTYPE, html};

/// No report page is larger, whatever its input.
pub const MAX_HTML_BYTES: usize = 5_000_000;

impl RaceReport {
    /// The race as one HTML file.
    pub fn to_html(&self) -> String {
        html! { (DOCTYPE) html lang="en" { head { title { (self.title) } } body { (self.table.to_markup(100, 100)) } } }.into_string()
    }
}
