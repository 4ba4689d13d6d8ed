//! The board of real shapes: recorded pages and sizes of documents over the paths that people have.
//!
//! Pages are those of `pages/`. Sizes of single documents are quantiles of a Weibull distribution
//! with scale 28,242.8 bytes and shape 0.814944. Pries, Magyari and Tran-Gia fitted it to the main
//! objects of the million most visited sites (NGI 2012). Paths are presets. Each document stands
//! for a tenth of the board, a page for a sixth.

use super::cell_setup::{BackgroundLoad, Before, CellSetup, DownRate};
use link::path::{PathSpec, preset};
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use workload::{Http, LoaderConfig, Object, ObjectKind, Page, PageHost, Tls, parse_har};

/// One cell of the board of real shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RealCell {
    /// The loaded content: a name of [`RealCell::CONTENTS`].
    pub content: &'static str,
    /// The path: a preset's name.
    pub path: &'static str,
    /// The measured visit.
    pub visit: RealVisit,
    /// Other traffic on the path: nothing, or two `linux` transfers.
    pub load: BackgroundLoad,
}

/// The measured visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RealVisit {
    /// The first.
    First,
    /// A second, 5 s after the first, over new connections.
    NewConnections,
    /// A second, 5 s after the first, over the connections that HTTP keeps.
    KeptConnections,
}

/// Quantiles at 10, 30, 50, 70 and 90 %, each the middle of a fifth, in whole hundreds of bytes:
/// 28,242.8 bytes times (−ln(1 − p)) to the power of 1 / 0.814944.
const DOCUMENTS: [u64; 5] = [1_800, 8_000, 18_000, 35_500, 78_600];

impl RealCell {
    /// The loaded contents: documents by size, then recorded pages.
    pub const CONTENTS: [&str; 8] =
        ["1.8 kB", "8 kB", "18 kB", "35.5 kB", "78.6 kB", "landing", "app", "article"];
    /// Names of the paths' presets.
    pub const PATHS: [&str; 7] =
        ["fiber", "cable", "dsl", "lte", "5g", "wifi-cafe", "geo-satellite"];
    /// Names of the visits.
    pub const VISITS: [&str; 3] = ["first", "new connections", "kept connections"];
    /// Names of the loads.
    pub const LOADS: [&str; 2] = ["idle", "full"];

    /// Its levels by name, for labels and seeds.
    pub fn name(&self) -> String {
        let visit = Self::VISITS[self.visit as usize];
        format!("{}, {}, {visit}, {}", self.content, self.path, Self::LOADS[self.levels()[3]])
    }

    /// Its levels, as indices into the lists above.
    pub(super) fn levels(&self) -> [usize; 4] {
        let of = |names: &[&str], name| names.iter().position(|n| *n == name).unwrap_or(0);
        let load = usize::from(self.load != BackgroundLoad::Idle);
        [of(&Self::CONTENTS, self.content), of(&Self::PATHS, self.path), self.visit as usize, load]
    }

    /// A line of the list of cells.
    pub(super) fn list_line(&self) -> String {
        let visit = Self::VISITS[self.visit as usize];
        format!("{},{},{visit},{}", self.content, self.path, Self::LOADS[self.levels()[3]])
    }

    /// The path.
    pub fn path(&self) -> PathSpec {
        preset(self.path).expect("a preset").spec()
    }

    pub(super) fn setup(&self) -> CellSetup {
        let page = Self::page_of(self.content).expect("a content");
        CellSetup {
            name: self.name(),
            bytes: page.response_bytes(),
            page,
            loader: LoaderConfig {
                keep_open: self.visit == RealVisit::KeptConnections,
                ..LoaderConfig::default()
            },
            path: self.path(),
            // The rate of a shared radio changes with its other users; the others have a line of
            // their own.
            down_rate: if self.path == "wifi-cafe" {
                DownRate::Wandering
            } else {
                DownRate::Steady
            },
            load: self.load,
            before: match self.visit {
                RealVisit::First => Before::Nothing,
                RealVisit::NewConnections | RealVisit::KeptConnections => Before::SameTransfer,
            },
        }
    }

    /// The page of one of [`RealCell::CONTENTS`]; `None` of another name.
    pub fn page_of(content: &str) -> Option<Arc<Page>> {
        let place = Self::CONTENTS.iter().position(|name| *name == content)?;
        Some(Arc::clone(&loaded()[place]))
    }
}

/// The contents, in the order of [`RealCell::CONTENTS`].
fn loaded() -> &'static [Arc<Page>] {
    static PAGES: OnceLock<Vec<Arc<Page>>> = OnceLock::new();
    let recorded: [(&str, &[u8]); 3] = [
        ("landing", include_bytes!("../../../../pages/landing.har")),
        ("app", include_bytes!("../../../../pages/app.har")),
        ("article", include_bytes!("../../../../pages/article.har")),
    ];
    PAGES.get_or_init(|| {
        let recorded = recorded.map(|(name, har)| parse_har(har, name).expect("a recorded page"));
        DOCUMENTS.map(document).into_iter().chain(recorded).map(Arc::new).collect()
    })
}

/// One document over HTTP/2 and TLS 1.3.
fn document(bytes: u64) -> Page {
    let host = PageHost { tls: Tls::Tls13, ..PageHost::plain("server", Http::Http2) };
    let object = Object::plain("document", ObjectKind::Html, bytes);
    Page::new("document", vec![host], vec![object]).expect("a page of one document is one")
}

/// The cells of documents.
pub(super) fn documents() -> Vec<RealCell> {
    cells_with(&RealCell::CONTENTS[..DOCUMENTS.len()])
}

/// The cells of recorded pages.
pub(super) fn pages() -> Vec<RealCell> {
    cells_with(&RealCell::CONTENTS[DOCUMENTS.len()..])
}

fn cells_with(contents: &[&'static str]) -> Vec<RealCell> {
    let visits = [RealVisit::First, RealVisit::NewConnections, RealVisit::KeptConnections];
    let mut cells = Vec::new();
    for content in contents {
        for path in RealCell::PATHS {
            for visit in visits {
                for load in [BackgroundLoad::Idle, BackgroundLoad::Full] {
                    cells.push(RealCell { content, path, visit, load });
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes are those of the distribution, and their names say them.
    #[test]
    fn documents_are_quantiles_of_the_published_distribution() {
        for (bytes, p) in DOCUMENTS.into_iter().zip([0.1f64, 0.3, 0.5, 0.7, 0.9]) {
            let quantile = 28_242.8 * (-(1.0 - p).ln()).powf(1.0 / 0.814_944);
            assert!((quantile - bytes as f64).abs() <= 50.0, "{p}: {quantile}");
        }
        for (name, bytes) in RealCell::CONTENTS.into_iter().zip(DOCUMENTS) {
            assert_eq!(name, format!("{} kB", bytes as f64 / 1000.0));
        }
    }

    /// 8 contents, 7 paths, 3 visits, 2 loads; the recorded pages are those that `pages/README.md`
    /// describes.
    #[test]
    fn the_board_has_every_cell_once() {
        let cells = [documents(), pages()].concat();
        assert_eq!(cells.len(), 8 * 7 * 3 * 2);
        let names: std::collections::BTreeSet<String> = cells.iter().map(RealCell::name).collect();
        assert_eq!(names.len(), cells.len());
        let objects: Vec<usize> = loaded().iter().map(|page| page.objects().len()).collect();
        assert_eq!(objects, [1, 1, 1, 1, 1, 9, 18, 31]);
        // A transfer is all objects, also those after the recorded load event.
        assert!(loaded().iter().all(|page| page.until() == workload::PageMilestone::LastByte));
    }
}
