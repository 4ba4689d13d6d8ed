//! Captures of a folder, and the retransmissions that the engine finds in them.

use capture::{CaptureFiles, CaptureTrouble, SegmentSource, TcpEnd};
use cmdline::Failure;
use cmdline::captures::Feed;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use trace::{ConnectionTrace, EngineConfig, Retransmission, TraceSink, TracedSender};

/// A folder of the folder that the user names: one labelled capture.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LabelledFolder {
    pub(super) name: String,
    /// Its captures; none if no file in it is one.
    pub(super) captures: Vec<PathBuf>,
    /// Its log of labels, which need not be there.
    pub(super) log: PathBuf,
    /// Files that cannot be read, with reasons.
    pub(super) troubles: Vec<String>,
}

/// The labelled captures of a folder, by name. A folder that cannot be read is one of them, with
/// its trouble.
pub(super) fn labelled_folders(folder: &Path) -> Result<Vec<LabelledFolder>, Failure> {
    let mut found = Vec::new();
    for path in entries(folder).map_err(Failure::Input)?.into_iter().filter(|path| path.is_dir()) {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            continue;
        };
        let log = path.join("tcpretransmissions.log");
        let (captures, troubles) = captures(&path, &name);
        found.push(LabelledFolder { name, captures, log, troubles });
    }
    let is_bare = |one: &LabelledFolder| one.captures.is_empty() && one.troubles.is_empty();
    if found.iter().all(is_bare) {
        let why = format!("{}: no folder in it holds a capture", folder.display());
        return Err(Failure::Input(why));
    }
    found.sort_unstable();
    Ok(found)
}

/// Entries of a folder, by name; or the reason why it cannot be read.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        found.push(entry.map_err(unreadable)?.path());
    }
    found.sort_unstable();
    Ok(found)
}

/// `NAME.pcap` of the folder NAME; else all files in the folder that begin as captures do. Returns
/// also the files that cannot be read.
fn captures(folder: &Path, name: &str) -> (Vec<PathBuf>, Vec<String>) {
    let named = folder.join(format!("{name}.pcap"));
    if named.is_file() {
        return (vec![named], Vec::new());
    }
    let (mut captures, mut troubles) = (Vec::new(), Vec::new());
    let files = entries(folder).unwrap_or_else(|why| {
        troubles.push(why);
        Vec::new()
    });
    for file in files {
        match is_capture(&file) {
            Ok(true) => captures.push(file),
            Ok(false) => {}
            Err(why) => troubles.push(why),
        }
    }
    (captures, troubles)
}

/// Whether the file begins as a capture does, whatever its name is. Its rest may be damaged.
fn is_capture(file: &Path) -> Result<bool, String> {
    match std::fs::metadata(file) {
        Ok(about) if about.is_file() => {}
        // A link to nowhere is no file, either.
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(format!("{}: {error}", file.display()));
        }
        Ok(_) | Err(_) => return Ok(false),
    }
    match CaptureFiles::new([file]).next_batch(&mut Vec::new()) {
        Ok(_) => Ok(true),
        Err(error) => match error.trouble {
            CaptureTrouble::NotACapture(_) => Ok(false),
            CaptureTrouble::Io(_) => Err(error.to_string()),
            _ => Ok(true),
        },
    }
}

/// Both ends of a connection, the lower one first.
pub(super) fn in_order(a: TcpEnd, b: TcpEnd) -> [TcpEnd; 2] {
    [a.min(b), a.max(b)]
}

/// A retransmission with its connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundRetransmission {
    /// Both ends of the connection, the lower one first.
    pub(super) ends: [TcpEnd; 2],
    pub(super) again: Retransmission,
}

impl FoundRetransmission {
    /// Whether the sequence number is in the retransmitted data, or is that of a SYN or FIN alone.
    /// A packet may be several segments
    /// that the sending host had its network card cut.
    pub(super) const fn covers(&self, seq: u32) -> bool {
        let offset = seq.wrapping_sub(self.again.seq);
        offset == 0 || offset < self.again.len
    }
}

#[derive(Default)]
struct Collect(Vec<FoundRetransmission>);

impl TraceSink for Collect {
    fn on_connection(&mut self, _: &ConnectionTrace) {}

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        let ends = in_order(sender.client, sender.server);
        self.0.push(FoundRetransmission { ends, again: *again });
    }
}

/// The retransmissions of captures by senders of the model `sender` or, with `auto`, of the model
/// that fits; and whether all captures could be read.
///
/// # Errors
/// If there is no such model.
pub(super) fn retransmissions(
    captures: &[PathBuf],
    sender: &str,
) -> Result<(Vec<FoundRetransmission>, Result<(), Failure>), Failure> {
    let mut feed = Feed::open(captures);
    let config = EngineConfig::default();
    let models = feed.models(sender, &config, 1)?;
    let (found, read) = match feed.run(EngineConfig { models, ..config }, Collect::default()) {
        Ok((found, read)) => (found.0, read),
        Err(failure) => (Vec::new(), Err(failure)),
    };
    // The check goes on with other captures, and fails.
    let read = read.map_err(|failure| match failure {
        Failure::Input(why) => Failure::Failed(why),
        other => other,
    });
    Ok((found, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_read_is_named() {
        let (captures, troubles) = captures(Path::new("/proc/self/no such folder"), "one");
        assert_eq!((captures.len(), troubles.len()), (0, 1));
        assert!(troubles[0].starts_with("/proc/self/no such folder: "), "{troubles:?}");
    }

    /// Offset 0 of a process's memory cannot be read (proc(5)), also not by root.
    #[test]
    fn a_file_that_cannot_be_read_is_trouble_and_another_file_is_not() {
        let trouble = is_capture(Path::new("/proc/self/mem")).unwrap_err();
        assert!(trouble.starts_with("/proc/self/mem: "), "{trouble}");
        for no_capture in ["/proc/self/environ", "/dev/null", "/proc/self", "/proc/self/nothing"] {
            assert_eq!(is_capture(Path::new(no_capture)), Ok(false), "{no_capture}");
        }
    }
}
