//! A case: a page, its path, and the cause that is built into them.

use super::site::{PageTransport, SiteFile};
use link::path::PathSpec;
use race::Bound;
use trace::TimeShare;
use workload::ObjectKind;

/// A sign of the cause on the critical path. Files are named by their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CriticalMark {
    /// These files follow one another, and each is revealed by the one before it.
    Chain(Vec<String>),
    /// The load waits longest for this file, and most of that time for the server.
    Server(&'static str),
    /// The browser works longer on the request of a file whose address begins so than on all else
    /// that is on the path.
    Browser(&'static str),
    /// At least this many objects wait for the connection that another one holds.
    Connections(usize),
}

/// A page with one built-in cause of its time.
#[derive(Clone, Debug)]
pub struct PageCase {
    /// The name, in a few words.
    pub name: &'static str,
    /// The way in which browser and server speak.
    pub transport: PageTransport,
    /// The path, as `headstart race --path` takes it.
    pub path: PathSpec,
    /// Segments with which the server's TCP begins; `None`: as Linux does.
    pub initial_window: Option<u32>,
    /// Bytes that the client's TCP offers; `None`: as Linux does.
    pub client_window: Option<u32>,
    /// The site; the browser opens the first file.
    pub(super) files: Vec<SiteFile>,
    /// The cause that bounds the load, by construction.
    pub bound: Bound,
    /// The sign of the cause on the critical path.
    pub critical: Option<CriticalMark>,
    /// Causes, one of which the analyser has to name first; empty if a capture does not show the
    /// cause.
    pub analysed: Vec<TimeShare>,
}

impl PageCase {
    /// A case over a path, with a document that names the files that are [added](Self::naming).
    ///
    /// # Panics
    /// If the path cannot be read: cases are written in this crate alone.
    pub(super) fn over(path: &str, transport: PageTransport, name: &'static str) -> Self {
        Self {
            name,
            transport,
            path: path.parse().expect("cases have paths that can be"),
            initial_window: None,
            client_window: None,
            files: vec![SiteFile::document("/")],
            bound: Bound::Path,
            critical: None,
            analysed: Vec::new(),
        }
    }

    /// Adds files that the document names.
    pub(super) fn with_files(mut self, files: impl IntoIterator<Item = SiteFile>) -> Self {
        for file in files {
            self.files[0].name(&file);
            self.files.push(file);
        }
        self
    }

    /// Adds a file that the document names, and others, of which each names the next.
    pub(super) fn with_chained_files(mut self, files: Vec<SiteFile>) -> Self {
        let chain: Vec<String> = files.iter().map(|file| file.at.clone()).collect();
        let mut next: Option<SiteFile> = None;
        for mut file in files.into_iter().rev() {
            if let Some(next) = next.take() {
                file.name(&next);
                self.files.push(next);
            }
            next = Some(file);
        }
        let first = next.into_iter();
        Self { critical: Some(CriticalMark::Chain(chain)), ..self.with_files(first) }
    }

    /// Lets redirects lead to the document, one after another.
    pub(super) fn redirected(mut self, count: usize) -> Self {
        let at = |n: usize| format!("/to{n}");
        let document = std::mem::replace(&mut self.files[0].at, at(count));
        let next = |n: usize| if n + 1 < count { at(n + 1) } else { at(count) };
        let from = |n: usize| if n == 0 { document.clone() } else { at(n) };
        let redirects = (0..count).map(|n| SiteFile::redirect(&from(n), &next(n)));
        self.files.splice(0..0, redirects);
        let chain = (0..=count).map(from).collect();
        Self { critical: Some(CriticalMark::Chain(chain)), ..self }
    }

    /// Pads the document to `bytes` bytes.
    pub(super) fn document_bytes(mut self, bytes: usize) -> Self {
        self.files.iter_mut().filter(|file| file.kind == ObjectKind::Html).for_each(|file| {
            file.pad(bytes);
        });
        self
    }

    /// Sets the cause.
    pub(super) fn with_cause(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// Sets the sign of the cause on the critical path.
    pub(super) fn shown_by(self, mark: CriticalMark) -> Self {
        Self { critical: Some(mark), ..self }
    }

    /// Sets the causes of which the analyser has to name one.
    pub(super) fn analysed_as(self, analysed: impl Into<Vec<TimeShare>>) -> Self {
        Self { analysed: analysed.into(), ..self }
    }

    /// Number of the page's objects.
    pub const fn objects(&self) -> usize {
        self.files.len()
    }

    /// The scheme that models the server.
    pub fn scheme(&self) -> String {
        match self.initial_window {
            Some(segments) => format!("{}+iw={segments}", race::BASELINE),
            None => race::BASELINE.to_owned(),
        }
    }
}
