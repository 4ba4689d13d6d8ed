//! The settings of a host's processing delay: its bounds, and the packets that keep their order.
//! [`crate::processing`] applies them.

use rand_core::Rng;
use rand_pcg::Pcg32;
use units::Duration;

/// The packets of a host that keep their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessingOrder {
    /// All packets: the host finishes one packet after another.
    #[default]
    Host,
    /// Packets of one connection: those of another may overtake, as with ns-2's agents.
    Connection,
}

/// The time that a host takes over a packet that it sends: independent for each packet, uniform
/// between `least` and `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessingDelay {
    /// Minimum time.
    pub least: Duration,
    /// Maximum time; if it is no more than `least`, all packets have the same.
    pub most: Duration,
    /// Additional time for the first packet after a pause: a processor that has rested is slower at
    /// first.
    pub rested: Duration,
    /// Time for which data waits in its TCP before a server has woken and reads. TCP acknowledges
    /// meanwhile, and later data is read with it. Packets of the answer take their own time in
    /// addition.
    pub reading: ReadingDelay,
}

/// The time for which data waits in its TCP before a program reads it: drawn for each read, uniform
/// between `least` and `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingDelay {
    /// Minimum time.
    pub least: Duration,
    /// Maximum time; if it is no more than `least`, the time is constant.
    pub most: Duration,
}

impl ReadingDelay {
    /// Data is read at once.
    pub const NONE: Self = Self { least: Duration::ZERO, most: Duration::ZERO };

    /// Draws the next time.
    pub(crate) fn draw(self, stream: &mut Pcg32) -> Duration {
        uniform(stream, self.least, self.most)
    }
}

impl ProcessingDelay {
    /// Packets enter their link at once.
    pub const NONE: Self = Self {
        least: Duration::ZERO,
        most: Duration::ZERO,
        rested: Duration::ZERO,
        reading: ReadingDelay::NONE,
    };

    /// Draws the next packet's time.
    pub(crate) fn draw(self, stream: &mut Pcg32) -> Duration {
        uniform(stream, self.least, self.most)
    }
}

/// Draws a time between both, or returns `least` if it is not the smaller one.
fn uniform(stream: &mut Pcg32, least: Duration, most: Duration) -> Duration {
    let span = u128::from(most.saturating_sub(least).as_nanos()) + 1;
    let nanos = (u128::from(stream.next_u64()) * span) >> 64;
    least + Duration::from_nanos(nanos as u64)
}
