//! The engine on several threads: connections are dealt to shards by their ends, and what shards find is told in
//! the order of the segments that showed it.
//!
//! There are always [`SHARDS`] shards, each a [`TraceEngine`] with its part of the table, however many threads run
//! them. So results do not depend on the number of threads, to the byte. The calling thread reads, deals and tells
//! the sink (`crew` has the other threads, `log` what they send back); alone, it also runs the shards.

mod crew;
mod deal;
mod log;

use crate::engine::{EngineConfig, EngineTally, TraceEngine};
use crate::sink::TraceSink;
use capture::Observed;
use crew::Crew;
use deal::shard_of;
use log::{EventLog, Renumbered};
use std::io;

/// Parts of the connections. A power of two; more than threads, so that these have much the same to do.
pub(crate) const SHARDS: usize = 8;

/// [`TraceEngine`] on several threads. Its results are the same on any number of them.
///
/// They differ from those of one [`TraceEngine`] where that looks at all connections at once: each shard has its part
/// of [`EngineConfig::max_connections`], and looks by itself for idle ones.
pub struct ShardedTraceEngine<S> {
    sink: Renumbered<S>,
    runs: Runs,
}

/// Who runs the shards.
enum Runs {
    Here(Box<[TraceEngine<EventLog>; SHARDS]>),
    Crew(Box<Crew>),
}

impl<S: TraceSink> ShardedTraceEngine<S> {
    /// An engine that tells `sink` what it finds, on so many threads beside the calling one; with none or one, on the
    /// calling one alone.
    ///
    /// # Errors
    /// If there are no more threads.
    pub fn new(config: &EngineConfig, sink: S, threads: usize) -> io::Result<Self> {
        let wants = log::Wants::of(&sink);
        let most = config.max_connections.div_ceil(SHARDS);
        let config = EngineConfig { max_connections: most, ..config.clone() };
        let runs = match threads {
            0 | 1 => {
                let shard = |_| TraceEngine::new(config.clone(), EventLog::new(wants));
                Runs::Here(Box::new(std::array::from_fn(shard)))
            }
            _ => Runs::Crew(Box::new(Crew::new(&config, wants, threads.min(SHARDS))?)),
        };
        Ok(Self { sink: Renumbered::new(sink), runs })
    }

    /// Takes the next segments of the capture.
    pub fn on_segments(&mut self, segments: &[Observed]) {
        match &mut self.runs {
            Runs::Here(shards) => {
                for segment in segments {
                    let shard = shard_of(segment);
                    let engine = &mut shards[shard];
                    engine.on_segment(segment);
                    if !engine.sink().is_empty() {
                        self.sink.replay(shard, engine.sink_mut());
                    }
                }
            }
            Runs::Crew(crew) => {
                for segment in segments {
                    crew.deal(segment, &mut self.sink);
                }
            }
        }
    }

    /// Ends what is under way, shard by shard, and gives the sink back with the counts.
    pub fn finish_all(mut self) -> (S, EngineTally) {
        let mut tally = EngineTally::default();
        match self.runs {
            Runs::Here(shards) => {
                for (shard, engine) in shards.into_iter().enumerate() {
                    let (mut found, of_shard) = engine.finish_all();
                    self.sink.replay(shard, &mut found);
                    tally.add(&of_shard);
                }
            }
            Runs::Crew(crew) => tally = crew.finish(&mut self.sink),
        }
        (self.sink.into_inner(), tally)
    }
}
