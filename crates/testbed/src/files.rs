//! Files that a measurement leaves in a folder.

use std::fs;
use std::io;
use std::path::Path;

/// Writes files, by name and bytes, to a folder, which is made if it is not there.
///
/// # Errors
/// If the folder or a file cannot be written; the error names it.
pub fn write_files(folder: &Path, files: &[(&str, &[u8])]) -> io::Result<()> {
    let named = |path: &Path, error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| named(&path, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_and_an_error_names_the_file() {
        let folder = std::env::temp_dir().join(format!("testbed-files-{}", std::process::id()));
        let inner = folder.join("a/b");
        write_files(&inner, &[("one", b"1"), ("two", b"22")]).expect("files");
        assert_eq!(fs::read(inner.join("two")).expect("a file"), b"22");
        let error = write_files(&inner, &[("one/under", b"1")]).expect_err("one is a file");
        assert!(error.to_string().starts_with(&format!("{}/one/under: ", inner.display())));
        fs::remove_dir_all(folder).expect("it is gone");
    }
}
