//! Measures the cost of findings: reads captures, rebuilds all senders and computes all findings,
//! as `headstart analyze --sender PROFILE --jobs THREADS` does before it prints.
//!
//! `findings_speed PROFILE THREADS FILE…`; count instructions with `valgrind --tool=callgrind`. It
//! is built faster than the whole program.

use capture::{CaptureFiles, SegmentSource};
use findings::FindingsSink;
use trace::{EngineConfig, SenderModel, SenderModels, SenderProfile, ShardedTraceEngine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let profile =
        args.next().and_then(|name| SenderProfile::named(&name)).ok_or("which profile?")?;
    let threads: usize = args.next().ok_or("how many threads?")?.parse()?;
    let files: Vec<String> = args.collect();
    let models = SenderModels::all(SenderModel::of(profile));
    let config = EngineConfig { models, ..EngineConfig::default() };
    let mut engine = ShardedTraceEngine::new(&config, FindingsSink::default(), threads)?;
    let (mut source, mut batch) = (CaptureFiles::new(&files), Vec::new());
    while source.next_batch(&mut batch)? {
        batch.iter().for_each(|segment| engine.on_segment(segment));
    }
    let (sink, counters) = engine.finish_all();
    let found = sink.finish();
    println!("{} segments, {} connections", counters.segments, found.losses.connections);
    Ok(())
}
