//! Texts behind a command's options: examples, remarks, files, exit codes.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

/// A term and what it means: a command that is an example, a file, an exit code, a variable.
pub type Entry = (&'static str, &'static str);

/// Texts behind a command's options. [`Display`] is the end of `--help`.
#[derive(Clone, Debug, Default)]
pub struct Appendix {
    /// Commands as a user types them, and what each shows.
    pub examples: &'static [Entry],
    /// Paragraphs, an empty line between two.
    pub notes: Cow<'static, str>,
    /// Variables of the environment.
    pub environment: &'static [Entry],
    /// Files beside those that options name.
    pub files: &'static [Entry],
    /// Exit codes.
    pub exit: &'static [Entry],
    /// Man pages to look at, beside the one above: `headstart-schemes`.
    pub see_also: &'static [&'static str],
    /// Documents with more, as paths in the repository.
    pub more: &'static [&'static str],
}

/// Exit codes of a command that computes, or shows, and needs no privilege.
pub const EXIT: &[Entry] = &[("0", "done"), ("2", "the input is wrong")];

impl Appendix {
    /// The end of `--help`.
    pub fn help(&self) -> String {
        self.to_string()
    }
}

impl Display for Appendix {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.examples.is_empty() {
            let example = |(command, shows): &Entry| format!("  {command}\n      {shows}");
            parts.push(titled_section("Examples", self.examples.iter().map(example)));
        }
        if !self.notes.is_empty() {
            parts.push(self.notes.to_string());
        }
        for (title, entries) in
            [("Environment", self.environment), ("Files", self.files), ("Exit codes", self.exit)]
        {
            if !entries.is_empty() {
                let width = entries.iter().map(|(term, _)| term.len()).max().unwrap_or(0);
                let entry = |(term, meaning): &Entry| format!("  {term:width$}  {meaning}");
                parts.push(titled_section(title, entries.iter().map(entry)));
            }
        }
        if !self.more.is_empty() {
            parts.push(format!("More: {}", self.more.join(", ")));
        }
        f.write_str(&parts.join("\n\n"))
    }
}

fn titled_section(title: &str, lines: impl Iterator<Item = String>) -> String {
    std::iter::once(format!("{title}:")).chain(lines).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts stand in one order, with an empty line between two; a part that is empty leaves
    /// nothing behind.
    #[test]
    fn help_has_the_parts_that_are_there() {
        let appendix = Appendix {
            examples: &[("prog x", "Shows x.")],
            notes: "A remark.".into(),
            exit: &[("0", "done"), ("130", "interrupted")],
            more: &["docs/x.md"],
            ..Appendix::default()
        };
        let expected = "Examples:\n  prog x\n      Shows x.\n\nA remark.\n\n\
             Exit codes:\n  0    done\n  130  interrupted\n\nMore: docs/x.md";
        assert_eq!(appendix.help(), expected);
        assert_eq!(Appendix::default().help(), "");
    }
}
