//! The pages of a file that has several, like the runs of a test: which there are, and which one is
//! meant.

use super::error::{HarError, Problem};
use super::model::Log;

/// Titles are addresses as a rule; longer ones are cut.
const LONGEST_TITLE: usize = 80;

/// Pages that a note or an error lists at most.
const MAX_LISTED: usize = 12;

/// The pages that have entries, in the file's order.
pub(super) struct Pages<'a> {
    list: Vec<(&'a str, &'a str)>,
}

impl<'a> Pages<'a> {
    /// Lists the pages of `log.pages`, then those that only entries name.
    pub(super) fn of(log: &'a Log) -> Self {
        let mut list: Vec<(&str, &str)> = Vec::new();
        let refs: Vec<&str> = log.entries.iter().map(|entry| entry.pageref.0.as_str()).collect();
        let named = log.pages.iter().map(|page| (page.id.0.as_str(), page.title.0.as_str()));
        let with_entries = named.filter(|(id, _)| refs.contains(id));
        for (id, title) in with_entries.chain(refs.iter().map(|id| (*id, ""))) {
            if !id.is_empty() && list.iter().all(|(known, _)| *known != id) {
                list.push((id, title));
            }
        }
        Self { list }
    }

    /// Whether the file names a page.
    pub(super) fn has_any(&self) -> bool {
        !self.list.is_empty()
    }

    /// The ids of all pages.
    pub(super) fn ids(&self) -> Vec<&'a str> {
        self.list.iter().map(|(id, _)| *id).collect()
    }

    /// The id of the page that `choice` means: an id, else a number from 1.
    pub(super) fn page_id(&self, choice: &str, file: &str) -> Result<&'a str, HarError> {
        let by_id = self.list.iter().find(|(id, _)| *id == choice);
        let number = || choice.parse::<usize>().ok()?.checked_sub(1);
        let page = by_id.or_else(|| self.list.get(number()?));
        page.map(|(id, _)| *id).ok_or_else(|| {
            let (choice, pages) = (choice.to_owned(), self.page_lines());
            HarError::new(file, Problem::NoSuchPage { choice, pages })
        })
    }

    /// The note that `id` is one of several; none if it is the only one.
    pub(super) fn of_several(&self, id: &str) -> Option<String> {
        let count = self.list.len();
        let number = self.list.iter().position(|(known, _)| *known == id)? + 1;
        (count > 1).then(|| {
            let listed = self.page_lines().join("; ");
            format!(
                "page {number} of {count} in the file; --har-page chooses another, or all: {listed}"
            )
        })
    }

    /// `1 page_1 (title)` for each, at most twelve.
    fn page_lines(&self) -> Vec<String> {
        let listed = (1..).zip(self.list.iter().take(MAX_LISTED));
        let mut lines: Vec<String> =
            listed.map(|(number, (id, title))| line(number, id, title)).collect();
        if self.list.len() > MAX_LISTED {
            lines.push(format!("… {} in all", self.list.len()));
        }
        lines
    }
}

fn line(number: usize, id: &str, title: &str) -> String {
    let shown: String = title.chars().take(LONGEST_TITLE).collect();
    match shown.is_empty() || title == id {
        true => format!("{number} {id}"),
        false => format!("{number} {id} ({shown})"),
    }
}
