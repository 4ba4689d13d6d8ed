//! What may be said of a host's processing delay: its bounds, and among which packets order is kept.
//! [`crate::processing`] applies it.

use rand_core::Rng;
use rand_pcg::Pcg32;
use units::Duration;

/// Among which packets of a host order is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessingOrder {
    /// All: the host is done with one packet after another.
    #[default]
    Host,
    /// Those of one connection: packets of another may overtake, as with ns-2's agents.
    Connection,
}

/// What a host may take over a packet that it sends: each packet a time of its own, uniform between `least` and `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessingDelay {
    /// At least.
    pub least: Duration,
    /// At most; no more than `least` makes it the same for all packets.
    pub most: Duration,
    /// More for what it sends after nothing for a while: a processor that has rested is slower at first.
    pub rested: Duration,
    /// How long data waits in its TCP before a server of it has woken and reads: TCP acknowledges meanwhile, and what arrives
    /// meanwhile is read with it. Packets of the answer take their own time beyond that.
    pub reading: ReadingDelay,
}

/// How long data waits in its TCP before a program reads it: each time anew, uniform between `least` and `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingDelay {
    /// At least.
    pub least: Duration,
    /// At most; no more than `least` makes it always the same.
    pub most: Duration,
}

impl ReadingDelay {
    /// It is read at once.
    pub const NONE: Self = Self { least: Duration::ZERO, most: Duration::ZERO };

    /// The next one.
    pub(crate) fn draw(self, stream: &mut Pcg32) -> Duration {
        uniform(stream, self.least, self.most)
    }
}

impl ProcessingDelay {
    /// Packets are on their way at once.
    pub const NONE: Self = Self {
        least: Duration::ZERO,
        most: Duration::ZERO,
        rested: Duration::ZERO,
        reading: ReadingDelay::NONE,
    };

    /// The next packet's.
    pub(crate) fn draw(self, stream: &mut Pcg32) -> Duration {
        uniform(stream, self.least, self.most)
    }
}

/// A draw between both, or `least` where that is not the smaller one.
fn uniform(stream: &mut Pcg32, least: Duration, most: Duration) -> Duration {
    let span = u128::from(most.saturating_sub(least).as_nanos()) + 1;
    let nanos = (u128::from(stream.next_u64()) * span) >> 64;
    least + Duration::from_nanos(nanos as u64)
}
