//! `--access-log --report`: the findings of a log as one HTML page, with Figures 6 and 7 of Zhang,
//! Qiu & Keshav 2000.

use super::AccessLogFindings;
use super::summary::{gaps, networks, summary_text};
use crate::analyze::page::figures::{networks_within, soon_again};
use cmdline::{Failure, installed, report_file};
use report::{Block, Document, Links, Section};
use std::path::{Path, PathBuf};
use units::counted;

/// A page that is to be written.
pub(super) struct LogPage(PathBuf);

impl LogPage {
    /// Refuses a path that cannot be written to, and the log itself.
    pub(super) fn check_path(path: &Path, log: &Path) -> Result<Self, Failure> {
        report_file::check(path, [log])?;
        Ok(Self(path.to_owned()))
    }

    /// Writes it.
    pub(super) fn end(self, found: &AccessLogFindings) -> Result<(), Failure> {
        report_file::write(&self.0, &document(found).to_html())
    }
}

fn document(found: &AccessLogFindings) -> Document {
    let figure = |block: Option<Block>| block.into_iter();
    let sharing = &found.sharing;
    let again = [
        Block::Text(
            "The memory of a network helps the network's next request, if it is not too old. TCP/SPAND takes five minutes."
                .to_owned(),
        ),
        Block::Table(gaps(found)),
    ];
    let state = [
        Block::Text(
            "A memory holds the networks that asked within five minutes, for each request those before it.".to_owned(),
        ),
        Block::Table(networks(&sharing.networks_within)),
    ];
    let sections = [
        (
            "In words",
            vec![Block::List(
                summary_text(found)
                    .lines()
                    .filter(|line| !line.is_empty())
                    .map(str::to_owned)
                    .collect(),
            )],
        ),
        (
            "How soon networks ask again",
            again.into_iter().chain(figure(soon_again(sharing))).collect(),
        ),
        (
            "How many networks there are to remember",
            state.into_iter().chain(figure(networks_within(sharing))).collect(),
        ),
    ];
    let section =
        |(heading, blocks): (&str, Vec<Block>)| Section { heading: heading.to_owned(), blocks };
    Document {
        title: "Whom a memory of networks would help".to_owned(),
        facts: vec![lines_read(found), installed::explained_in(&["docs/analyze.md"])],
        sections: sections.into_iter().map(section).collect(),
        links: Links { documents: installed::documents(), ..Links::default() },
        ..Document::default()
    }
}

/// Describes the lines that were read, and the unreadable ones.
fn lines_read(found: &AccessLogFindings) -> String {
    let lines = counted(found.lines, "line");
    match found.unread_lines {
        0 => lines,
        unread => format!("{lines}, of which {unread} could not be read"),
    }
}
