//! The capture at a server, merged from the captures of a simulation at either end of a link.

use capture::{CaptureFiles, Observed, SegmentSource};
use std::path::Path;
use units::Duration;

/// Returns the server's view: `sent`, a capture of its packets to the link, and `asked`, a capture
/// at the client's end, delayed by `after`.
///
/// Both are capture files; they are written to `folder` and read from there.
///
/// # Panics
/// If a file cannot be written, or is no capture.
pub fn seen_by_server(folder: &Path, sent: &[u8], asked: &[u8], after: Duration) -> Vec<Observed> {
    let read = |name: &str, bytes: &[u8]| {
        let file = folder.join(format!("{name}-{:?}.pcap", std::thread::current().id()));
        std::fs::write(&file, bytes).expect("a folder to write to");
        let (mut source, mut batch, mut all) = (CaptureFiles::new([&file]), Vec::new(), Vec::new());
        while source.next_batch(&mut batch).expect("a capture") {
            all.extend_from_slice(&batch);
        }
        all
    };
    let later = |segment: Observed| Observed { at: segment.at + after, ..segment };
    let arrived = read("asked", asked).into_iter().map(later);
    // At the same instant, arrivals are first: they may release the others.
    let mut all: Vec<Observed> = arrived.chain(read("sent", sent)).collect();
    all.sort_by_key(|segment| segment.at);
    all
}
