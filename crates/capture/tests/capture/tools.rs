//! Shared helpers of the tests: reading, temporary files, other programs.

use capture::{CaptureCounters, CaptureError, CaptureFiles, Observed, SegmentSource};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::Need;

/// All output of a source, up to its end.
#[derive(Debug)]
pub(crate) struct Everything {
    pub(crate) segments: Vec<Observed>,
    pub(crate) errors: Vec<CaptureError>,
    pub(crate) counters: CaptureCounters,
}

impl Everything {
    pub(crate) fn of(mut source: impl SegmentSource) -> Self {
        let (mut segments, mut errors, mut batch) = (vec![], vec![], vec![]);
        loop {
            match source.next_batch(&mut batch) {
                Ok(true) => segments.append(&mut batch),
                Ok(false) => break,
                Err(error) => errors.push(error),
            }
        }
        let counters = source.counters();
        assert_eq!(counters.segments, segments.len() as u64);
        let others: u64 = counters.reasons().map(|(_, count)| count).sum();
        assert_eq!(
            counters.packets,
            counters.segments + others,
            "each packet counts once: {counters:?}"
        );
        Self { segments, errors, counters }
    }

    /// Reads files, which must have no error.
    pub(crate) fn of_files<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        let read = Self::of(CaptureFiles::new(paths));
        assert!(read.errors.is_empty(), "{:?}", read.errors);
        read
    }

    /// Reads bytes, which may be damaged.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let reader = Box::new(std::io::Cursor::new(bytes.to_vec()));
        match CaptureFiles::from_reader("bytes", reader) {
            Ok(source) => Self::of(source),
            Err(error) => {
                Self { segments: vec![], errors: vec![error], counters: CaptureCounters::default() }
            }
        }
    }

    pub(crate) fn only_error(&self) -> String {
        let [error] = &self.errors[..] else { panic!("one error: {:?}", self.errors) };
        error.to_string()
    }
}

/// Returns an empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capture-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the captures of the test set.
pub(crate) fn captures() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tcprs");
    let files = fs::read_dir(folder).expect("the captures are part of the repository");
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pcap"));
    files.sort();
    assert_eq!(files.len(), 52);
    files
}

/// Returns one of them.
pub(crate) fn capture(name: &str) -> PathBuf {
    captures().into_iter().find(|file| file.file_stem().unwrap() == name).expect("it is there")
}

/// Runs a program of Wireshark's; reports a skip and returns `None` if it is not installed.
pub(crate) fn wireshark(program: &str, arguments: &[&str]) -> Option<Output> {
    if !test_support::has(&[Need::Program(program)]) {
        return None;
    }
    let output = Command::new(program).args(arguments).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {messages}");
    Some(output)
}

/// Returns the path as an argument for programs.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Asserts that two rows of segments are the same except for their labels, and shows the first
/// difference.
pub(crate) fn assert_same(segments: &[Observed], expected: &[Observed], what: &str) {
    let bare = |segment: &Observed| Observed { label: 0, ..*segment };
    let differs = segments.iter().zip(expected).find(|(one, other)| bare(one) != bare(other));
    if let Some((segment, expected)) = differs {
        panic!("{what}:\n{segment:?}\nis not\n{expected:?}");
    }
    assert_eq!(segments.len(), expected.len(), "{what}");
}
