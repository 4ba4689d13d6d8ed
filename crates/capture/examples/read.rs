//! Reads captures and says what is in them, and how fast: `read [--ahead] FILE...`.

use capture::{CaptureFiles, SegmentSource};
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let files: Vec<&String> = arguments.iter().filter(|file| *file != "--ahead").collect();
    let mut source = CaptureFiles::new(files);
    #[expect(clippy::disallowed_methods, reason = "measures")]
    let begun = Instant::now();
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
    }
    let secs = begun.elapsed().as_secs_f64();
    let tally = source.tally();
    println!("{tally:?}");
    println!(
        "{payload} bytes of payload, {secs:.3} s, {:.1} ns a packet",
        secs * 1e9 / tally.packets as f64
    );
}
