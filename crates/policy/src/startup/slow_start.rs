//! Slow start (Jacobson 1988; RFC 5681 §3.1): one segment more for every ACK of new data.

use super::{Phase, StartUp, StartUpCapabilities, StartUpDescriptor};
use crate::ack::AckSample;
use crate::registry::Make;
use crate::window::{Cause, Window};
use arith::window::slow_start;

/// Slow start.
pub static SLOW_START: StartUpDescriptor = StartUpDescriptor::new(
    "slowstart",
    "slow start: a segment more for every ACK",
    "RFC 5681 §3.1",
    Make::Alone(&|_| Box::new(SlowStart)),
)
.explained(&super::pages::SLOW_START);

/// Slow start as Linux counts.
pub static LINUX_SLOW_START: StartUpDescriptor = StartUpDescriptor::new(
    "slowstart-linux",
    "slow start: a segment more for every segment acknowledged, while the window limits sending",
    "Linux 6.x tcp_slow_start",
    Make::Alone(&|_| Box::new(LinuxSlowStart)),
)
.explained(&super::pages::LINUX_SLOW_START);

/// Slow start with `L` = 1 (RFC 3465 §2.2): an ACK adds the bytes that it acknowledges, a segment
/// at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowStart;

impl StartUp for SlowStart {
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities { observes: false, ..Default::default() }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        if window.below_ssthresh() {
            window.grow(sample.acked.min(window.mss()), Cause::SlowStart);
        }
        if window.below_ssthresh() { Phase::Continue } else { Phase::Done }
    }
}

/// Slow start as Linux counts (`tcp_slow_start`): an ACK adds every segment it touches (RFC 3465
/// without its limit), as long as the window limits sending.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxSlowStart;

impl StartUp for LinuxSlowStart {
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities { observes: false, ..Default::default() }
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        if sample.cwnd_limited && window.below_ssthresh() {
            grow(window, sample.delivered);
        }
        if window.below_ssthresh() { Phase::Continue } else { Phase::Done }
    }
}

/// Grows by the segments the ACK touches, whatever their number, up to `ssthresh`.
fn grow(window: &mut Window, acked: u64) {
    let mss = window.mss();
    let (cwnd, ssthresh) = (window.cwnd() / mss, window.ssthresh().div_ceil(mss));
    let (grown, _) = slow_start(cwnd, ssthresh, acked.div_ceil(mss));
    let room = window.ssthresh() - window.cwnd();
    window.grow(((grown - cwnd) * mss).min(room), Cause::SlowStart);
}
