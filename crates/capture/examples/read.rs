//! Reads captures, says what is in them and what it took: `read [--ahead] [--segments] FILE...`.
//!
//! `--ahead` reads on a second thread; `--segments` prints every segment. Times are of this
//! process' CPU, so that what else runs on the machine counts little.

use capture::{CaptureFiles, ReadAhead, SegmentSource};
use std::fs;

fn main() {
    let (options, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let files = CaptureFiles::new(files);
    let mut source: Box<dyn SegmentSource> = match options.iter().any(|option| option == "--ahead")
    {
        true => Box::new(ReadAhead::new(files).expect("a thread")),
        false => Box::new(files),
    };
    let prints = options.iter().any(|option| option == "--segments");
    let before = cpu_secs();
    let mut batch = Vec::new();
    let mut payload = 0;
    loop {
        match source.next_batch(&mut batch) {
            Ok(true) => {
                payload += batch.iter().map(|segment| u64::from(segment.payload)).sum::<u64>()
            }
            Ok(false) => break,
            Err(error) => eprintln!("{error}"),
        }
        if prints {
            batch.iter().for_each(|segment| println!("{segment:?}"));
        }
    }
    let secs = cpu_secs() - before;
    let counters = source.counters();
    let nanos = secs * 1e9 / counters.packets.max(1) as f64;
    println!(
        "{} packets, {} segments, {payload} bytes of payload: {secs:.2} s of CPU, {nanos:.0} ns a packet",
        counters.packets, counters.segments
    );
    counters.reasons().for_each(|(why, count)| println!("{count} {why}"));
}

/// User and system time of this process: fields 14 and 15 of its line, in hundredths of a second
/// (`man proc`).
fn cpu_secs() -> f64 {
    let line = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = line.rsplit(')').next().expect("fields").split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}
