//! What the engine costs: reads captures and rebuilds all senders, `REPEATS` times.
//!
//! `trace_speed linux REPEATS FILE…`; count instructions with `valgrind --tool=callgrind`.

use capture::{CaptureFiles, SegmentSource};
use trace::{
    ConnectionTrace, EngineConfig, SenderModel, SenderModels, SenderProfile, TraceEngine, TraceSink,
};

/// Counts.
#[derive(Default)]
struct Counts {
    connections: u64,
    again: u64,
    bytes: u64,
}

impl TraceSink for Counts {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.connections += 1;
        self.again += summary.server_sent.retransmitted() + summary.client_sent.retransmitted();
        self.bytes += summary.server_sent.bytes + summary.client_sent.bytes;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let profile =
        args.next().and_then(|name| SenderProfile::named(&name)).ok_or("which profile?")?;
    let repeats: u32 = args.next().ok_or("how often?")?.parse()?;
    let files: Vec<String> = args.collect();
    for _ in 0..repeats {
        let models = SenderModels::all(SenderModel::of(profile));
        let config = EngineConfig { models, ..EngineConfig::default() };
        let mut engine = TraceEngine::new(config, Counts::default());
        let mut source = CaptureFiles::new(&files);
        let mut batch = Vec::new();
        while source.next_batch(&mut batch)? {
            batch.iter().for_each(|segment| engine.on_segment(segment));
        }
        let (Counts { connections, again, bytes }, tally) = engine.finish_all();
        println!(
            "{} segments, {connections} connections, {again} again, {bytes} bytes",
            tally.segments
        );
    }
    Ok(())
}
