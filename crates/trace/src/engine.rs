//! The engine: takes segments, sorts them by connection, and reports results.

use crate::config::EngineConfig;
use crate::connection::{Digesting, Side, TracedConnection};
use crate::sink::TraceSink;
use crate::summary::TraceEnd;
use crate::table::{ConnectionTable, FoundPlace, SegmentEnds};
use capture::Observed;
use segment::Flags;
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

/// Number of segments between two searches for idle connections.
const SWEEP_EVERY: u64 = 256;

/// A clock that goes back by more than this was set; the segments after it form another capture.
const CLOCK_SET: Duration = Duration::from_secs(60);

/// Counters of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineCounters {
    /// Number of segments.
    pub segments: u64,
    /// Number of `segments` that were skipped because their server is not a named one.
    pub of_others: u64,
    /// Connections started.
    pub connections: u64,
    /// Connections evicted because the table was full.
    pub evicted: u64,
    /// Segments with an earlier time than the one before, by a minute at most; they count as
    /// simultaneous with it.
    pub backwards: u64,
    /// Number of times that the clock went back by more than a minute. All connections ended there.
    pub clock_set: u64,
}

impl EngineCounters {
    /// Adds the counters of another part of the capture.
    pub(crate) const fn add(&mut self, other: &Self) {
        let Self { segments, of_others, connections, evicted, backwards, clock_set } = *other;
        self.segments += segments;
        self.of_others += of_others;
        self.connections += connections;
        self.evicted += evicted;
        self.backwards += backwards;
        // Each part sees the same reset of the clock, so it counts once.
        if clock_set > self.clock_set {
            self.clock_set = clock_set;
        }
    }
}

/// Rebuilds the senders of a capture. It reads no file and no clock.
pub struct TraceEngine<S> {
    part: EnginePart,
    sink: S,
    numbers: u64,
}

impl<S: TraceSink> TraceEngine<S> {
    /// Creates an engine that reports its results to `sink`.
    pub fn new(config: EngineConfig, sink: S) -> Self {
        Self { part: EnginePart::new(config), sink, numbers: 0 }
    }

    /// Takes the next segment of the capture.
    #[inline]
    pub fn on_segment(&mut self, segment: &Observed) {
        self.on_segment_between(&SegmentEnds::of(segment), segment);
    }

    /// Takes the next segment of the capture, with its connection key computed before.
    #[inline]
    pub(crate) fn on_segment_between(&mut self, ends: &SegmentEnds, segment: &Observed) {
        let Self { part, sink, numbers } = self;
        part.on_segment(ends, segment, &mut SinkHandle { sink, numbers });
    }

    /// Notes that no segment was captured until `now`, for live captures, and reports connections
    /// that have ended meanwhile. A file needs no such call: its results are the same without it.
    pub fn pass_time(&mut self, now: Instant) {
        self.part.pass_time(now, &mut self.sink);
    }

    /// Ends the connections that both sides have closed or one has reset. A source that has been
    /// quiet needs this, so that the engine does not wait for their last packets. No clock is
    /// involved, so late packets still have their own times.
    pub fn finish_over(&mut self) {
        self.part.finish_over(&mut self.sink);
    }

    /// Ends all open connections, and returns the sink with the counters.
    pub fn finish_all(mut self) -> (S, EngineCounters) {
        while self.finish_oldest() {}
        (self.sink, *self.part.counters())
    }

    /// Ends the least recently used connection; returns false if there is none.
    pub(crate) fn finish_oldest(&mut self) -> bool {
        self.part.finish_oldest(&mut self.sink)
    }

    /// Returns the sink.
    pub const fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Returns the counters so far.
    pub const fn counters(&self) -> &EngineCounters {
        self.part.counters()
    }
}

/// The sink of an engine, and the number of the next connection; parts of an engine share both.
pub(crate) struct SinkHandle<'a, S> {
    pub(crate) sink: &'a mut S,
    pub(crate) numbers: &'a mut u64,
}

/// An engine without its sink, or a part of one that has some of the connections.
pub(crate) struct EnginePart {
    config: EngineConfig,
    table: ConnectionTable,
    counters: EngineCounters,
    now: Instant,
}

impl EnginePart {
    pub(crate) fn new(config: EngineConfig) -> Self {
        let table = ConnectionTable::new();
        Self { config, table, counters: EngineCounters::default(), now: Instant::ZERO }
    }

    /// Takes the next segment of the capture, which has these `ends`.
    #[inline]
    pub(crate) fn on_segment<S: TraceSink>(
        &mut self,
        ends: &SegmentEnds,
        segment: &Observed,
        handle: &mut SinkHandle<'_, S>,
    ) {
        if segment.at >= self.now {
            self.now = segment.at;
            self.digest(ends, segment, handle);
        } else {
            self.on_earlier(ends, segment, handle);
        }
    }

    /// Takes a segment with an earlier time than the one before.
    #[cold]
    fn on_earlier<S: TraceSink>(
        &mut self,
        ends: &SegmentEnds,
        segment: &Observed,
        handle: &mut SinkHandle<'_, S>,
    ) {
        if segment.at + CLOCK_SET < self.now {
            self.counters.clock_set += 1;
            while self.finish_oldest(handle.sink) {}
            self.now = segment.at;
        } else {
            self.counters.backwards += 1;
        }
        self.digest(ends, &Observed { at: self.now, ..*segment }, handle);
    }

    fn pass_time<S: TraceSink>(&mut self, now: Instant, sink: &mut S) {
        self.now = self.now.max(now);
        self.compress_idle(sink);
    }

    /// Digests a segment: finds its connection, or begins one, and ends connections that are idle
    /// for too long.
    #[inline(always)]
    fn digest<S: TraceSink>(
        &mut self,
        ends: &SegmentEnds,
        segment: &Observed,
        handle: &mut SinkHandle<'_, S>,
    ) {
        self.counters.segments += 1;
        if !self.config.servers.concern(segment) {
            self.counters.of_others += 1;
            return;
        }
        let found = self.table.find(ends, segment);
        let idle = self.config.idle_timeout;
        if let Some(FoundPlace { place, side }) = found
            && let Some(connection) = self.table.connection_at(place, segment.at)
            && !segment.has(Flags::SYN)
            && segment.at.saturating_since(connection.last) <= idle
        {
            // Most segments are part of a connection that is in memory, and change nothing else.
            Self::process_segment(connection, side, segment, &self.config, handle.sink);
        } else {
            self.show_rare(found, ends, segment, handle);
        }
        if self.counters.segments.is_multiple_of(SWEEP_EVERY) {
            self.compress_idle(handle.sink);
        }
    }

    /// Shows a segment to its connection.
    #[inline(always)]
    fn process_segment<S: TraceSink>(
        connection: &mut TracedConnection,
        side: Side,
        segment: &Observed,
        config: &EngineConfig,
        sink: &mut S,
    ) {
        let was_over = connection.is_over;
        connection.on_segment(side, segment, &mut Digesting { config, sink: &mut *sink });
        if connection.is_over && !was_over {
            sink.on_over(&connection.traced_server(), segment.at);
        }
    }

    /// Shows a segment to its connection if that is new, is idle and compressed, or replaces one
    /// that is over.
    #[inline(never)]
    fn show_rare<S: TraceSink>(
        &mut self,
        found: Option<FoundPlace>,
        ends: &SegmentEnds,
        segment: &Observed,
        handle: &mut SinkHandle<'_, S>,
    ) {
        let FoundPlace { place, side } =
            match found.or_else(|| self.table.find_elsewhere(ends, segment)) {
                Some(found) => self.make_ready(found, ends, segment, handle),
                None => self.begin(ends, segment, handle),
            };
        if let Some(connection) = self.table.use_connection(place, segment.at) {
            Self::process_segment(connection, side, segment, &self.config, handle.sink);
        }
    }

    /// Returns the slot of a segment's connection. If the connection in the slot is over, a new one
    /// replaces it.
    fn make_ready<S: TraceSink>(
        &mut self,
        found: FoundPlace,
        ends: &SegmentEnds,
        segment: &Observed,
        handle: &mut SinkHandle<'_, S>,
    ) -> FoundPlace {
        match self.ends_before(found, segment) {
            Some(end) => {
                self.finish(found.place, end, handle.sink);
                let elsewhere = self.table.find_elsewhere(ends, segment);
                elsewhere.unwrap_or_else(|| self.begin(ends, segment, handle))
            }
            None => found,
        }
    }

    /// Compresses connections that have been idle for a while, and ends those that have been idle
    /// for too long.
    #[inline(never)]
    fn compress_idle<S: TraceSink>(&mut self, sink: &mut S) {
        if let Some(then) = self.now.as_nanos().checked_sub(self.config.compress_after.as_nanos()) {
            let then = Instant::from_nanos(then);
            while let Some(place) =
                self.table.compress_before(then, &mut Digesting { config: &self.config, sink })
            {
                self.finish(place, TraceEnd::Closed, sink);
            }
        }
        self.end_idle(sink);
    }

    /// Returns the reason why the connection in this slot is over, if `segment` is part of another
    /// one.
    fn ends_before(&mut self, found: FoundPlace, segment: &Observed) -> Option<TraceEnd> {
        let connection = self.table.at(found.place)?;
        if segment.has(Flags::SYN) && connection.is_replaced_by(found.side, segment) {
            return Some(TraceEnd::Replaced);
        }
        // The result must not depend on whether packets of other connections have made the engine
        // look for idle ones.
        let idle = segment.at.saturating_since(connection.last);
        (idle > self.config.idle_timeout).then_some(TraceEnd::Idle)
    }

    /// Begins a connection with its first segment. If `max_connections` are in memory, the least
    /// recently used one is ended.
    fn begin<S: TraceSink>(
        &mut self,
        ends: &SegmentEnds,
        segment: &Observed,
        handle: &mut SinkHandle<'_, S>,
    ) -> FoundPlace {
        if self.table.len() >= self.config.max_connections.max(1)
            && let Some((oldest, _)) = self.table.least_recently_used()
        {
            self.counters.evicted += 1;
            self.finish(oldest, TraceEnd::Evicted, handle.sink);
        }
        let number = *handle.numbers;
        *handle.numbers += 1;
        self.counters.connections += 1;
        let named = self.config.servers.end_of(segment);
        let connection = TracedConnection::new(number, segment, named);
        handle.sink.on_begin(&connection.traced_server(), segment.at);
        FoundPlace { place: self.table.insert(ends, segment, connection), side: 0 }
    }

    /// Ends the connections that have been idle for too long, if there are any.
    fn end_idle<S: TraceSink>(&mut self, sink: &mut S) {
        while let Some((oldest, last)) = self.table.least_recently_used()
            && self.now.saturating_since(last) > self.config.idle_timeout
        {
            self.finish(oldest, TraceEnd::Idle, sink);
        }
    }

    /// Ends all connections that have closed, the one with the oldest last packet first.
    fn finish_over<S: TraceSink>(&mut self, sink: &mut S) {
        let mut over = self.table.finished_connections();
        // The table is in the order of a hash; the connection with the oldest last packet must be
        // first.
        over.sort_by_key(|place| {
            self.table.at(*place).map(|connection| (connection.last, connection.number))
        });
        for place in over {
            self.finish(place, TraceEnd::Closed, sink);
        }
    }

    /// Ends a connection and removes it. `end`: the reason, unless the connection knows a better
    /// one.
    fn finish<S: TraceSink>(&mut self, place: u32, end: TraceEnd, sink: &mut S) {
        if let Some(mut connection) = self.table.remove(place) {
            let mut with = Digesting { config: &self.config, sink };
            connection.finish(&mut with);
            let end = connection.end().unwrap_or(end);
            with.sink.on_connection(&connection.summary(end));
        }
    }

    /// Ends the least recently used connection; returns false if there is none.
    pub(crate) fn finish_oldest<S: TraceSink>(&mut self, sink: &mut S) -> bool {
        let oldest = self.table.least_recently_used();
        if let Some((place, _)) = oldest {
            self.finish(place, TraceEnd::CaptureEnded, sink);
        }
        oldest.is_some()
    }

    /// Returns the counters so far.
    pub(crate) const fn counters(&self) -> &EngineCounters {
        &self.counters
    }
}
