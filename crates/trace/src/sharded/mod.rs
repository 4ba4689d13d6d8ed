//! The engine on several threads: connections are dealt to shards by their ends, and what shards find is told in
//! the order of the segments that showed it.
//!
//! There are always [`SHARDS`] shards, each a [`TraceEngine`] with its part of the table, however many threads run
//! them. So results do not depend on the number of threads, to the byte. The calling thread deals segments and tells
//! the sink (`crew` has the other threads, `log` what they send back); alone, it also runs the shards.

mod crew;
mod deal;
mod log;

use crate::engine::{EngineConfig, EngineTally, TraceEngine};
use crate::sink::TraceSink;
use capture::Observed;
use crew::Crew;
use deal::shard_of;
use log::{EventLog, Found, Renumbered, Wants};
use std::io;

/// Parts of the connections; more than threads, so that these have much the same to do.
const SHARDS: usize = 8;

/// Connections that are ended before what was found of them is told.
const FINISHED_AT_ONCE: usize = 1024;

/// [`TraceEngine`] on several threads. Its results are the same on any number of them.
///
/// They differ from those of one [`TraceEngine`] where that looks at all connections at once: each shard has its part
/// of [`EngineConfig::max_connections`], looks by itself for idle connections, and orders times by its own segments.
pub struct ShardedTraceEngine<S> {
    sink: Renumbered<S>,
    runs: Runs,
}

/// Who runs the shards.
enum Runs {
    Here(Box<[Shard; SHARDS]>),
    Crew(Box<Crew>),
}

impl<S: TraceSink> ShardedTraceEngine<S> {
    /// An engine that tells `sink` what it finds, on so many threads beside the calling one; with none or one, on the
    /// calling one alone.
    ///
    /// # Errors
    /// If there are no more threads.
    pub fn new(config: &EngineConfig, sink: S, threads: usize) -> io::Result<Self> {
        let wants = Wants::of(&sink);
        let most = config.max_connections.div_ceil(SHARDS);
        let config = EngineConfig { max_connections: most, ..config.clone() };
        let runs = match threads {
            0 | 1 => {
                Runs::Here(Box::new(std::array::from_fn(|_| Shard::new(config.clone(), wants))))
            }
            _ => Runs::Crew(Box::new(Crew::new(&config, wants, threads.min(SHARDS))?)),
        };
        Ok(Self { sink: Renumbered::new(sink), runs })
    }

    /// Takes the next segment of the capture.
    #[inline]
    pub fn on_segment(&mut self, segment: &Observed) {
        match &mut self.runs {
            Runs::Here(shards) => {
                let number = shard_of(segment);
                let shard = &mut shards[number];
                shard.on_segment(segment, 0);
                if shard.has_found() {
                    shard.tell(number, &mut self.sink);
                }
            }
            Runs::Crew(crew) => crew.deal(segment, &mut self.sink),
        }
    }

    /// Ends what is under way, shard by shard, and gives the sink back with the counts.
    pub fn finish_all(self) -> (S, EngineTally) {
        let Self { mut sink, runs } = self;
        let tally = match runs {
            Runs::Here(shards) => {
                let mut tally = EngineTally::default();
                for (number, mut shard) in shards.into_iter().enumerate() {
                    while shard.finish_some() {
                        shard.tell(number, &mut sink);
                    }
                    tally.add(shard.0.tally());
                }
                tally
            }
            Runs::Crew(crew) => crew.finish(&mut sink),
        };
        (sink.into_inner(), tally)
    }
}

/// A part of the connections.
struct Shard(TraceEngine<EventLog>);

impl Shard {
    fn new(config: EngineConfig, wants: Wants) -> Self {
        Self(TraceEngine::new(config, EventLog::new(wants)))
    }

    /// Takes a segment that has this place among those of its round.
    #[inline]
    fn on_segment(&mut self, segment: &Observed, place: u32) {
        self.0.sink_mut().set_place(place);
        self.0.on_segment(segment);
    }

    #[inline]
    fn has_found(&mut self) -> bool {
        self.0.sink_mut().len() > 0
    }

    /// Takes what was found; goes on in the room of `instead`.
    fn exchange(&mut self, instead: Found) -> Found {
        self.0.sink_mut().exchange(instead)
    }

    /// Tells what was found.
    fn tell<S: TraceSink>(&mut self, number: usize, sink: &mut Renumbered<S>) {
        let mut found = self.exchange(Found::new());
        sink.replay(number, &mut found);
        self.exchange(found);
    }

    /// Ends some of the connections under way; false if there are none.
    fn finish_some(&mut self) -> bool {
        (0..FINISHED_AT_ONCE).filter(|_| self.0.finish_oldest()).count() > 0
    }
}
