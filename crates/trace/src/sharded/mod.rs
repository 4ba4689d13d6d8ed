//! The engine on several threads. It deals connections to shards by their two ends, and reports
//! results in the order of the segments that showed them.
//!
//! There are always [`SHARDS`] shards, each a [`TraceEngine`] with its part of the table, however
//! many threads run them. So results do not depend on the number of threads, to the byte.
//!
//! - The calling thread deals segments. It also gives the sink the notes of those parts that run
//!   beside shards (`notes`).
//! - `log` is the part of a sink that leaves everything to the calling thread.
//! - `workers` has the threads.
//! - `deal` assigns shards to threads. If there are two, the calling one runs a quarter of the
//!   shards; if there are more, none. Alone, it runs all.

mod deal;
mod log;
mod notes;
mod numbers;
mod workers;

pub use log::{EventLog, TraceEvent, Undivided};
pub use notes::{NotedConnection, Notes, ShardedSink, SinkPart};

use crate::config::EngineConfig;
use crate::engine::{EngineCounters, EnginePart, SinkHandle, TraceEngine};
use crate::table::SegmentEnds;
use capture::Observed;
use deal::shard_of;
use notes::{Marking, PositionedNote};
use numbers::Renumbered;
use std::io;
use workers::WorkerThreads;

/// Number of shards; more than threads, so that all threads have about the same load.
const SHARDS: usize = 8;

/// Number of connections that are ended before their results are reported.
const FINISHED_AT_ONCE: usize = 1024;

/// [`TraceEngine`] on several threads. Its results are the same on any number of them.
///
/// They differ from those of one [`TraceEngine`] in whatever depends on all connections at once.
/// Each shard has its part of [`EngineConfig::max_connections`], searches for idle connections
/// itself, and orders times by its own segments.
pub struct ShardedTraceEngine<S: ShardedSink>(Runs<S>);

/// The threads that run the shards.
enum Runs<S: ShardedSink> {
    Local(Box<LocalShards<S>>),
    Workers(Box<ThreadedShards<S>>),
}

/// Shards on several threads, and the sink of the calling one.
struct ThreadedShards<S: ShardedSink> {
    workers: WorkerThreads<S>,
    sink: Renumbered<S>,
}

/// All shards on the calling thread. They call the sink directly, and number connections together.
struct LocalShards<S> {
    shards: [EnginePart; SHARDS],
    sink: S,
    numbers: u64,
}

impl<S: ShardedSink> ShardedTraceEngine<S> {
    /// Creates an engine that reports to `sink`, on this many threads, the calling one included.
    ///
    /// # Errors
    /// If the system cannot start the threads.
    pub fn new(config: &EngineConfig, sink: S, threads: usize) -> io::Result<Self> {
        let max_connections = config.max_connections.div_ceil(SHARDS);
        let config = EngineConfig { max_connections, ..config.clone() };
        if threads <= 1 {
            let shards = std::array::from_fn(|_| EnginePart::new(config.clone()));
            return Ok(Self(Runs::Local(Box::new(LocalShards { shards, sink, numbers: 0 }))));
        }
        let workers = WorkerThreads::new(&config, &sink, threads)?;
        Ok(Self(Runs::Workers(Box::new(ThreadedShards { workers, sink: Renumbered::new(sink) }))))
    }

    /// Takes the next segment of the capture.
    #[inline]
    pub fn on_segment(&mut self, segment: &Observed) {
        match &mut self.0 {
            Runs::Local(here) => {
                let LocalShards { shards, sink, numbers } = &mut **here;
                let handle = &mut SinkHandle { sink: sink.whole(), numbers };
                let ends = SegmentEnds::of(segment);
                shards[shard_of(&ends)].on_segment(&ends, segment, handle);
            }
            Runs::Workers(apart) => apart.workers.assign_segment(segment, &mut apart.sink),
        }
    }

    /// Ends all open connections, shard by shard, and returns the sink with the counters.
    pub fn finish_all(self) -> (S, EngineCounters) {
        match self.0 {
            Runs::Local(here) => {
                let LocalShards { shards, mut sink, .. } = *here;
                let mut counters = EngineCounters::default();
                for mut shard in shards {
                    while shard.finish_oldest(sink.whole()) {}
                    counters.add(shard.counters());
                }
                (sink, counters)
            }
            Runs::Workers(apart) => {
                let ThreadedShards { workers, mut sink } = *apart;
                let counters = workers.finish(&mut sink);
                (sink.sink, counters)
            }
        }
    }
}

/// A part of the connections on another thread, with its part of the sink.
struct Shard<P>(TraceEngine<Marking<P>>);

impl<P: SinkPart> Shard<P> {
    fn new(config: EngineConfig, part: P) -> Self {
        Self(TraceEngine::new(config, Marking(part)))
    }

    /// Takes a segment with these ends, at this position in its round.
    #[inline]
    fn on_segment(&mut self, ends: &SegmentEnds, segment: &Observed, place: u32) {
        self.0.sink_mut().0.notes().set_place(place);
        self.0.on_segment_between(ends, segment);
    }

    /// Returns the notes, and reuses the memory of `instead` for the next ones.
    fn exchange(&mut self, instead: Vec<PositionedNote<P::Note>>) -> Vec<PositionedNote<P::Note>> {
        self.0.sink_mut().0.notes().exchange(instead)
    }

    /// Ends some of the open connections; returns false if there are none.
    fn finish_some(&mut self) -> bool {
        (0..FINISHED_AT_ONCE).filter(|_| self.0.finish_oldest()).count() > 0
    }

    /// Ends the shard: returns its counters, and its part of the sink.
    fn into_part(self) -> (EngineCounters, P) {
        let (Marking(part), counters) = self.0.finish_all();
        (counters, part)
    }
}
