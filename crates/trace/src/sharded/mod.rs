//! The engine on several threads: connections are dealt to shards by their ends, and what shards find is told in
//! the order of the segments that showed it.
//!
//! There are always [`SHARDS`] shards, each a [`TraceEngine`] with its part of the table, however many threads run
//! them. So results do not depend on the number of threads, to the byte. The calling thread deals segments, and tells
//! the sink what the parts of it have noted that work beside shards (`notes`); `log` is the part of a sink that leaves
//! all to the calling thread. `crew` has the threads, and `deal` says who runs which shard: of two threads the calling
//! one runs a quarter of them, of more none. Alone, it runs all.

mod crew;
mod deal;
mod log;
mod notes;
mod numbers;

pub use log::{EventLog, TraceEvent, Undivided};
pub use notes::{NotedConnection, Notes, ShardedSink, SinkPart};

use crate::config::EngineConfig;
use crate::engine::{EnginePart, EngineTally, Telling, TraceEngine};
use crate::table::SegmentEnds;
use capture::Observed;
use crew::Crew;
use deal::shard_of;
use notes::{Marking, Noted};
use numbers::Renumbered;
use std::io;

/// Parts of the connections; more than threads, so that these have much the same to do.
const SHARDS: usize = 8;

/// Connections that are ended before what was found of them is told.
const FINISHED_AT_ONCE: usize = 1024;

/// [`TraceEngine`] on several threads. Its results are the same on any number of them.
///
/// They differ from those of one [`TraceEngine`] where that looks at all connections at once: each shard has its part
/// of [`EngineConfig::max_connections`], looks by itself for idle connections, and orders times by
/// its own segments.
pub struct ShardedTraceEngine<S: ShardedSink>(Runs<S>);

/// Who runs the shards.
enum Runs<S: ShardedSink> {
    Here(Box<Here<S>>),
    Crew(Box<Apart<S>>),
}

/// Shards on several threads, and whom the calling one tells.
struct Apart<S: ShardedSink> {
    crew: Crew<S>,
    sink: Renumbered<S>,
}

/// All shards on the calling thread. They tell the sink themselves, and number connections together.
struct Here<S> {
    shards: [EnginePart; SHARDS],
    sink: S,
    numbers: u64,
}

impl<S: ShardedSink> ShardedTraceEngine<S> {
    /// An engine that tells `sink` what it finds, on so many threads, the calling one included.
    ///
    /// # Errors
    /// If there are no more threads.
    pub fn new(config: &EngineConfig, sink: S, threads: usize) -> io::Result<Self> {
        let max_connections = config.max_connections.div_ceil(SHARDS);
        let config = EngineConfig { max_connections, ..config.clone() };
        if threads <= 1 {
            let shards = std::array::from_fn(|_| EnginePart::new(config.clone()));
            return Ok(Self(Runs::Here(Box::new(Here { shards, sink, numbers: 0 }))));
        }
        let crew = Crew::new(&config, &sink, threads)?;
        Ok(Self(Runs::Crew(Box::new(Apart { crew, sink: Renumbered::new(sink) }))))
    }

    /// Takes the next segment of the capture.
    #[inline]
    pub fn on_segment(&mut self, segment: &Observed) {
        match &mut self.0 {
            Runs::Here(here) => {
                let Here { shards, sink, numbers } = &mut **here;
                let told = &mut Telling { sink: sink.whole(), numbers };
                let ends = SegmentEnds::of(segment);
                shards[shard_of(&ends)].on_segment(&ends, segment, told);
            }
            Runs::Crew(apart) => apart.crew.deal(segment, &mut apart.sink),
        }
    }

    /// Ends what is under way, shard by shard, and gives the sink back with the counts.
    pub fn finish_all(self) -> (S, EngineTally) {
        match self.0 {
            Runs::Here(here) => {
                let Here { shards, mut sink, .. } = *here;
                let mut tally = EngineTally::default();
                for mut shard in shards {
                    while shard.finish_oldest(sink.whole()) {}
                    tally.add(shard.tally());
                }
                (sink, tally)
            }
            Runs::Crew(apart) => {
                let Apart { crew, mut sink } = *apart;
                let tally = crew.finish(&mut sink);
                (sink.sink, tally)
            }
        }
    }
}

/// A part of the connections on another thread, with the part of the sink beside it.
struct Shard<P>(TraceEngine<Marking<P>>);

impl<P: SinkPart> Shard<P> {
    fn new(config: EngineConfig, part: P) -> Self {
        Self(TraceEngine::new(config, Marking(part)))
    }

    /// Takes a segment with these ends, at this place among the segments of its round.
    #[inline]
    fn on_segment(&mut self, ends: &SegmentEnds, segment: &Observed, place: u32) {
        self.0.sink_mut().0.notes().set_place(place);
        self.0.on_segment_between(ends, segment);
    }

    /// Takes what was noted; goes on in the room of `instead`.
    fn exchange(&mut self, instead: Vec<Noted<P::Note>>) -> Vec<Noted<P::Note>> {
        self.0.sink_mut().0.notes().exchange(instead)
    }

    /// Ends some of the connections under way; false if there are none.
    fn finish_some(&mut self) -> bool {
        (0..FINISHED_AT_ONCE).filter(|_| self.0.finish_oldest()).count() > 0
    }

    /// Ends it: its counts, and its part of the sink.
    fn into_part(self) -> (EngineTally, P) {
        let (Marking(part), tally) = self.0.finish_all();
        (tally, part)
    }
}
