//! Plays the scenario scripts of `scripts/` with an endpoint in real time: packets on a socket,
//! calls on streams, its own clock. No root.

use crate::scripted::Scripted;
use script::{self, Script};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use test_support::retry_on_any_stall;
use units::Duration;

/// Maximum distance of a segment from its time, unless the script allows more. A timer of ours is
/// some ten us late on an idle machine; a busy one takes this long to wake two threads.
const TOLERANCE: Duration = Duration::from_millis(30);
/// Maximum number of plays of a script until it passes: a late segment may be too late for the
/// script's next event.
const TRIES: usize = 4;
/// Number of scripts at a time: they sleep nearly always.
const AT_A_TIME: usize = 6;
/// Maximum length of a script in this test. Longer ones take twelve minutes: see
/// `those_that_take_long`.
const SHORT: Duration = Duration::from_secs(5);

const SMALLER: &str = "after three timeouts an endpoint tries smaller segments (RFC 4821 §7.7)";

/// Scripts with a statement that an endpoint in real time does not support, and why.
const NOT_HERE: &[(&str, &str)] = &[
    ("sequence-wrap/", "sets the first sequence number, by its seed"),
    ("close/time-wait-gives-way.pkt", "names a second first sequence number, drawn by its seed"),
    ("fast-open/", "sets Fast Open of the machine, and opens several connections"),
    ("linux/a-cork-holds-small-segments.pkt", "sets TCP_CORK, which a stream does not have"),
    ("linux/more-is-to-come.pkt", "writes with MSG_MORE, which a stream does not have"),
    ("linux/every-invalid-segment-is-answered.pkt", "sets a limit of the host"),
    ("linux/a-smaller-path-is-no-congestion.pkt", "has an ICMP error, which nobody writes here"),
    ("linux/a-record-ends-its-segment.pkt", "writes with MSG_EOR, which a stream does not have"),
    ("linux/an-estimate-outlasts-timeouts.pkt", SMALLER),
    ("karn/acks-that-were-lost-tell-no-round-trip.pkt", SMALLER),
    ("close/fin-is-acknowledged-once-read.pkt", "a stream reports larger reads alone"),
    ("reset/a-half-open-listener.pkt", "closes a listener, which the player keeps"),
    ("delayed-ack/a-fin-is-not-unread.pkt", "a stream reports larger reads alone"),
    ("dsack/a-fin-is-part-of-it.pkt", "a stream reports larger reads alone"),
    ("prr/a-recovery-behind-another.pkt", "has ACKs that are a tenth of a millisecond apart"),
    ("close/in-syn-sent.pkt", "closes before the connection is open; a stream is there only then"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts")
}

fn scripts() -> Vec<Script> {
    let folders = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|path| fs::read_dir(path).unwrap());
    let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let mut script = script::parse(&name, fs::read_to_string(path).unwrap()).unwrap();
        // Each timeout is late by a little, and so are all later events.
        let tolerance = TOLERANCE.max(lasts(&script) / 1000);
        script.settings.tolerance = script.settings.tolerance.max(tolerance);
        script
    };
    paths.iter().map(read).collect()
}

/// Plays the script until it passes; returns the number of assertions that were not judged.
fn holds(script: &Script) -> Result<usize, String> {
    let mut last = String::new();
    for _ in 0..TRIES {
        match script::play(script, None, Scripted::new()) {
            Ok(report) if report.left_over.is_empty() => return Ok(report.not_asked),
            Ok(report) => last = format!("{}: sent beside: {:?}", script.name, report.left_over),
            Err(mismatch) => last = mismatch.to_string(),
        }
    }
    Err(last)
}

/// Returns its length in simulation.
fn lasts(script: &Script) -> Duration {
    script::run(script, None).unwrap().lasted
}

/// Plays the scripts, `at_a_time` in parallel; returns the number of assertions that were not
/// judged, and the scripts that fail, each with why.
fn play_all(scripts: VecDeque<Script>, at_a_time: usize) -> (usize, Vec<(Script, String)>) {
    let (queue, results) = (Mutex::new(scripts), Mutex::new((0, Vec::new())));
    thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    let Some(script) = queue.lock().unwrap().pop_front() else { break };
                    let result = holds(&script);
                    let mut results = results.lock().unwrap();
                    match result {
                        Ok(not_judged) => results.0 += not_judged,
                        Err(why) => results.1.push((script, why)),
                    }
                }
            });
        }
    });
    results.into_inner().unwrap()
}

/// Plays all scripts whose length is chosen. Scripts that fail beside others are played again
/// alone: a busy machine wakes the threads of several scripts later than those of one.
fn all_hold(of_length: impl Fn(Duration) -> bool) {
    let excluded =
        |script: &Script| NOT_HERE.iter().find(|(name, _)| script.name.starts_with(name));
    let (out, all): (Vec<_>, Vec<_>) = scripts().into_iter().partition(|s| excluded(s).is_some());
    for script in &out {
        println!("not here: {}: {}", script.name, excluded(script).unwrap().1);
    }
    let chosen: VecDeque<_> = all.into_iter().filter(|script| of_length(lasts(script))).collect();
    let count = chosen.len();
    let (not_judged, failures) = play_all(chosen, AT_A_TIME);
    println!("{count} scripts, {not_judged} assertions on what an endpoint does not tell");
    let failed = RefCell::new(failures);
    retry_on_any_stall(|| {
        let again = failed.take().into_iter().map(|(script, _)| script).collect();
        failed.replace(play_all(again, 1).1);
        let list: Vec<_> = failed.borrow().iter().map(|(_, why)| why.clone()).collect();
        assert!(list.is_empty(), "{} fail:\n{}", list.len(), list.join("\n\n"));
    });
}

#[test]
fn the_scripts_hold_in_real_time() {
    all_hold(|lasts| lasts <= SHORT);
}

#[test]
#[ignore = "as long as retransmission timers back off: make test-slow"]
fn those_that_take_long() {
    all_hold(|lasts| lasts > SHORT);
}
