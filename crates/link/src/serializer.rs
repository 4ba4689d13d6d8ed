//! Transmission times of packet sizes, remembered: a link sees the same few sizes all day and the
//! exact division costs more than everything else it does.

use units::{Duration, Rate};

/// Sizes up to this are kept in the slot of acknowledgements, larger ones in that of data.
const SMALL: u32 = 128;

/// Bytes to transmission time at one rate.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: Rate,
    /// The last size seen in each of two classes, with its time.
    seen: [(u32, Duration); 2],
}

impl Serializer {
    /// Transmission times at `rate`, which is above zero.
    pub fn new(rate: Rate) -> Self {
        Self { rate, seen: [(0, Duration::ZERO); 2] }
    }

    /// Time that `bytes` take, to the nearest nanosecond.
    #[inline]
    pub fn transmit_time(&mut self, bytes: u32) -> Duration {
        let slot = &mut self.seen[usize::from(bytes > SMALL)];
        if slot.0 != bytes {
            *slot = (bytes, self.rate.transmit_time(u64::from(bytes)));
        }
        slot.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembering_never_changes_the_answer() {
        let rate = Rate::from_bps(1_500_000);
        let mut serializer = Serializer::new(rate);
        for bytes in [0, 40, 1040, 40, 52, 128, 129, 1040, 0, 1500, 52] {
            assert_eq!(serializer.transmit_time(bytes), rate.transmit_time(u64::from(bytes)));
        }
    }
}
