//! Measures the cost of the engine: reads captures and rebuilds all senders, as
//! `headstart analyze --sender PROFILE --jobs THREADS` does.
//!
//! `trace_speed PROFILE THREADS FILE…`; count instructions with `valgrind --tool=callgrind`. With 0
//! threads a single engine without shards does all the work.

use capture::{CaptureFiles, Observed, SegmentSource};
use trace::{
    ConnectionTrace, EngineConfig, EngineCounters, SenderModel, SenderModels, SenderProfile,
    ShardedTraceEngine, TraceEngine, TraceSink, Undivided,
};

/// Counts the results.
#[derive(Default)]
struct Counts {
    connections: u64,
    again: u64,
    bytes: u64,
}

impl TraceSink for Counts {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.connections += 1;
        self.again +=
            summary.server_sent.retransmission_count() + summary.client_sent.retransmission_count();
        self.bytes += summary.server_sent.bytes + summary.client_sent.bytes;
    }

    fn wants_packets(&self) -> bool {
        false
    }
}

fn read(files: &[String], mut take: impl FnMut(&Observed)) -> Result<(), capture::CaptureError> {
    let (mut source, mut batch) = (CaptureFiles::new(files), Vec::new());
    while source.next_batch(&mut batch)? {
        batch.iter().for_each(&mut take);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let profile =
        args.next().and_then(|name| SenderProfile::named(&name)).ok_or("which profile?")?;
    let threads: usize = args.next().ok_or("how many threads?")?.parse()?;
    let files: Vec<String> = args.collect();
    let models = SenderModels::all(SenderModel::of(profile));
    let config = EngineConfig { models, ..EngineConfig::default() };
    let (counts, counters): (Counts, EngineCounters) = if threads == 0 {
        let mut engine = TraceEngine::new(config, Counts::default());
        read(&files, |segment| engine.on_segment(segment))?;
        engine.finish_all()
    } else {
        let mut engine = ShardedTraceEngine::new(&config, Undivided(Counts::default()), threads)?;
        read(&files, |segment| engine.on_segment(segment))?;
        let (Undivided(counts), counters) = engine.finish_all();
        (counts, counters)
    };
    let Counts { connections, again, bytes } = counts;
    println!(
        "{} segments, {connections} connections, {again} again, {bytes} bytes",
        counters.segments
    );
    Ok(())
}
