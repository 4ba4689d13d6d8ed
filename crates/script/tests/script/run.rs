//! Every scenario script holds: what its first comment claims is what the core does.
//!
//! There is one test per behaviour, that is per folder of `scripts/`. A segment that no script asks
//! for fails here, although packetdrill would pass it.

use script::{self, Script};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tcp::{FourTuple, Host, HostConfig, Scheme};
use units::Instant;

macro_rules! behaviours {
    ($($test:ident: $folder:literal,)*) => {
        $(#[test]
        fn $test() {
            holds($folder);
        })*

        const FOLDERS: &[&str] = &[$($folder),*];
    };
}

behaviours! {
    accelerated_open: "accelerated-open",
    close: "close",
    congestion_avoidance: "congestion-avoidance",
    delayed_ack: "delayed-ack",
    dsack: "dsack",
    ecn: "ecn",
    fast_open: "fast-open",
    fast_retransmit: "fast-retransmit",
    handshake: "handshake",
    hostile: "hostile",
    idle_restart: "idle-restart",
    jump_start: "jump-start",
    karn: "karn",
    limited_transmit: "limited-transmit",
    linux: "linux",
    nagle: "nagle",
    options: "options",
    paced_start: "paced-start",
    partial_ack: "partial-ack",
    prr: "prr",
    rack: "rack",
    reassembly: "reassembly",
    reset: "reset",
    rto: "rto",
    sack_blocks: "sack-blocks",
    sequence_wrap: "sequence-wrap",
    silly_window: "silly-window",
    slow_start: "slow-start",
    spurious_timeout: "spurious-timeout",
    tail_loss_probe: "tail-loss-probe",
    undo: "undo",
    window_update: "window-update",
    zero_window: "zero-window",
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of scripts");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Script {
    let name = path.strip_prefix(root()).expect("a script under the root");
    let text = std::fs::read_to_string(path).expect("a script");
    assert!(text.starts_with("// "), "{}: its first line is no claim", name.display());
    script::parse(&name.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"))
}

fn holds(folder: &str) {
    let mut failures = Vec::new();
    for path in sorted(&root().join(folder)) {
        match script::run(&read(&path), None) {
            Ok(report) if report.left_over.is_empty() => {}
            Ok(report) => {
                let extra = report.left_over.join("; ");
                failures.push(format!("{}: sent, not asked for: {extra}", path.display()));
            }
            Err(mismatch) => failures.push(mismatch.to_string()),
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_folder_of_scripts_is_a_test_here() {
    let folders = sorted(&root()).into_iter().filter(|path| path.is_dir());
    let folders: BTreeSet<_> =
        folders.map(|path| path.file_name().expect("a name").to_owned()).collect();
    assert_eq!(folders, FOLDERS.iter().map(|folder| (*folder).into()).collect());
}

#[test]
fn the_seed_of_the_wrapping_script_wraps() {
    let script = read(&root().join("sequence-wrap/send.pkt"));
    let tuple = FourTuple {
        local_port: 8080,
        remote: std::net::IpAddr::from([192, 0, 2, 1]),
        remote_port: 49_152,
    };
    let mut host = Host::new(HostConfig { seed: script.settings.seed });
    host.connect(Instant::ZERO, tuple, &Scheme::parse("sack").expect("a scheme")).expect("free");
    let syn = host.poll_transmit(Instant::ZERO).expect("a SYN").segment;
    // The script's arithmetic: byte 2745 has number zero.
    assert_eq!(syn.seq + 2745, units::SeqNum(0));
}
