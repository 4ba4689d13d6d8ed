//! Captures that are still being written, and sources read on threads of their own.

use crate::build::{Order, packets, pcap};
use crate::tools::{Everything, assert_same, capture, captures};
use capture::{
    CaptureCounters, CaptureError, CaptureFiles, InputProgress, Observed, ReadAhead, SegmentSource,
};
use std::io::{Write, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Each packet is passed on before the next one is written. On one thread this would block for ever
/// if the reader asked for more than there is.
#[test]
fn packets_of_a_pipe_are_handed_over_as_they_come() {
    let all = packets(&capture("rto005"));
    let file = pcap(Order::Big, true, 1, &all);
    let (reader, mut writer) = pipe().unwrap();
    let (header, mut rest) = file.split_at(24);
    writer.write_all(header).unwrap();
    let mut source = CaptureFiles::from_reader("a pipe", Box::new(reader)).unwrap();
    assert_eq!(source.progress(), InputProgress { read: 24, total: None });
    let expected = Everything::of_files([capture("rto005")]).segments;
    let mut batch = vec![];
    for (packet, expected) in all.iter().zip(&expected) {
        let (record, behind) = rest.split_at(16 + packet.bytes.len());
        rest = behind;
        writer.write_all(record).unwrap();
        assert!(source.next_batch(&mut batch).unwrap());
        assert_eq!(batch, [*expected]);
    }
    drop(writer);
    assert!(!source.next_batch(&mut batch).unwrap());
    assert!(batch.is_empty());
}

#[test]
fn reading_ahead_changes_nothing() {
    let files = captures();
    let expected = Everything::of_files(&files);
    let read = Everything::of(ReadAhead::new(CaptureFiles::new(&files)).unwrap());
    assert_same(&read.segments, &expected.segments, "ahead");
    assert_eq!(read.counters, expected.counters);
    let total = files.iter().map(|file| file.metadata().unwrap().len()).sum::<u64>();
    let mut source = ReadAhead::new(CaptureFiles::new(&files)).unwrap();
    let mut batch = vec![];
    while source.next_batch(&mut batch).unwrap() {}
    assert_eq!(source.progress(), InputProgress { read: total, total: Some(total) });
    // A further call returns the end again.
    assert!(!source.next_batch(&mut batch).unwrap() && batch.is_empty());
}

/// Errors appear at their position, and the packets after them are read.
#[test]
fn errors_are_handed_over_by_threads() {
    let files = [capture("rto005"), "/no/such/file.pcap".into(), capture("rto003")];
    let read = Everything::of(ReadAhead::new(CaptureFiles::new(files)).unwrap());
    assert_eq!(read.segments.len(), 32 + 36);
    assert!(read.only_error().contains("/no/such/file.pcap"));
}

/// A reader that is dropped in the middle waits for nothing: an open pipe would block it.
#[test]
fn a_reader_that_waits_is_left_behind() {
    let (reader, mut writer) = pipe().unwrap();
    let all = packets(&capture("rto005"));
    writer.write_all(&pcap(Order::Little, false, 1, &all[..3])).unwrap();
    let source = CaptureFiles::from_reader("a pipe", Box::new(reader)).unwrap();
    let mut source = ReadAhead::new(source).unwrap();
    let mut batch: Vec<Observed> = vec![];
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.len(), 3);
    drop(source);
    drop(writer);
}

/// A pipe without a writer does not block the reader once the stop flag is set; the packets from
/// before are read.
#[test]
fn a_pipe_that_waits_ends_when_it_is_stopped() {
    let (reader, mut writer) = pipe().unwrap();
    let all = packets(&capture("rto005"));
    writer.write_all(&pcap(Order::Little, false, 1, &all[..3])).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let source = CaptureFiles::from_reader("a pipe", Box::new(reader)).unwrap();
    let mut source = ReadAhead::new(source).unwrap().ending_on(Arc::clone(&stop));
    let mut batch: Vec<Observed> = vec![];
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.len(), 3);
    stop.store(true, Ordering::Relaxed);
    assert!(!source.next_batch(&mut batch).unwrap() && batch.is_empty());
    drop(writer);
}

/// A panic on the thread propagates to the user.
#[test]
fn panics_are_not_lost() {
    struct Panics;
    impl SegmentSource for Panics {
        fn next_batch(&mut self, _: &mut Vec<Observed>) -> Result<bool, CaptureError> {
            panic!("as planned")
        }
        fn counters(&self) -> CaptureCounters {
            CaptureCounters::default()
        }
        fn progress(&self) -> InputProgress {
            InputProgress::default()
        }
    }
    let mut source = ReadAhead::new(Panics).unwrap();
    let read = std::panic::AssertUnwindSafe(|| source.next_batch(&mut vec![]));
    let why = std::panic::catch_unwind(read).unwrap_err();
    assert_eq!(why.downcast_ref(), Some(&"as planned"));
}
