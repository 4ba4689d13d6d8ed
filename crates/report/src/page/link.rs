//! Words of texts that lead elsewhere: to a section of the page, or to a document of the project.
//!
//! Texts come from outside; where a link leads does not. A word is a link if it is the heading of a
//! section that the page's maker has named, or the path of a document below `docs/`.

use crate::{Links, Section};
use maud::{Markup, html};

/// Finds the words of a text that are links.
pub(crate) struct Linker<'a> {
    links: &'a Links,
    /// Headings of the page's sections, in order.
    headings: Vec<&'a str>,
}

impl<'a> Linker<'a> {
    /// The links of a page with these sections.
    pub(super) fn of(links: &'a Links, sections: impl Iterator<Item = &'a Section>) -> Self {
        Self { links, headings: sections.map(|section| section.heading.as_str()).collect() }
    }

    /// A text that is clean already, with its links.
    pub(crate) fn markup(&self, text: &str) -> Markup {
        html! {
            @for word in text.split_inclusive(' ') {
                @let (before, core, after) = split_word(word);
                @match self.target(core) {
                    Some(target) => { (before) a href=(target) { (core) } (after) }
                    None => { (word) }
                }
            }
        }
    }

    fn target(&self, word: &str) -> Option<String> {
        if self.links.sections.iter().any(|heading| heading == word) {
            let at = self.headings.iter().position(|heading| *heading == word)?;
            return Some(format!("#part{at}"));
        }
        let is_path = word.starts_with("docs/") && word.bytes().all(is_of_path);
        let is_document =
            is_path && word.split('#').next().is_some_and(|file| file.ends_with(".md"));
        (is_document && !self.links.documents.is_empty())
            .then(|| format!("{}/{word}", self.links.documents))
    }
}

const fn is_of_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'#')
}

/// Splits a word into the part before its first letter or digit, the core up to its last one, and
/// the part behind it.
fn split_word(word: &str) -> (&str, &str, &str) {
    let behind = |(at, c): (usize, char)| at + c.len_utf8();
    let last = word.char_indices().rev().find(|(_, c)| c.is_alphanumeric());
    let (rest, after) = word.split_at(last.map_or(word.len(), behind));
    let (before, core) = rest.split_at(rest.find(char::is_alphanumeric).unwrap_or(rest.len()));
    (before, core, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(text: &str) -> String {
        let section = |heading: &str| Section { heading: heading.to_owned(), blocks: Vec::new() };
        let sections = ["Verdicts", "FS-1", "FS-10"].map(section);
        let links = Links {
            documents: "file:///usr/share/doc/headstart".to_owned(),
            sections: vec!["FS-1".to_owned(), "FS-10".to_owned(), "gone".to_owned()],
        };
        Linker::of(&links, sections.iter()).markup(text).into_string()
    }

    #[test]
    fn headings_that_are_named_and_documents_are_links() {
        let shown = linked("Verdicts as (FS-1), not FS-11; gone, see docs/a/b.md#c.");
        let expected = "Verdicts as (<a href=\"#part1\">FS-1</a>), not FS-11; gone, see \
            <a href=\"file:///usr/share/doc/headstart/docs/a/b.md#c\">docs/a/b.md#c</a>.";
        assert_eq!(shown, expected);
    }

    /// A text cannot choose the target of a link.
    #[test]
    fn nothing_else_is_a_link() {
        for text in
            ["docs/x.html", "docs/\"a.md", "https://evil.example/docs/a.md", "javascript:0", ""]
        {
            assert!(!linked(text).contains("<a"), "{text}");
        }
        assert_eq!(linked("… —"), "… —");
    }
}
