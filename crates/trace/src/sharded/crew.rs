//! The threads that run the shards. Rounds of segments go out, what was found comes back, and is told when it is its
//! round's turn.

use super::deal::shard_of;
use super::log::{Found, Renumbered, Wants};
use super::{SHARDS, Shard};
use crate::config::EngineConfig;
use crate::engine::EngineTally;
use crate::sink::TraceSink;
use capture::Observed;
use std::collections::VecDeque;
use std::io;
use std::panic;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Segments of a round: enough that passing it on costs nothing, few enough for a cache.
const ROUND: usize = 8192;
/// Rounds on their way.
const ROUNDS: usize = 4;
/// Pieces of what a thread still has at the end that are on their way.
const RESTS: usize = 4;

/// A shard's part of a round: segments with their places in it.
#[derive(Debug, Default)]
struct Part {
    segments: Vec<Observed>,
    places: Vec<u32>,
    found: Found,
}

/// A thread, and the ways to it and back. Parts come back in the order in which they went.
struct Hand {
    to: Sender<(usize, Part)>,
    back: Receiver<Part>,
    /// What its shards still have at the end, shard by shard.
    rest: Receiver<Rest>,
    thread: JoinHandle<()>,
}

/// What is found at the end of a shard, or its counts behind all of that.
enum Rest {
    Found(Found),
    Over(EngineTally),
}

/// The threads, and what is on its way.
pub(super) struct Crew {
    hands: Vec<Hand>,
    /// Being dealt.
    parts: [Part; SHARDS],
    /// The shards of its segments, in their order.
    dealt: Vec<u8>,
    /// The same of rounds that are out.
    out: VecDeque<Vec<u8>>,
    /// Parts to be filled again.
    spare: Vec<Part>,
}

impl Crew {
    pub(super) fn new(config: &EngineConfig, wants: Wants, threads: usize) -> io::Result<Self> {
        let hands = (0..threads).map(|first| {
            let (to, parts) = channel();
            let (to_back, back) = channel();
            let (to_rest, rest) = sync_channel(RESTS);
            let config = config.clone();
            let work = move || {
                // Senders cannot change threads, so they begin where they are.
                let shards = (first..SHARDS).step_by(threads);
                let shards = shards.map(|number| (number, Shard::new(config.clone(), wants)));
                run(shards.collect(), &parts, (&to_back, &to_rest));
            };
            let thread = thread::Builder::new().name(format!("trace {first}")).spawn(work)?;
            Ok(Hand { to, back, rest, thread })
        });
        let hands = hands.collect::<io::Result<_>>()?;
        let (parts, dealt, out) = (Default::default(), Vec::new(), VecDeque::new());
        Ok(Self { hands, parts, dealt, out, spare: Vec::new() })
    }

    /// Deals a segment. Tells `sink` what has come back if a round is full by it.
    #[inline]
    pub(super) fn deal<S: TraceSink>(&mut self, segment: &Observed, sink: &mut Renumbered<S>) {
        let shard = shard_of(segment);
        let part = &mut self.parts[shard];
        part.segments.push(*segment);
        part.places.push(self.dealt.len() as u32);
        self.dealt.push(shard as u8);
        if self.dealt.len() == ROUND {
            self.send_out();
            self.tell(sink, ROUNDS);
        }
    }

    /// Sends the round out that was being dealt.
    fn send_out(&mut self) {
        self.out.push_back(std::mem::replace(&mut self.dealt, Vec::with_capacity(ROUND)));
        for (shard, part) in self.parts.iter_mut().enumerate() {
            let part = std::mem::replace(part, self.spare.pop().unwrap_or_default());
            // Nobody takes it if the thread has panicked, which shows when its answer is waited for.
            let _ = self.hands[shard % self.hands.len()].to.send((shard, part));
        }
    }

    /// Tells of rounds until no more than `most` are out.
    fn tell<S: TraceSink>(&mut self, sink: &mut Renumbered<S>, most: usize) {
        while self.out.len() > most
            && let Some(order) = self.out.pop_front()
        {
            let mut parts = [(); SHARDS].map(|()| Part::default());
            for (shard, part) in parts.iter_mut().enumerate() {
                *part = self.answer_of(shard);
            }
            sink.replay_all(&order, parts.each_mut().map(|part| &mut part.found));
            self.spare.extend(parts.into_iter().map(|mut part| {
                part.segments.clear();
                part.places.clear();
                part
            }));
        }
    }

    /// The next part of a shard that comes back. A panic of its thread is everybody's.
    fn answer_of(&mut self, shard: usize) -> Part {
        let hand = shard % self.hands.len();
        if let Ok(part) = self.hands[hand].back.recv() {
            return part;
        }
        let Hand { thread, .. } = self.hands.swap_remove(hand);
        panic::resume_unwind(thread.join().err().unwrap_or_else(|| Box::new("a thread ended")));
    }

    /// Tells of all that is out and under way.
    pub(super) fn finish<S: TraceSink>(mut self, sink: &mut Renumbered<S>) -> EngineTally {
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
                    Rest::Found(mut found) => sink.replay(shard, &mut found),
                    Rest::Over(of_shard) => {
                        tally.add(&of_shard);
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

/// What a thread does: answers each part with what was found in it, and tells at the end what its shards still have.
fn run(
    mut shards: Vec<(usize, Shard)>,
    parts: &Receiver<(usize, Part)>,
    (back, rest): (&Sender<Part>, &SyncSender<Rest>),
) {
    while let Ok((number, mut part)) = parts.recv() {
        if let Some((_, shard)) = shards.iter_mut().find(|(of, _)| *of == number) {
            for (segment, place) in part.segments.iter().zip(&part.places) {
                shard.on_segment(segment, *place);
            }
            part.found = shard.exchange(std::mem::take(&mut part.found));
        }
        if back.send(part).is_err() {
            return;
        }
    }
    for (_, mut shard) in shards {
        while shard.finish_some() {
            if rest.send(Rest::Found(shard.exchange(Found::new()))).is_err() {
                return;
            }
        }
        if rest.send(Rest::Over(*shard.0.tally())).is_err() {
            return;
        }
    }
}
