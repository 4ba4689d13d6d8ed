//! The numbers that connections have among all: shards number those that they have by themselves.

use super::SHARDS;
use super::notes::{Entry, Noted, ShardedSink, SinkPart};
use rustc_hash::FxHashMap;

/// What parts of a sink note.
pub(super) type NoteOf<S> = <<S as ShardedSink>::Part as SinkPart>::Note;

/// Which connection a note is about.
#[derive(Clone, Copy, Debug)]
pub struct NotedConnection<'a> {
    numbers: &'a FxHashMap<u64, u64>,
    shard: usize,
    of_shard: u64,
}

impl NotedConnection<'_> {
    /// A number that no other connection has. It says nothing else, and costs nothing.
    #[inline]
    pub const fn key(&self) -> u64 {
        self.of_shard * SHARDS as u64 + self.shard as u64
    }

    /// Its number among all, in the order of first packets: what [`TracedSender::connection`](crate::TracedSender) is
    /// where one thread does everything.
    pub fn number(&self) -> u64 {
        self.numbers.get(&self.of_shard).copied().unwrap_or(self.of_shard)
    }
}

/// A sink that is told what its parts have noted.
pub(super) struct Renumbered<S> {
    pub(super) sink: S,
    next: u64,
    /// Of each shard: the numbers of its connections among all, by those that it gives them.
    numbers: [FxHashMap<u64, u64>; SHARDS],
}

impl<S: ShardedSink> Renumbered<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, next: 0, numbers: Default::default() }
    }

    /// Tells what the part of one shard has noted.
    pub(super) fn replay(&mut self, shard: usize, noted: &mut Vec<Noted<NoteOf<S>>>) {
        noted.drain(..).for_each(|noted| self.tell(shard, noted));
    }

    /// Tells what all parts have noted, in the order of segments, of which these are the shards.
    pub(super) fn replay_all(&mut self, order: &[u8], noted: [&mut Vec<Noted<NoteOf<S>>>; SHARDS]) {
        let mut left = noted.map(|noted| noted.drain(..));
        for (at, &shard) in order.iter().enumerate() {
            let shard = usize::from(shard);
            let of_shard = &mut left[shard];
            while of_shard.as_slice().first().is_some_and(|next| next.place as usize == at)
                && let Some(noted) = of_shard.next()
            {
                self.tell(shard, noted);
            }
        }
    }

    #[inline]
    fn tell(&mut self, shard: usize, noted: Noted<NoteOf<S>>) {
        let Noted { connection: of_shard, entry, .. } = noted;
        let numbers = &mut self.numbers[shard];
        match entry {
            Entry::Note(note) => {
                self.sink.on_note(&NotedConnection { numbers, shard, of_shard }, note);
            }
            Entry::Begin => {
                numbers.insert(of_shard, self.next);
                self.next += 1;
            }
            Entry::End => drop(numbers.remove(&of_shard)),
        }
    }
}
