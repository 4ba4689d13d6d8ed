//! Slow start (Jacobson 1988; RFC 5681 §3.1): one segment more for every ACK of new data.

use super::{Phase, Start, StartUp};
use crate::ack::AckSample;
use crate::window::{Cause, Window};

/// Slow start with `L` = 1 (RFC 3465 §2.2): an ACK adds what it acknowledges, a segment at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowStart;

impl StartUp for SlowStart {
    fn begin(&mut self, _: &mut Window, _: &Start<'_>) {}

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        if window.below_ssthresh() {
            window.grow(sample.acked.min(window.mss()), Cause::SlowStart);
        }
        if window.below_ssthresh() { Phase::Continue } else { Phase::Done }
    }

    fn on_congestion(&mut self, _: &mut Window) {}
}
