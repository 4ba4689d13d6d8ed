//! Programs of others, where they are installed.

use std::env;
use std::path::PathBuf;

/// Files of a name in `PATH` and then in other folders, in a shell's order.
pub(crate) fn find_program(name: &str, beyond: &[&str]) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(beyond.iter().map(PathBuf::from));
    let programs: Vec<PathBuf> = folders.map(|folder| folder.join(name)).collect();
    programs.into_iter().filter(|program| program.is_file())
}
