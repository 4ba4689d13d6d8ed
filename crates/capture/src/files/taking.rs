//! The receiver of packets: a batch to be filled, with the counters of all input.

use super::{BATCH, PACKETS};
use crate::batch::BatchFiller;
use crate::counters::CaptureCounters;
use crate::decode::{Frame, decode};
use crate::format::{FrameTime, UsualRecord};
use std::ops::ControlFlow;

/// Takes packets one by one, and signals when it has enough.
pub(super) trait TakesPackets {
    /// Takes a packet; `time`: the source of its time.
    fn take(&mut self, frame: &Frame<'_>, time: FrameTime) -> ControlFlow<()>;

    /// Takes a packet of the usual kind.
    fn take_usual(&mut self, record: &UsualRecord<'_>) -> ControlFlow<()>;
}

/// Fills a batch.
pub(super) struct Filling<'a, 'b> {
    batch: &'a mut BatchFiller<'b>,
    counters: &'a mut CaptureCounters,
    /// Total number of packets at which the batch has enough.
    enough: u64,
}

impl<'a, 'b> Filling<'a, 'b> {
    pub(super) const fn new(
        batch: &'a mut BatchFiller<'b>,
        counters: &'a mut CaptureCounters,
    ) -> Self {
        let enough = counters.packets + PACKETS;
        Self { batch, counters, enough }
    }

    #[inline]
    fn goes_on(&self) -> ControlFlow<()> {
        match self.batch.len() >= BATCH || self.counters.packets >= self.enough {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl TakesPackets for Filling<'_, '_> {
    #[inline]
    fn take(&mut self, frame: &Frame<'_>, time: FrameTime) -> ControlFlow<()> {
        if time == FrameTime::Impossible {
            self.counters.count_impossible(frame.bytes.len(), frame.length);
            return self.goes_on();
        }
        self.counters.untimed += u64::from(time == FrameTime::Missing);
        if decode(frame, self.counters, self.batch.next_slot()) {
            self.batch.keep_slot();
        }
        self.goes_on()
    }

    #[inline]
    fn take_usual(&mut self, record: &UsualRecord<'_>) -> ControlFlow<()> {
        let UsualRecord { at, captured, length, packet } = record;
        packet.decode(*at, *captured, *length, self.counters, self.batch.next_slot());
        self.batch.keep_slot();
        self.goes_on()
    }
}
