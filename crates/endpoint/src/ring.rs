//! Bytes of a stream by their offsets, in a ring that grows on demand. It holds written and
//! unacknowledged bytes, or delivered and unread ones, perhaps with gaps.

/// Smallest ring, bytes.
const LEAST: usize = 4096;
/// Largest ring that is kept when it is empty, bytes.
const KEPT: usize = 64 << 10;

/// Bytes from offset `start` on.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    /// The memory: a power of two, or empty. The byte at an offset is at that offset modulo the
    /// length.
    bytes: Vec<u8>,
    start: u64,
}

impl Ring {
    /// Returns the first offset that is kept.
    pub(crate) const fn start(&self) -> u64 {
        self.start
    }

    /// Returns the size of the memory, bytes.
    pub(crate) const fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Stores `data` at `offset`, which is not below the start.
    pub(crate) fn write_at(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        self.reserve((end - self.start) as usize);
        let at = self.index_of(offset);
        let first = data.len().min(self.bytes.len() - at);
        self.bytes[at..at + first].copy_from_slice(&data[..first]);
        self.bytes[..data.len() - first].copy_from_slice(&data[first..]);
    }

    /// Returns the bytes of `[from, to)`, which have been stored, in two pieces.
    pub(crate) fn slices(&self, from: u64, to: u64) -> [&[u8]; 2] {
        let len = (to - from) as usize;
        if len == 0 {
            return [&[], &[]];
        }
        let at = self.index_of(from);
        let first = len.min(self.bytes.len() - at);
        [&self.bytes[at..at + first], &self.bytes[..len - first]]
    }

    /// Drops the bytes below `to`; `empty`: no other byte is stored either.
    pub(crate) fn release(&mut self, to: u64, empty: bool) {
        self.start = self.start.max(to);
        if empty && self.bytes.len() > KEPT {
            self.bytes = Vec::new();
        }
    }

    fn index_of(&self, offset: u64) -> usize {
        offset as usize & (self.bytes.len() - 1)
    }

    fn reserve(&mut self, len: usize) {
        if len <= self.bytes.len() {
            return;
        }
        let bytes = vec![0; len.next_power_of_two().max(LEAST)];
        let old = Self { bytes: std::mem::replace(&mut self.bytes, bytes), start: self.start };
        let mut offset = self.start;
        for piece in old.slices(self.start, self.start + old.bytes.len() as u64) {
            self.write_at(offset, piece);
            offset += piece.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(ring: &Ring, from: u64, to: u64) -> Vec<u8> {
        ring.slices(from, to).concat()
    }

    proptest! {
        /// A plain vector of the whole stream is the oracle. Pieces are stored anywhere above the
        /// start, and the start moves up. Every byte that was stored and not released keeps its
        /// position.
        #[test]
        fn keeps_every_byte(
            steps in prop::collection::vec((0..9000_u64, 1..3000_usize, 0..9000_u64), 1..15)
        ) {
            let mut ring = Ring::default();
            let mut whole: Vec<Option<u8>> = Vec::new();
            for (n, (ahead, len, released)) in steps.into_iter().enumerate() {
                let offset = ring.start() + ahead;
                let data: Vec<u8> = (0..len).map(|i| (i as u8) ^ (n as u8)).collect();
                ring.write_at(offset, &data);
                let end = offset as usize + len;
                whole.resize(whole.len().max(end), None);
                for (i, byte) in data.iter().enumerate() {
                    whole[offset as usize + i] = Some(*byte);
                }
                let to = (ring.start() + released).min(whole.len() as u64);
                ring.release(to, to == whole.len() as u64);
            }
            for (offset, byte) in whole.iter().enumerate().skip(ring.start() as usize) {
                if let Some(byte) = byte {
                    let offset = offset as u64;
                    prop_assert_eq!(read(&ring, offset, offset + 1), vec![*byte]);
                }
            }
        }
    }

    #[test]
    fn a_large_empty_ring_is_given_back() {
        let mut ring = Ring::default();
        ring.write_at(0, &[7; 100_000]);
        assert_eq!(ring.capacity(), 131_072);
        ring.release(60_000, false);
        assert_eq!(read(&ring, 99_998, 100_000), [7, 7]);
        ring.release(100_000, true);
        assert_eq!(ring.capacity(), 0);
        ring.write_at(100_000, &[1, 2]);
        assert_eq!(read(&ring, 100_000, 100_002), [1, 2]);
    }
}
