//! The threads that run the shards. Rounds of segments go out, what was noted comes back, and is told when it is its
//! round's turn.

use super::deal::shard_of;
use super::notes::{Noted, ShardedSink, SinkPart};
use super::numbers::{NoteOf, Renumbered};
use super::{SHARDS, Shard};
use crate::config::EngineConfig;
use crate::engine::EngineTally;
use crate::table::SegmentEnds;
use capture::Observed;
use std::collections::VecDeque;
use std::io;
use std::panic;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Segments of a round: enough that passing it on costs nothing, few enough for a cache.
const ROUND: usize = 8192;
/// Segments of a shard in a round, with much to spare for one that has more than others.
const USUAL: usize = 2 * ROUND / SHARDS;
/// Rounds on their way.
const ROUNDS: usize = 4;
/// Pieces of what a thread still has at the end that are on their way.
const RESTS: usize = 4;

/// A shard's hand of a round: segments with their places in it, and on the way back what was noted of them.
#[derive(Debug)]
struct Dealt<N> {
    segments: Vec<(Observed, u32)>,
    noted: Vec<Noted<N>>,
}

impl<N> Default for Dealt<N> {
    fn default() -> Self {
        Self { segments: Vec::with_capacity(USUAL), noted: Vec::with_capacity(USUAL) }
    }
}

/// A thread, and the ways to it and back. What was dealt comes back in the order in which it went.
struct Hand<P: SinkPart> {
    to: Sender<(usize, Dealt<P::Note>)>,
    back: Receiver<Dealt<P::Note>>,
    /// What its shards still have at the end, shard by shard.
    rest: Receiver<Rest<P>>,
    thread: JoinHandle<()>,
}

/// What is noted at the end of a shard, or its counts and its part of the sink behind all of that.
enum Rest<P: SinkPart> {
    Noted(Vec<Noted<P::Note>>),
    Over(Box<(EngineTally, P)>),
}

/// The threads, and what is on its way.
pub(super) struct Crew<S: ShardedSink> {
    hands: Vec<Hand<S::Part>>,
    /// Being dealt.
    dealing: [Dealt<NoteOf<S>>; SHARDS],
    /// The shards of its segments, in their order.
    order: Vec<u8>,
    /// The same of rounds that are out.
    out: VecDeque<Vec<u8>>,
    /// To be filled again.
    spare: Vec<Dealt<NoteOf<S>>>,
}

impl<S: ShardedSink> Crew<S> {
    pub(super) fn new(config: &EngineConfig, sink: &S, threads: usize) -> io::Result<Self> {
        let hands = (0..threads).map(|first| {
            let (to, dealt) = channel();
            let (to_back, back) = channel();
            let (to_rest, rest) = sync_channel(RESTS);
            let config = config.clone();
            let shards = (first..SHARDS).step_by(threads);
            let parts: Vec<_> = shards.map(|number| (number, sink.part())).collect();
            let work = move || {
                // Senders cannot change threads, so they begin where they are.
                let parts = parts.into_iter();
                let shards = parts.map(|(number, part)| (number, Shard::new(config.clone(), part)));
                run(shards.collect(), &dealt, (&to_back, &to_rest));
            };
            let thread = thread::Builder::new().name(format!("trace {first}")).spawn(work)?;
            Ok(Hand { to, back, rest, thread })
        });
        let hands = hands.collect::<io::Result<_>>()?;
        let (dealing, order, out) = (Default::default(), Vec::new(), VecDeque::new());
        Ok(Self { hands, dealing, order, out, spare: Vec::new() })
    }

    /// Deals a segment. Tells `sink` what has come back if a round is full by it.
    #[inline]
    pub(super) fn deal(&mut self, segment: &Observed, sink: &mut Renumbered<S>) {
        let shard = shard_of(&SegmentEnds::of(segment));
        self.dealing[shard].segments.push((*segment, self.order.len() as u32));
        self.order.push(shard as u8);
        if self.order.len() == ROUND {
            self.send_out();
            self.tell(sink, ROUNDS);
        }
    }

    /// Sends the round out that was being dealt.
    fn send_out(&mut self) {
        self.out.push_back(std::mem::replace(&mut self.order, Vec::with_capacity(ROUND)));
        for (shard, dealt) in self.dealing.iter_mut().enumerate() {
            let dealt = std::mem::replace(dealt, self.spare.pop().unwrap_or_default());
            // Nobody takes it if the thread has panicked, which shows when its answer is waited for.
            let _ = self.hands[shard % self.hands.len()].to.send((shard, dealt));
        }
    }

    /// Tells of rounds until no more than `most` are out.
    fn tell(&mut self, sink: &mut Renumbered<S>, most: usize) {
        while self.out.len() > most
            && let Some(order) = self.out.pop_front()
        {
            let mut answers: [Dealt<NoteOf<S>>; SHARDS] = Default::default();
            for (shard, answer) in answers.iter_mut().enumerate() {
                *answer = self.answer_of(shard);
            }
            sink.replay_all(&order, answers.each_mut().map(|answer| &mut answer.noted));
            self.spare.extend(answers.into_iter().map(|mut answer| {
                answer.segments.clear();
                answer
            }));
        }
    }

    /// The next answer of a shard. A panic of its thread is everybody's.
    fn answer_of(&mut self, shard: usize) -> Dealt<NoteOf<S>> {
        let hand = shard % self.hands.len();
        if let Ok(answer) = self.hands[hand].back.recv() {
            return answer;
        }
        let Hand { thread, .. } = self.hands.swap_remove(hand);
        panic::resume_unwind(thread.join().err().unwrap_or_else(|| Box::new("a thread ended")));
    }

    /// Tells of all that is out and under way, and joins the parts of the sink.
    pub(super) fn finish(mut self, sink: &mut Renumbered<S>) -> EngineTally {
        self.send_out();
        self.tell(sink, 0);
        let mut ends = Vec::with_capacity(self.hands.len());
        for Hand { to, rest, thread, .. } in self.hands {
            // Without more to come a thread ends its shards.
            drop(to);
            ends.push((rest, thread));
        }
        let mut tally = EngineTally::default();
        for shard in 0..SHARDS {
            // It ends with the counts, or with the thread.
            for piece in &ends[shard % ends.len()].0 {
                match piece {
                    Rest::Noted(mut noted) => sink.replay(shard, &mut noted),
                    Rest::Over(over) => {
                        let (of_shard, part) = *over;
                        tally.add(&of_shard);
                        sink.sink.join(part);
                        break;
                    }
                }
            }
        }
        for (_, thread) in ends {
            thread.join().unwrap_or_else(|why| panic::resume_unwind(why));
        }
        tally
    }
}

/// What a thread does: answers what is dealt to a shard with what was noted of it, and tells at the end what its shards
/// still have.
fn run<P: SinkPart>(
    mut shards: Vec<(usize, Shard<P>)>,
    hands: &Receiver<(usize, Dealt<P::Note>)>,
    (back, rest): (&Sender<Dealt<P::Note>>, &SyncSender<Rest<P>>),
) {
    while let Ok((number, mut dealt)) = hands.recv() {
        if let Some((_, shard)) = shards.iter_mut().find(|(of, _)| *of == number) {
            for (segment, place) in &dealt.segments {
                shard.on_segment(segment, *place);
            }
            dealt.noted = shard.exchange(std::mem::take(&mut dealt.noted));
        }
        if back.send(dealt).is_err() {
            return;
        }
    }
    for (_, mut shard) in shards {
        while shard.finish_some() {
            if rest.send(Rest::Noted(shard.exchange(Vec::new()))).is_err() {
                return;
            }
        }
        if rest.send(Rest::Over(Box::new(shard.into_part()))).is_err() {
            return;
        }
    }
}
