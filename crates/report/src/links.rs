//! Words in the texts of a page that are links: to documents of the project, and to sections of the
//! page.

/// Rules for words that are links wherever a text of a page has them. The page loads nothing from
/// there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Address of the project's documents. A word like `docs/race.md` is a link below this address.
    /// Empty: no links.
    pub documents: String,
    /// Headings of sections of the page.
    pub sections: Vec<String>,
}
