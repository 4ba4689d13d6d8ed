//! The documents that are installed with a program, to which its reports link.

use std::env;
use std::path::Path;

/// Address of the installed documents that reports link to. Empty, so that reports have no such
/// links, if no documents are installed with this program.
pub fn documents() -> String {
    env::current_exe().ok().and_then(|program| documents_of(&program)).unwrap_or_default()
}

/// Address of the documents that `make install` puts beside a program: PREFIX/bin and
/// PREFIX/share/doc/headstart.
fn documents_of(program: &Path) -> Option<String> {
    let folder = program.parent()?.parent()?.join("share/doc/headstart");
    // Other bytes would have to be escaped in an address.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let name = folder.to_str().filter(|name| name.bytes().all(is_plain))?;
    folder.join("docs").is_dir().then(|| format!("file://{name}"))
}

/// The fact of a report that names the documents about it.
pub fn explained_in(documents: &[&str]) -> String {
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
