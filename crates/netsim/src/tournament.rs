//! A tournament that finds the lane with the first head, with eight contestants a round.
//!
//! Keys are split into time and tie, so that a scan of the eight times, which share a cache line,
//! decides a round. Ties are compared only if times are equal. Up to eight lanes are one round;
//! eight times as many cost one round more.

use crate::key::Key;

const WIDTH: usize = 8;

/// Eight contestants and the slot of the first among them.
#[derive(Clone, Copy, Debug)]
struct Round {
    times: [u64; WIDTH],
    ties: [u64; WIDTH],
    best: usize,
    /// One past the highest slot ever used: higher ones need not be scanned.
    used: usize,
}

impl Round {
    const EMPTY: Self =
        Self { times: [u64::MAX; WIDTH], ties: [u64::MAX; WIDTH], best: 0, used: 1 };

    #[inline]
    fn key(&self, slot: usize) -> Key {
        Key::from_parts(self.times[slot % WIDTH], self.ties[slot % WIDTH])
    }

    /// Sets the key of a slot; returns true if that changes the round's winner, or its key.
    #[inline]
    fn set_key(&mut self, slot: usize, key: Key) -> bool {
        let was_best = slot == self.best;
        let wins = was_best || key < self.key(self.best);
        (self.times[slot % WIDTH], self.ties[slot % WIDTH]) = key.into_parts();
        if was_best {
            self.best = self.earliest_slot();
            return true;
        }
        self.used = self.used.max(slot + 1);
        if wins {
            self.best = slot;
        }
        wins
    }

    #[inline]
    fn earliest_slot(&self) -> usize {
        let (mut best, mut time) = (0, self.times[0]);
        for slot in 1..self.used.min(WIDTH) {
            let other = self.times[slot];
            if other < time || (other == time && self.ties[slot] < self.ties[best]) {
                (best, time) = (slot, other);
            }
        }
        best
    }
}

/// The position of the contestant with the smallest key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Winner {
    round: usize,
    slot: usize,
}

/// Contestants with their keys, [`Key::NEVER`] at first.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// A complete tree in an array, the final first: round `n` sends its winner to slot
    /// `(n - 1) % WIDTH` of round `(n - 1) / WIDTH`.
    rounds: Vec<Round>,
    /// The first of the rounds in which contestants enter.
    first: usize,
}

impl Tournament {
    pub(crate) fn new(contestants: usize) -> Self {
        let (mut first, mut entries) = (0, 1);
        while entries * WIDTH < contestants {
            first += entries;
            entries *= WIDTH;
        }
        Self { rounds: vec![Round::EMPTY; first + entries], first }
    }

    /// Returns the maximum number of contestants.
    pub(crate) fn capacity(&self) -> usize {
        (self.rounds.len() - self.first) * WIDTH
    }

    /// Sets the key of a contestant.
    #[inline(always)]
    pub(crate) fn set_key(&mut self, contestant: usize, key: Key) {
        let (mut round, mut slot) = (self.first + contestant / WIDTH, contestant % WIDTH);
        let mut key = key;
        while self.rounds[round].set_key(slot, key) && round > 0 {
            key = self.rounds[round].key(self.rounds[round].best);
            (round, slot) = ((round - 1) / WIDTH, (round - 1) % WIDTH);
        }
    }

    /// Sets a new key for the winner. It is the best of each of its rounds, so nothing is compared
    /// with it.
    #[inline(always)]
    pub(crate) fn replace(&mut self, winner: Winner, key: Key) {
        let (mut slot, mut key) = (winner.slot, key);
        let mut number = winner.round;
        loop {
            let round = &mut self.rounds[number];
            debug_assert_eq!(slot, round.best);
            (round.times[slot % WIDTH], round.ties[slot % WIDTH]) = key.into_parts();
            round.best = round.earliest_slot();
            if number == 0 {
                return;
            }
            key = round.key(round.best);
            (number, slot) = ((number - 1) / WIDTH, (number - 1) % WIDTH);
        }
    }

    /// Returns the number of the winning contestant.
    #[inline]
    pub(crate) const fn contestant_number(&self, winner: Winner) -> usize {
        (winner.round - self.first) * WIDTH + winner.slot
    }

    /// Returns the contestant with the smallest key, and that key's time.
    #[inline]
    pub(crate) fn winner(&self) -> (Winner, u64) {
        let mut last = &self.rounds[0];
        let time = last.times[last.best % WIDTH];
        let mut round = 0;
        while round < self.first {
            round = round * WIDTH + 1 + last.best;
            last = &self.rounds[round];
        }
        (Winner { round, slot: last.best }, time)
    }

    /// Returns true if every key is [`Key::NEVER`].
    pub(crate) fn is_empty(&self) -> bool {
        self.rounds[0].key(self.rounds[0].best) == Key::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The trees have one, two and three levels of rounds. Keys rise, decrease, are equal in
        /// time and vanish.
        #[test]
        fn the_winner_has_the_smallest_key(
            size in prop_oneof![1usize..=8, 9usize..=64, 65usize..=200],
            entries in prop::collection::vec(
                (any::<prop::sample::Index>(), 0u64..20, any::<(bool, bool)>()),
                1..300,
            ),
        ) {
            let mut tournament = Tournament::new(size);
            let mut keys = vec![Key::NEVER; size];
            for (n, (who, time, (leaves, has_won))) in entries.into_iter().enumerate() {
                let key = if leaves { Key::NEVER } else { Key::from_parts(time, n as u64) };
                let first = tournament.winner().0;
                let who = if has_won { tournament.contestant_number(first) } else { who.index(size) };
                if has_won {
                    tournament.replace(first, key);
                } else {
                    tournament.set_key(who, key);
                }
                keys[who] = key;
                let smallest = keys.iter().min().copied();
                let (winner, time) = tournament.winner();
                let winner = tournament.contestant_number(winner);
                let smallest = smallest.unwrap_or(Key::NEVER);
                prop_assert_eq!(time, smallest.into_parts().0);
                prop_assert_eq!(tournament.is_empty(), smallest == Key::NEVER);
                prop_assert!(tournament.is_empty() || keys[winner] == smallest);
            }
        }
    }
}
