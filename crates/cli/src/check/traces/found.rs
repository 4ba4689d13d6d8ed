//! Captures of a folder, and the retransmissions that the engine finds in them.

use crate::analyze::Feed;
use crate::failure::Failure;
use capture::{CaptureFiles, CaptureTrouble, SegmentSource, TcpEnd};
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
}

/// The labelled captures of a folder, by name.
pub(super) fn labelled_folders(folder: &Path) -> Result<Vec<LabelledFolder>, Failure> {
    let mut found = Vec::new();
    for path in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            continue;
        };
        let captures = captures(&path, &name)?;
        found.push(LabelledFolder { name, captures, log: path.join("tcpretransmissions.log") });
    }
    if found.iter().all(|labelled| labelled.captures.is_empty()) {
        let why = format!("{}: no folder in it holds a capture", folder.display());
        return Err(Failure::Input(why));
    }
    found.sort_unstable();
    Ok(found)
}

/// What a folder holds, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error| Failure::Input(format!("{}: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        found.push(entry.map_err(unreadable)?.path());
    }
    found.sort_unstable();
    Ok(found)
}

/// `NAME.pcap` of the folder NAME; else all files in the folder that begin as captures do.
fn captures(folder: &Path, name: &str) -> Result<Vec<PathBuf>, Failure> {
    let named = folder.join(format!("{name}.pcap"));
    if named.is_file() {
        return Ok(vec![named]);
    }
    Ok(entries(folder)?.into_iter().filter(|path| path.is_file() && is_capture(path)).collect())
}

/// The file begins as a capture does, whatever its name is. What comes later may be damaged.
fn is_capture(file: &Path) -> bool {
    match CaptureFiles::new([file]).next_batch(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => {
            !matches!(error.trouble, CaptureTrouble::NotACapture(_) | CaptureTrouble::Io(_))
        }
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
    /// The sequence number is in what was retransmitted. A packet may be several segments that the sending host had its
    /// network card cut.
    pub(super) const fn has(&self, seq: u32) -> bool {
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

/// The retransmissions of captures, and whether all of them could be read.
pub(super) fn retransmissions(
    captures: &[PathBuf],
    sender: &str,
) -> Result<(Vec<FoundRetransmission>, Result<(), Failure>), Failure> {
    let mut feed = Feed::open(captures);
    let config = EngineConfig::default();
    let models = feed.models(sender, &config, 1)?;
    let (found, read) = feed.run(EngineConfig { models, ..config }, Collect::default())?;
    Ok((found.0, read))
}
