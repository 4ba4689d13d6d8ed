//! The pages that come with headstart: the five of the Ensemble-TCP paper, one of today, and single
//! objects of any size.

mod news;
mod papers;
mod single;

pub use papers::{Kilobyte, NamingPart, ObjectSizes, RequestModel, RequestOrder, RequestTiming};

use super::Page;

/// A page with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Name of the page, for options.
    pub name: &'static str,
    /// Description in one line.
    pub description: &'static str,
}

const fn new_builtin(name: &'static str, description: &'static str) -> Builtin {
    Builtin { name, description }
}

/// Every page that [`Page::builtin`] knows; the first is the default.
pub const BUILTINS: [Builtin; 6] = [
    new_builtin("news", "a news page of today: 40 objects, 1.2 MB, 3 hosts, HTTP/2 over TLS 1.3"),
    new_builtin("text", "1990s text page: 29 KB HTML, 3 images (Ensemble-TCP §4)"),
    new_builtin("map", "1990s map: 5 KB HTML, 3 small images, one of 67 KB (Ensemble-TCP §4)"),
    new_builtin("graphics", "1990s graphics page: 7 KB HTML, 13 images (Ensemble-TCP §4)"),
    new_builtin("frames", "1990s frame set: 6 HTML parts, 21 images (Ensemble-TCP §4)"),
    new_builtin("java", "1990s Java page: 8 KB HTML, 10 images, 25 classes (Ensemble-TCP §4)"),
];

impl Page {
    /// A page that comes with headstart, by one of the names in [`BUILTINS`]; the papers' pages
    /// under the [`RequestModel`] that agrees best with the papers.
    pub fn builtin(name: &str) -> Option<Self> {
        Self::builtin_with(name, RequestModel::default())
    }

    /// Returns the page with another request model, which only the papers' pages use.
    pub fn builtin_with(name: &str, model: RequestModel) -> Option<Self> {
        match name {
            "news" => Some(news::news_page()),
            _ => papers::paper_page(name, model),
        }
    }
}
