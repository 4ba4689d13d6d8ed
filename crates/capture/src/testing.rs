//! The body of the fuzz target for bytes from outside.

use crate::{CaptureFiles, SegmentSource};
use std::io::Cursor;

/// Reads any `bytes` to their end. It checks that every packet counts once, that numbers and
/// batches agree with the counters, and that errors end.
pub fn play(bytes: &[u8]) {
    /// More errors than any input has: 8 a file, and one at its end.
    const MOST_ERRORS: usize = 9;
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
    assert!(batch.is_empty() && errors <= MOST_ERRORS, "{errors} errors");
    let tally = source.tally();
    let others: u64 = tally.reasons().map(|(_, count)| count).sum();
    assert_eq!((tally.segments, tally.packets), (segments, segments + others));
    assert!(number <= tally.packets && tally.captured_bytes <= tally.wire_bytes);
}
