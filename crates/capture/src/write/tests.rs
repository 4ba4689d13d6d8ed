//! Names, rotation and retention, in separate folders for each test.

use super::*;
use std::env;

const SECOND: u64 = 1_000_000_000;
/// 2026-11-25 01:30:00 UTC, by `date -d @1795570200`.
const BEGIN: u64 = 1_795_570_200 * SECOND;

fn folder(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("headstart-write-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Writes ten packets of 100 bytes, one a second.
fn write(path: &Path, rotation: Rotation, begin: u64) -> CaptureWriter {
    let mut writer = CaptureWriter::begin(path, 276, rotation).unwrap();
    for n in 0..10 {
        writer.record(Instant::from_nanos(begin + n * SECOND), &[7; 100], 1_000).unwrap();
    }
    writer.finish().unwrap();
    writer
}

/// This also holds if there was a file before that everybody could read.
#[test]
fn without_turns_there_is_one_file_for_its_owner_alone() {
    let folder = folder("one");
    let path = folder.join("server.pcap");
    fs::write(&path, "an older one").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let writer = write(&path, Rotation::default(), BEGIN);
    assert_eq!(writer.files(), std::slice::from_ref(&path));
    let metadata = fs::metadata(&path).unwrap();
    // The file has its header, and ten packets with 16 bytes before each.
    assert_eq!(metadata.len(), 24 + 10 * 116);
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    fs::remove_dir_all(folder).unwrap();
}

/// 400 bytes have room for the header and three packets, 24 + 3 · 116 = 372; ten make four files.
#[test]
fn files_end_at_their_size() {
    let folder = folder("size");
    let rotation = Rotation { size: Some(400), ..Rotation::default() };
    write(&folder.join("server.pcap"), rotation, BEGIN);
    let expected =
        ["00", "03", "06", "09"].map(|s| format!("server-20261125T0130{s}.000000Z.pcap"));
    assert_eq!(names(&folder), expected);
    let sizes: Vec<u64> =
        names(&folder).iter().map(|name| fs::metadata(folder.join(name)).unwrap().len()).collect();
    assert_eq!(sizes, [372, 372, 372, 140]);
    fs::remove_dir_all(folder).unwrap();
}

/// The limit is smaller than any packet, so each file has one packet.
#[test]
fn a_file_has_at_least_a_packet() {
    let folder = folder("least");
    let rotation = Rotation { size: Some(1), ..Rotation::default() };
    write(&folder.join("server"), rotation, BEGIN);
    assert_eq!(names(&folder).len(), 10);
    assert_eq!(names(&folder)[0], "server-20261125T013000.000000Z");
    fs::remove_dir_all(folder).unwrap();
}

/// Each file has four seconds: packets 0 to 3, 4 to 7, 8 and 9.
#[test]
fn files_end_at_their_time() {
    let folder = folder("time");
    let rotation = Rotation { every: Some(Duration::from_secs(4)), ..Rotation::default() };
    write(&folder.join("server.pcap"), rotation, BEGIN + 1_000);
    let expected = ["00", "04", "08"].map(|s| format!("server-20261125T0130{s}.000001Z.pcap"));
    assert_eq!(names(&folder), expected);
    fs::remove_dir_all(folder).unwrap();
}

/// The latest three are kept, over two runs; files with similar names are not removed.
#[test]
fn only_the_latest_are_kept() {
    let folder = folder("keep");
    let others = ["server.pcap", "server-old.pcap", "server-20261125T013000.000000Z.pcap.txt"];
    others.iter().for_each(|name| fs::write(folder.join(name), "mine").unwrap());
    let rotation = Rotation { size: Some(400), keep: Some(3), ..Rotation::default() };
    write(&folder.join("server.pcap"), rotation, BEGIN);
    let second = write(&folder.join("server.pcap"), rotation, BEGIN + 3600 * SECOND);
    let kept: Vec<String> =
        names(&folder).into_iter().filter(|name| !others.contains(&&name[..])).collect();
    let expected = ["03", "06", "09"].map(|s| format!("server-20261125T0230{s}.000000Z.pcap"));
    assert_eq!(kept, expected);
    assert_eq!(second.files(), expected.map(|name| folder.join(name)));
    assert_eq!(names(&folder).len(), 6);
    fs::remove_dir_all(folder).unwrap();
}

/// Packed files count, and one that is being packed counts once with its result: the latest three
/// of five times are kept. A device keeps its permissions.
#[test]
fn packed_files_count() {
    let folder = folder("packed");
    let path = folder.join("server.pcap");
    let name = |hour: u32, ending| format!("server-20261125T0{hour}3000.000000Z.pcap{ending}");
    let before = [name(0, ".zst"), name(1, ".gz"), name(2, ""), name(2, ".zst")];
    before.iter().for_each(|name| fs::write(folder.join(name), "packed").unwrap());
    let rotation = Rotation { size: Some(4_000), keep: Some(3), ..Rotation::default() };
    let writer = write(&path, rotation, BEGIN + 2 * 3600 * SECOND);
    let kept = [name(1, ".gz"), name(2, ""), name(2, ".zst"), name(3, "")];
    assert_eq!(names(&folder), kept);
    assert_eq!(writer.files(), [folder.join(&kept[3])]);
    write(&path, rotation, BEGIN + 3 * 3600 * SECOND);
    let kept = [name(2, ""), name(2, ".zst"), name(3, ""), name(4, "")];
    assert_eq!(names(&folder), kept);
    write(Path::new("/dev/null"), Rotation::default(), BEGIN);
    let null = fs::metadata("/dev/null").unwrap().permissions().mode();
    assert_eq!(null & 0o066, 0o066);
    fs::remove_dir_all(folder).unwrap();
}

/// Packets of the same time go to separate files: no file is overwritten.
#[test]
fn no_name_is_given_twice() {
    let folder = folder("twice");
    let rotation = Rotation { size: Some(1), ..Rotation::default() };
    let mut writer = CaptureWriter::begin(&folder.join("a.b.pcap"), 101, rotation).unwrap();
    (0..3).for_each(|_| writer.record(Instant::from_nanos(BEGIN), &[7; 9], 9).unwrap());
    writer.finish().unwrap();
    let expected = ["0", "1", "2"].map(|n| format!("a.b-20261125T013000.00000{n}Z.pcap"));
    assert_eq!(names(&folder), expected);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_that_is_not_there_is_said_at_once() {
    let path = Path::new("/no/such/folder/server.pcap");
    for size in [None, Some(1)] {
        let rotation = Rotation { size, ..Rotation::default() };
        assert!(CaptureWriter::begin(path, 101, rotation).is_err());
    }
}
