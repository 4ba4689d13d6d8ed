//! The body of the fuzz target for bytes from outside.

use crate::{CaptureFiles, SegmentSource};
use std::io::Cursor;

/// Reads any `bytes` to their end. It checks that every packet counts once, that numbers and
/// batches agree with the counters, and that errors end.
pub fn play(bytes: &[u8]) {
    /// More errors than any input has: 8 a file, and one at its end.
    const MAX_ERRORS: usize = 9;
    let reader = Box::new(Cursor::new(bytes.to_vec()));
    let Ok(mut source) = CaptureFiles::from_reader("fuzz", reader) else { return };
    let (mut batch, mut segments, mut errors, mut number) = (Vec::new(), 0, 0, 0);
    loop {
        match source.next_batch(&mut batch) {
            Ok(true) => segments += batch.len() as u64,
            Ok(false) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                errors += 1;
            }
        }
        for segment in batch.drain(..) {
            assert!(segment.number > number, "{segment:?}");
            number = segment.number;
        }
    }
    assert!(batch.is_empty() && errors <= MAX_ERRORS, "{errors} errors");
    let counters = source.counters();
    let others: u64 = counters.reasons().map(|(_, count)| count).sum();
    assert_eq!((counters.segments, counters.packets), (segments, segments + others));
    assert!(number <= counters.packets && counters.captured_bytes <= counters.wire_bytes);
}
