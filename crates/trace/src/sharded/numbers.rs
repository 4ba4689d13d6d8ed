//! The numbers of connections among all: each shard numbers only its own connections.

use super::SHARDS;
use super::notes::{Entry, NotedConnection, PositionedNote, ShardedSink, SinkPart};
use rustc_hash::FxHashMap;

/// The type of the notes of a sink's parts.
pub(super) type NoteOf<S> = <<S as ShardedSink>::Part as SinkPart>::Note;

/// A sink that receives the notes of its parts.
pub(super) struct Renumbered<S> {
    pub(super) sink: S,
    next: u64,
    /// Number of a connection among all, by shard and by the number that the shard has assigned.
    numbers: [FxHashMap<u64, u64>; SHARDS],
}

impl<S: ShardedSink> Renumbered<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, next: 0, numbers: Default::default() }
    }

    /// Replays the notes of one shard.
    pub(super) fn replay(&mut self, shard: usize, noted: &mut Vec<PositionedNote<NoteOf<S>>>) {
        noted.drain(..).for_each(|noted| self.deliver(shard, noted));
    }

    /// Replays the notes of all parts in the order of segments; `order` has the shard of each
    /// segment.
    pub(super) fn replay_all(
        &mut self,
        order: &[u8],
        noted: [&mut Vec<PositionedNote<NoteOf<S>>>; SHARDS],
    ) {
        let mut left = noted.map(|noted| noted.drain(..));
        for (at, &shard) in order.iter().enumerate() {
            let shard = usize::from(shard);
            let of_shard = &mut left[shard];
            while of_shard.as_slice().first().is_some_and(|next| next.place as usize == at)
                && let Some(noted) = of_shard.next()
            {
                self.deliver(shard, noted);
            }
        }
    }

    /// Delivers a note to the sink, under the connection's number among all shards.
    #[inline]
    fn deliver(&mut self, shard: usize, noted: PositionedNote<NoteOf<S>>) {
        let PositionedNote { connection: of_shard, entry, .. } = noted;
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
