//! Files of a row: the captures of both ends, and `truth.json`.

use super::compare::MeasuredRow;
use std::fs;
use std::io;
use std::path::Path;

/// Captures of a row.
pub(super) struct KeptCaptures<'a> {
    pub(super) at_client: &'a [u8],
    pub(super) at_server: &'a [u8],
}

/// Writes a row's files to a folder of its own in `folder`.
///
/// # Errors
/// If a file cannot be written; the error names it.
pub(super) fn keep(
    folder: &Path,
    measured: &MeasuredRow,
    captures: &KeptCaptures<'_>,
) -> io::Result<()> {
    let folder = folder.join(measured.row.folder());
    let named = |path: &Path, error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    fs::create_dir_all(&folder).map_err(|error| named(&folder, error))?;
    let truth = serde_json::to_vec_pretty(measured).map_err(io::Error::other)?;
    let files = [
        ("client.pcap", captures.at_client),
        ("server.pcap", captures.at_server),
        ("truth.json", &truth),
    ];
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| named(&path, error))?;
    }
    Ok(())
}
