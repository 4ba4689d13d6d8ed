//! Errors of HAR files: the fault, its position, and the way out.

use super::form::OtherForm;
use crate::page::PageError;
use std::fmt;

/// Reason why a HAR file gives no page: names the file, the line or key, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarError {
    file: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The file is no JSON, or a required key is missing or of the wrong type.
    Json { line: usize, column: usize, key: String, message: String },
    /// A value that makes no sense.
    Value { key: String, message: String },
    /// No entry crossed the network.
    NothingToLoad { skipped: String },
    /// The file is neither text nor compressed text.
    Encoding(String),
    /// It is no HAR file, but a file of another known kind.
    OtherForm(OtherForm),
    /// No response says how large it was.
    NoSizes,
    /// The file has no such page; `pages` are those that it has, one a line.
    NoSuchPage { choice: String, pages: Vec<String> },
    /// The contents do not make a page.
    Page(PageError),
}

impl HarError {
    pub(super) fn new(file: &str, problem: Problem) -> Self {
        Self { file: file.to_owned(), problem }
    }
}

impl fmt::Display for HarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.file;
        match &self.problem {
            Problem::Json { line, column, key, message } => write!(
                f,
                "{file}:{line}:{column}: at {key}: {message}; a HAR 1.2 file is needed, as \
                 \"Export HAR\" in a browser's network panel writes it"
            ),
            Problem::Value { key, message } => write!(
                f,
                "{file}: at {key}: {message}; correct or remove this entry, or record the page again"
            ),
            Problem::NothingToLoad { skipped } => write!(
                f,
                "{file}: at log.entries: nothing in it crossed the network{skipped}; record the \
                 page again with the browser's cache disabled"
            ),
            Problem::Encoding(why) => write!(
                f,
                "{file}: {why}; a HAR 1.2 file is needed, plain or by gzip, in UTF-8 or UTF-16"
            ),
            Problem::OtherForm(OtherForm { name, way_out }) => {
                write!(f, "{file}: this is {name} and no HAR file; {way_out}")
            }
            Problem::NoSizes => write!(
                f,
                "{file}: at log.entries: no response says how many bytes it had (_transferSize, bodySize, \
                 content.size); export the page again from a browser's network panel, with sizes"
            ),
            Problem::NoSuchPage { choice, pages } => write!(
                f,
                "{file}: no page {choice:?} in it; choose one by number or id: {}",
                pages.join("; ")
            ),
            Problem::Page(error) => write!(f, "{file}: at log.entries: {error}"),
        }
    }
}

impl std::error::Error for HarError {}
