//! `headstart pages`: the pages that come with headstart.

use crate::failure::Failure;
use crate::stdout;
use cmdline::{Appendix, EXIT};
use std::env;
use std::path::Path;
use workload::{BUILTINS, Page};

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart pages", "Lists the pages by name."),
            ("headstart race news", "Races one of them."),
        ],
        exit: EXIT,
        see_also: &["headstart-race"],
        more: &["docs/pages.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let mut out = String::new();
    for builtin in BUILTINS {
        let Some(page) = Page::builtin(builtin.name) else { continue };
        let (objects, hosts) = (page.objects().len(), page.hosts().len());
        let default = if builtin.name == BUILTINS[0].name { "  (default)" } else { "" };
        out += &format!(
            "{}  {objects} objects, {hosts} host{}, {} kB{default}\n    {}\n",
            builtin.name,
            if hosts == 1 { "" } else { "s" },
            page.response_bytes() / 1000,
            builtin.description
        );
    }
    out += "\nA size is a page, too: one object, as in `headstart race 30kB`. So is any HAR file: export one from a\n\
        browser's network panel.\n";
    stdout::print(&out)
}

/// Address of the installed documents that reports link to. Empty, so that reports have no such links, if no documents
/// are installed with this program.
pub(crate) fn documents() -> String {
    env::current_exe().ok().and_then(|program| documents_of(&program)).unwrap_or_default()
}

/// Address of the documents that `make install` puts beside a program: PREFIX/bin and PREFIX/share/doc/headstart.
fn documents_of(program: &Path) -> Option<String> {
    let folder = program.parent()?.parent()?.join("share/doc/headstart");
    // Other bytes would have to be escaped in an address.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let name = folder.to_str().filter(|name| name.bytes().all(is_plain))?;
    folder.join("docs").is_dir().then(|| format!("file://{name}"))
}

/// The fact of a report that says where more is said.
pub(crate) fn explained_in(documents: &[&str]) -> String {
    format!("What the words mean: {}", documents.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::{fs, process};

    /// A folder of a test with installed documents, and the program there.
    fn installed(name: &str) -> (PathBuf, PathBuf) {
        let prefix = env::temp_dir().join(format!("headstart-{}-{name}", process::id()));
        fs::create_dir_all(prefix.join("share/doc/headstart/docs")).unwrap();
        let program = prefix.join("bin/headstart");
        (prefix, program)
    }

    /// An installed program links to the documents of its own installation.
    #[test]
    fn documents_are_those_installed_with_the_program() {
        let (prefix, program) = installed("documents");
        let expected = format!("file://{}/share/doc/headstart", prefix.display());
        assert_eq!(documents_of(&program), Some(expected));
        fs::remove_dir_all(&prefix).unwrap();
        assert_eq!(documents_of(&program), None, "nothing is installed");
    }

    /// Without an address that needs no escapes there is no link. A test is not installed either.
    #[test]
    fn no_link_leads_nowhere() {
        let (prefix, program) = installed("a blank in its name");
        assert_eq!(documents_of(&program), None);
        fs::remove_dir_all(prefix).unwrap();
        assert_eq!(documents_of(Path::new("headstart")), None);
        assert_eq!(documents(), "");
    }
}
