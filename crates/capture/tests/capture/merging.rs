//! Several files as one, in the order of time.

use crate::build::{Order, Packet, packets, pcap};
use crate::tools::{Everything, assert_same, capture, folder, text, wireshark};
use capture::{CaptureFiles, SegmentSource};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a capture of 643 packets.
fn original() -> PathBuf {
    capture("rto001")
}

/// Writes the packets of each part to a file.
fn write(folder: &Path, parts: &[Vec<Packet>]) -> Vec<PathBuf> {
    let file = |(n, part): (usize, &Vec<Packet>)| {
        let path = folder.join(format!("{n:03}.pcap"));
        fs::write(&path, pcap(Order::Little, false, 1, part)).unwrap();
        path
    };
    parts.iter().enumerate().map(file).collect()
}

/// Rotated files: more than stay open, given in reverse order, one of them compressed.
#[test]
fn rotated_files_are_read_in_the_order_of_time() {
    let folder = folder("rotated");
    let all = packets(&original());
    let parts: Vec<Vec<Packet>> = all.chunks(50).map(<[Packet]>::to_vec).collect();
    assert_eq!(parts.len(), 13);
    let mut files = write(&folder, &parts);
    let plain = fs::read(&files[3]).unwrap();
    fs::write(&files[3], zstd::encode_all(&plain[..], 3).unwrap()).unwrap();
    files.reverse();
    let read = Everything::of_files(&files);
    assert_same(&read.segments, &Everything::of_files([original()]).segments, "rotated");
}

/// Progress covers all files, in bytes on disk: at the end it is complete.
#[test]
fn progress_is_told_in_bytes_of_files() {
    let folder = folder("progress");
    let all = packets(&original());
    let parts: Vec<Vec<Packet>> = all.chunks(30).map(<[Packet]>::to_vec).collect();
    let files = write(&folder, &parts);
    let total: u64 = files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    let mut source = CaptureFiles::new(&files);
    assert_eq!((source.progress().read, source.progress().total), (0, Some(total)));
    let (mut batch, mut before) = (vec![], 0);
    while source.next_batch(&mut batch).unwrap() {
        let progress = source.progress();
        assert!((before..=total).contains(&progress.read));
        before = progress.read;
    }
    assert_eq!(before, total);
}

/// A missing file, a file of another kind, and a cut file are reported, and the others are read.
#[test]
fn what_is_wrong_with_one_file_costs_only_that() {
    let folder = folder("wrong");
    let all = packets(&original());
    let parts: Vec<Vec<Packet>> = all.chunks(100).map(<[Packet]>::to_vec).collect();
    let mut files = write(&folder, &parts);
    let cut = fs::read(&files[2]).unwrap();
    fs::write(&files[2], &cut[..cut.len() - 1]).unwrap();
    fs::write(&files[4], "no capture").unwrap();
    files.push(folder.join("missing.pcap"));
    let read = Everything::of(CaptureFiles::new(&files));
    let mut expected = Everything::of_files([original()]).segments;
    let whole = |number: u64| number != 300 && !(401..=500).contains(&number);
    expected.retain(|segment| whole(segment.number));
    expected.iter_mut().zip(1..).for_each(|(segment, number)| segment.number = number);
    assert_same(&read.segments, &expected, "the rest");
    let messages: Vec<String> = read.errors.iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[0].contains("004.pcap: not a capture but text"), "{messages:?}");
    assert!(messages[1].contains("missing.pcap: No such file"), "{messages:?}");
    let offset = cut.len() - 16 - all[299].bytes.len();
    assert!(
        messages[2].contains(&format!("002.pcap: ends within a packet, at byte {offset}")),
        "{messages:?}"
    );
}

/// The number of a segment is that of its packet in the file that mergecap makes.
#[test]
fn numbers_are_those_of_mergecap() {
    let folder = folder("mergecap");
    let all = packets(&original());
    let part = |n: usize| all.iter().skip(n).step_by(3).cloned().collect();
    let files = write(&folder, &[part(0), part(1), part(2)]);
    let merged = folder.join("merged.pcap");
    let mut arguments = vec!["-F", "pcap", "-w", text(&merged)];
    arguments.extend(files.iter().map(|file| text(file)));
    if wireshark("mergecap", &arguments).is_none() {
        return;
    }
    let read = Everything::of_files(&files).segments;
    assert_same(&read, &Everything::of_files([&merged]).segments, "merged");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any distribution of the packets over files, in any order, they are read in the order of
    /// time. No packet is lost, and none is read twice.
    #[test]
    fn any_split_is_put_together_again(
        of in prop::collection::vec(0..12_usize, 643),
        order in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let folder = folder("spread");
        // No two packets have the same time, so there is one order.
        let mut all = packets(&original());
        let begin = all[0].micros;
        all.iter_mut().zip(0..).for_each(|(packet, n)| packet.micros = begin + 10 * n);
        let part = |n| all.iter().zip(&of).filter(|(_, of)| **of == n).map(|(p, _)| p.clone()).collect();
        let files = write(&folder, &(0..12).map(part).collect::<Vec<Vec<Packet>>>());
        let given = order.iter().map(|n| &files[*n]);
        let read = Everything::of_files(given).segments;
        let whole = Everything::of_bytes(&pcap(Order::Little, false, 1, &all)).segments;
        assert_same(&read, &whole, "spread");
    }
}
