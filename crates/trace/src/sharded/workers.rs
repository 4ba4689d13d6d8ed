//! The threads that run the shards: the calling one, which also reports, and others. Rounds of
//! segments go out and their notes return. The calling thread replays the notes round by round.

use super::deal::{Shares, shard_of};
use super::notes::{PositionedNote, ShardedSink, SinkPart};
use super::numbers::{NoteOf, Renumbered};
use super::{SHARDS, Shard};
use crate::config::EngineConfig;
use crate::engine::EngineCounters;
use crate::table::SegmentEnds;
use capture::Observed;
use std::collections::VecDeque;
use std::io;
use std::panic;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Number of segments in a round: enough to make passing it on cheap, few enough for a cache.
const ROUND: usize = 8192;
/// Maximum number of rounds that are out.
const ROUNDS: usize = 4;
/// Maximum number of pieces of final results of a thread that are queued.
const RESTS: usize = 4;

/// A shard's part of a round: segments with their positions in it, and on the way back the notes
/// about them.
#[derive(Debug)]
struct DealtRound<N> {
    segments: Vec<(Observed, u32)>,
    noted: Vec<PositionedNote<N>>,
}

impl<N> Default for DealtRound<N> {
    fn default() -> Self {
        Self { segments: Vec::new(), noted: Vec::new() }
    }
}

/// Another thread, and the channels to it and back. Results return in the order of the rounds.
struct WorkerThread<P: SinkPart> {
    to: Sender<(usize, DealtRound<P::Note>)>,
    back: Receiver<DealtRound<P::Note>>,
    /// Final results of its shards, shard by shard.
    rest: Receiver<ShardEnd<P>>,
    thread: JoinHandle<()>,
}

/// Notes at the end of a shard, or its counters and its part of the sink after all notes.
enum ShardEnd<P: SinkPart> {
    Noted(Vec<PositionedNote<P::Note>>),
    Over(Box<(EngineCounters, P)>),
}

/// A round that is out.
struct Out<N> {
    /// Shards of its segments, in the order of the segments.
    order: Vec<u8>,
    /// Notes of the calling thread's shards about it.
    own: Vec<Vec<PositionedNote<N>>>,
}

/// The threads, and the rounds that are out.
pub(super) struct WorkerThreads<S: ShardedSink> {
    shares: Shares,
    /// Shards of the calling thread, the first ones.
    own: Vec<Shard<S::Part>>,
    hands: Vec<WorkerThread<S::Part>>,
    /// The round that is being dealt, by shard of the other threads.
    dealing: [DealtRound<NoteOf<S>>; SHARDS],
    /// Shards of the round's segments, in the order of the segments.
    order: Vec<u8>,
    /// Rounds that are out, the oldest first.
    out: VecDeque<Out<NoteOf<S>>>,
    /// Empty buffers for reuse.
    spare: Vec<DealtRound<NoteOf<S>>>,
}

impl<S: ShardedSink> WorkerThreads<S> {
    /// Starts this many threads, at least two; the calling one is included.
    pub(super) fn new(config: &EngineConfig, sink: &S, threads: usize) -> io::Result<Self> {
        let shares = Shares::for_threads(threads);
        let hands = (0..shares.hands).map(|hand| {
            let shards = shares.shards_of(hand).map(|shard| (shard, sink.part())).collect();
            WorkerThread::new(config, hand, shards)
        });
        let hands = hands.collect::<io::Result<_>>()?;
        let own = (0..shares.own).map(|_| Shard::new(config.clone(), sink.part())).collect();
        let (dealing, order, out) = (Default::default(), Vec::new(), VecDeque::new());
        Ok(Self { shares, own, hands, dealing, order, out, spare: Vec::new() })
    }

    /// Digests a segment, or deals it to another thread. If that fills a round, reports the
    /// returned results to `sink`.
    #[inline]
    pub(super) fn assign_segment(&mut self, segment: &Observed, sink: &mut Renumbered<S>) {
        let ends = SegmentEnds::of(segment);
        let (shard, place) = (shard_of(&ends), self.order.len() as u32);
        self.order.push(shard as u8);
        match self.own.get_mut(shard) {
            Some(own) => own.on_segment(&ends, segment, place),
            None => self.dealing[shard].segments.push((*segment, place)),
        }
        if self.order.len() == ROUND {
            self.send_out();
            self.deliver(sink, ROUNDS);
        }
    }

    /// Sends out the round that was being dealt.
    fn send_out(&mut self) {
        let Self { shares, own, hands, dealing, order, out, spare } = self;
        for (shard, dealt) in dealing.iter_mut().enumerate() {
            if let Some(hand) = shares.hand_of(shard) {
                let dealt = std::mem::replace(dealt, spare.pop().unwrap_or_default());
                // Sending fails only if the thread has panicked. Waiting for its answer reveals
                // that.
                let _ = hands[hand].to.send((shard, dealt));
            }
        }
        let room = |shard: &mut Shard<_>| shard.exchange(spare.pop().unwrap_or_default().noted);
        let own = own.iter_mut().map(room).collect();
        out.push_back(Out { order: std::mem::replace(order, Vec::with_capacity(ROUND)), own });
    }

    /// Reports rounds until no more than `most` are out.
    fn deliver(&mut self, sink: &mut Renumbered<S>, most: usize) {
        while self.out.len() > most
            && let Some(Out { order, own }) = self.out.pop_front()
        {
            // The calling thread has the first shards.
            let mut own = own.into_iter();
            let mut answers: [_; SHARDS] = std::array::from_fn(|shard| match own.next() {
                Some(noted) => DealtRound { segments: Vec::new(), noted },
                None => self.answer_of(shard),
            });
            sink.replay_all(&order, answers.each_mut().map(|answer| &mut answer.noted));
            self.spare.extend(answers.into_iter().map(|mut answer| {
                answer.segments.clear();
                answer
            }));
        }
    }

    /// Returns the next answer of a shard of another thread. A panic of that thread propagates.
    fn answer_of(&mut self, shard: usize) -> DealtRound<NoteOf<S>> {
        let hand = shard % self.shares.hands;
        if let Ok(answer) = self.hands[hand].back.recv() {
            return answer;
        }
        let WorkerThread { thread, .. } = self.hands.swap_remove(hand);
        panic::resume_unwind(thread.join().err().unwrap_or_else(|| Box::new("a thread ended")));
    }

    /// Reports everything that is out or open, and joins the parts of the sink.
    pub(super) fn finish(mut self, sink: &mut Renumbered<S>) -> EngineCounters {
        self.send_out();
        self.deliver(sink, 0);
        let Self { shares, own, hands, .. } = self;
        let mut ends = Vec::with_capacity(hands.len());
        for WorkerThread { to, rest, thread, .. } in hands {
            // A closed channel makes a thread end its shards.
            drop(to);
            ends.push((rest, thread));
        }
        let mut counters = EngineCounters::default();
        let mut take = |shard, piece| match piece {
            ShardEnd::Noted(mut noted) => sink.replay(shard, &mut noted),
            ShardEnd::Over(over) => {
                let (of_shard, part) = *over;
                counters.add(&of_shard);
                sink.sink.join(part);
            }
        };
        for (shard, own) in own.into_iter().enumerate() {
            own.end(|piece| {
                take(shard, piece);
                true
            });
        }
        for shard in shares.own..SHARDS {
            // It ends with the counters, or with the thread.
            for piece in &ends[shard % ends.len()].0 {
                let is_over = matches!(piece, ShardEnd::Over(_));
                take(shard, piece);
                if is_over {
                    break;
                }
            }
        }
        for (_, thread) in ends {
            thread.join().unwrap_or_else(|why| panic::resume_unwind(why));
        }
        counters
    }
}

impl<P: SinkPart> WorkerThread<P> {
    /// Starts another thread, of this number, with the parts of the sink for its shards.
    fn new(config: &EngineConfig, number: usize, parts: Vec<(usize, P)>) -> io::Result<Self> {
        let (to, dealt) = channel();
        let (to_back, back) = channel();
        let (to_rest, rest) = sync_channel(RESTS);
        let config = config.clone();
        let work = move || {
            // Senders cannot move between threads, so each thread creates its own.
            let parts = parts.into_iter();
            let shards = parts.map(|(shard, part)| (shard, Shard::new(config.clone(), part)));
            run(shards.collect(), &dealt, &WorkerResults { rounds: to_back, ends: to_rest });
        };
        let thread = thread::Builder::new().name(format!("trace {number}")).spawn(work)?;
        Ok(Self { to, back, rest, thread })
    }
}

impl<P: SinkPart> Shard<P> {
    /// Ends the shard, and passes its remaining notes to `deliver` piece by piece, until `deliver`
    /// returns false.
    fn end(mut self, mut deliver: impl FnMut(ShardEnd<P>) -> bool) -> bool {
        while self.finish_some() {
            if !deliver(ShardEnd::Noted(self.exchange(Vec::new()))) {
                return false;
            }
        }
        deliver(ShardEnd::Over(Box::new(self.into_part())))
    }
}

/// Channels for the results of a thread.
struct WorkerResults<P: SinkPart> {
    /// Notes of each round.
    rounds: Sender<DealtRound<P::Note>>,
    /// Remaining results at the end.
    ends: SyncSender<ShardEnd<P>>,
}

/// Runs the main loop of a thread: answers each dealt part of a round with its notes, and passes on
/// the remaining results at the end.
fn run<P: SinkPart>(
    mut shards: Vec<(usize, Shard<P>)>,
    hands: &Receiver<(usize, DealtRound<P::Note>)>,
    results: &WorkerResults<P>,
) {
    while let Ok((number, mut dealt)) = hands.recv() {
        if let Some((_, shard)) = shards.iter_mut().find(|(of, _)| *of == number) {
            for (segment, place) in &dealt.segments {
                shard.on_segment(&SegmentEnds::of(segment), segment, *place);
            }
            dealt.noted = shard.exchange(std::mem::take(&mut dealt.noted));
        }
        if results.rounds.send(dealt).is_err() {
            return;
        }
    }
    for (_, shard) in shards {
        if !shard.end(|piece| results.ends.send(piece).is_ok()) {
            return;
        }
    }
}
