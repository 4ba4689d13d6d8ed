//! Makes a page of a recording.

use super::error::{HarError, Problem};
use super::notes::notes;
use super::reading::Reading;
use super::recording::Recording;
use crate::page::Page;

pub(super) fn build_page(recording: Recording, file: &str) -> Result<Page, HarError> {
    let reading = Reading::of(recording);
    let page = Page::new(reading.document().label.clone(), reading.page_hosts(), reading.objects());
    let page = page.map_err(|error| HarError::new(file, Problem::Page(error)))?;
    let page = reading.events().with_events(page, &reading.recording.fetches);
    Ok(page.with_notes(notes(&reading)).with_recorded(reading.recorded()))
}
