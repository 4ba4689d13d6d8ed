//! The numbers that connections have among all: shards number those that they have by themselves.

use super::SHARDS;
use super::notes::{Entry, Noted, NotedConnection, ShardedSink, SinkPart};
use rustc_hash::FxHashMap;

/// What parts of a sink note.
pub(super) type NoteOf<S> = <<S as ShardedSink>::Part as SinkPart>::Note;

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
                self.sink.on_note(&NotedConnection::new(numbers, shard, of_shard), note);
            }
            Entry::Begin => {
                numbers.insert(of_shard, self.next);
                self.next += 1;
            }
            Entry::End => drop(numbers.remove(&of_shard)),
        }
    }
}
