//! Files appear whole or not at all.

use report::{check_writable, write_atomically};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::Need;

/// A new empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|n| n.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn creates_and_replaces_leaving_nothing_else() {
    let folder = folder("replace");
    let path = folder.join("report.html");
    write_atomically(&path, b"one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(&folder), ["report.html"]);
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_replaced() {
    let folder = folder("link");
    fs::write(folder.join("target"), "old").unwrap();
    std::os::unix::fs::symlink("target", folder.join("link")).unwrap();
    write_atomically(&folder.join("link"), b"new").unwrap();
    assert_eq!(fs::read(folder.join("target")).unwrap(), b"new");
    assert!(fs::symlink_metadata(folder.join("link")).unwrap().is_symlink());
}

#[test]
fn errors_name_the_path_and_the_cause() {
    let folder = folder("errors");
    let missing = folder.join("no-such-folder").join("report.html");
    let error = write_atomically(&missing, b"x").unwrap_err().to_string();
    assert!(error.contains("no-such-folder/report.html"), "{error}");
    assert!(error.contains("No such file or directory"), "{error}");
    let error = write_atomically(&folder, b"x").unwrap_err().to_string();
    assert!(error.contains("is a directory"), "{error}");
    assert!(write_atomically(Path::new(""), b"x").is_err());
    assert!(names(&folder).is_empty());
}

#[test]
fn a_place_is_tried_without_a_trace() {
    let folder = folder("tried");
    let path = folder.join("report.html");
    check_writable(&path).unwrap();
    assert!(names(&folder).is_empty());
    fs::write(&path, "old").unwrap();
    check_writable(&path).unwrap();
    assert_eq!((fs::read(&path).unwrap().as_slice(), names(&folder).len()), (&b"old"[..], 1));
    for wrong in [folder.clone(), path.join("below"), folder.join("missing/report.html"), "".into()]
    {
        assert!(check_writable(&wrong).is_err(), "{}", wrong.display());
    }
}

/// A pipe stands for all that is not a regular file. It lies in the test's own folder: a test that
/// fails as root must not replace a device of the machine.
#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    let pipe = folder("pipe").join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write_atomically(&pipe, b"through").unwrap();
    // Before joining: had the pipe been replaced, the reader would wait for ever.
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(reader.join().unwrap(), b"through");
}

/// A file system in memory, unmounted when done.
struct Mounted(PathBuf);

impl Mounted {
    /// `None` without the right to mount.
    fn new(folder: PathBuf, size: &str) -> Option<Self> {
        if !test_support::has(&[Need::Namespaces, Need::Program("mount")]) {
            return None;
        }
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(&folder).status();
        assert!(mount.unwrap().success());
        Some(Self(folder))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// 64 KiB of disk, 1 MiB to write: the old file stays as it was, a new name never appears.
#[test]
fn a_full_disk_leaves_the_old_file_and_no_half_of_the_new() {
    let Some(disk) = Mounted::new(folder("full"), "size=64k") else { return };
    let old = disk.0.join("report.html");
    write_atomically(&old, b"whole").unwrap();
    let large = vec![b'x'; 1 << 20];
    for path in [&old, &disk.0.join("other.html")] {
        let error = write_atomically(path, &large).unwrap_err().to_string();
        assert!(error.contains("No space left"), "{error}");
        assert!(error.contains(path.to_str().unwrap()), "{error}");
    }
    assert_eq!(fs::read(&old).unwrap(), b"whole");
    assert_eq!(names(&disk.0), ["report.html"]);
}

/// `out/` is a folder's name: no file can have it, whether or not `out` is there.
#[test]
fn a_name_that_ends_with_a_slash_is_refused() {
    let folder = folder("slash");
    for name in ["out/", "out/."] {
        let place = folder.join(name);
        assert!(check_writable(&place).is_err(), "{name}");
        assert!(write_atomically(&place, b"x").is_err(), "{name}");
    }
    assert!(names(&folder).is_empty());
}

/// The pipe has no reader. Opening it for the check would wait for ever, and a reader would take
/// the check for the page.
#[test]
fn a_pipe_is_not_opened_by_the_check() {
    let pipe = folder("unopened").join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    check_writable(&pipe).unwrap();
}
