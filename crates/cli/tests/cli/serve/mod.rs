//! `headstart serve` with clients of other people: curl, a browser. Real packets need root and TUN
//! devices, and the programs have to be there; a test notes what is missing, and passes.

mod browser;
mod clients;
mod device;
mod ends;
mod refusals;
mod slow;

use crate::run::folder;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use test_support::Need;

/// 20 Mbit/s, 80 ms, 100 packets.
const LINE: [&str; 2] = ["--path", "20mbit,80ms,100p"];

/// A folder to be served, with files beside it that are not to be.
fn site(name: &str) -> PathBuf {
    let around = folder(name);
    let root = around.join("root");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(around.join("secret.txt"), "secret").unwrap();
    fs::write(root.join("index.html"), "<!doctype html><title>start</title>").unwrap();
    fs::write(root.join("sub/page.html"), "<p>below</p>").unwrap();
    fs::write(root.join("style.css"), "p { color: red }").unwrap();
    fs::write(root.join("digits.txt"), "0123456789").unwrap();
    symlink("../secret.txt", root.join("link.txt")).unwrap();
    root
}

/// A file of zeros that takes no room.
fn large(root: &Path, bytes: u64) {
    fs::File::create(root.join("large.bin")).unwrap().set_len(bytes).unwrap();
}

/// True where a client can be run behind a link, and these programs can; says so where not.
fn possible(programs: &[&str]) -> bool {
    let programs = programs.iter().copied().map(Need::Program);
    test_support::has(&test_support::EMULATION.into_iter().chain(programs).collect::<Vec<_>>())
}
