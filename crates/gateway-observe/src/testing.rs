//! Packets from outside, for a fuzz target and for the tests that replay its corpus. Not part of
//! the interface.

use crate::config::{CaptureConfig, CapturePlace, ReportedPrefix};
use crate::counts::ObserverCounts;
use crate::live::PathOptionReader;
use crate::passive::PassiveReport;
use crate::path_option::PathOption;
use crate::reporting::Found;
use capture::{CaptureFiles, Observed, SegmentSource};
use std::io::Cursor;

/// Returns packets as in a capture: each of `bytes` after a byte with its length, IPv4 or IPv6.
pub(crate) fn segments(mut bytes: &[u8]) -> Vec<Observed> {
    // A classic capture of raw packets (link type 101).
    let head = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101];
    let mut file = head.map(u32::to_le_bytes).concat();
    while let Some((length, rest)) = bytes.split_first() {
        let packet;
        (packet, bytes) = rest.split_at(usize::from(*length).min(rest.len()));
        let length = (packet.len() as u32).to_le_bytes();
        file.extend([[0; 4], [0; 4], length, length].concat());
        file.extend(packet);
    }
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    let source = CaptureFiles::from_reader("packets", Box::new(Cursor::new(file)));
    let mut source = source.expect("a capture");
    while source.next_batch(&mut batch).unwrap_or(false) {
        all.append(&mut batch);
    }
    all
}

/// Reads the options of `bytes`, packets as in `segments`, like a capture does.
///
/// # Panics
///
/// If an option is not written as it was read, or has more than a report may have.
pub fn see_option(bytes: &[u8]) {
    let everywhere = ["0.0.0.0/0", "::/0"].map(|net| net.parse().expect("a prefix"));
    let mut options = PathOptionReader::new(&CaptureConfig {
        place: CapturePlace::Interfaces(Vec::new()),
        ports: vec![443],
        passive: false,
        push: false,
        option_servers: everywhere.to_vec(),
        longest: ReportedPrefix { v4: 24, v6: 48 },
    });
    let counts = ObserverCounts::default();
    for segment in segments(bytes) {
        if let Some((_, value)) = segment.options.experiment()
            && let Some(option) = PathOption::read(&value)
        {
            let written = option.write();
            assert_eq!((written[0], &written[2..]), (value[0], &value[2..]));
        }
        if let Some(Found::Option(PassiveReport { report, .. })) = options.read(&segment, &counts) {
            assert!(report.lost <= report.sent && report.network.is_some(), "{report:?}");
        }
    }
}
