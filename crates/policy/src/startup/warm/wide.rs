//! A cold start with more than a stock window (`warm_cold=wide`): the stock window leaves at once,
//! the rest as fast as a slow path would carry it. The ACKs of the stock window show whether the
//! path is as fast as that. If it is not, slow start ends at the window that fills the path
//! (docs/adr/0027-agents-timers-and-wide-starts.md; `wide.h` of the agent). A short flight before
//! it, such as a TLS flight, is a probe of the path: then the first window follows its rate.

use super::pacing::SocketPacing;
use crate::window::{Cause, Window};
use arith::reuse::{WIDE_COLD_RATE, has_queue};
use arith::trains;

/// Number of segments of the stock window whose gaps are measured: of the ten, one or two come with
/// the first ACK. Source: docs/adr/0027-agents-timers-and-wide-starts.md.
pub(super) const LOOKS_AT: u32 = 8;

/// An ACK: when it came, by the socket's clock, and what had been delivered with it. Both wrap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) at_us: u32,
    pub(super) delivered: u32,
}

/// An ACK of a wide start.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideAck {
    pub(super) at: Arrived,
    /// Round trip of the latest segment that it delivers, microseconds; [`u32::MAX`]: unknown.
    pub(super) rtt_us: u32,
    /// Segments under way.
    pub(super) outstanding: u32,
    /// Lowest round trip, microseconds; 0 before the first sample.
    pub(super) min_rtt_us: u32,
    /// Segments of a stock connection's first window.
    pub(super) cold: u32,
}

/// State of a connection's wide start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum WideStart {
    /// It has none, or that is over.
    #[default]
    Not,
    /// No ACK of a flight that is long enough has come. The flight leaves at this rate, in bytes a
    /// second.
    Sent(u64),
    /// The same, since this ACK, with its round trip in microseconds.
    ComesIn(u64, Arrived, u32),
}

/// A path that carries less than this part, in quarters, of the rate of a wide flight is slower
/// than it was taken to be. Source: docs/adr/0027-agents-timers-and-wide-starts.md.
const MIN_QUARTERS: u64 = 3;

impl WideStart {
    pub(super) const fn is_on(&self) -> bool {
        !matches!(self, Self::Not)
    }

    /// The window is wide.
    pub(super) const fn begin(&mut self, pacing: &mut SocketPacing) {
        self.on_rate(WIDE_COLD_RATE, pacing);
    }

    /// The path has shown its `rate`, bytes a second.
    pub(super) const fn on_rate(&mut self, rate: u64, pacing: &mut SocketPacing) {
        *self = Self::Sent(rate);
        pacing.keep_paced();
        pacing.search_rate = rate;
    }

    /// No ACK of a flight that is long enough has come.
    pub(super) const fn is_sent(&self) -> bool {
        matches!(self, Self::Sent(_))
    }

    /// Decides on pacing before each sending after a flight that was too short to measure, as of
    /// TLS, with `outstanding` segments. A stock window of `cold` leaves at once, as if it were the
    /// first flight.
    pub(super) const fn pace(&self, pacing: &mut SocketPacing, outstanding: u64, cold: u32) {
        if self.is_sent() {
            if outstanding < cold as u64 {
                pacing.burst();
            } else {
                pacing.keep_paced();
            }
        }
    }

    /// A search has ended, and its rate with it. A wide flight keeps its own rate, even if slow
    /// start ends meanwhile.
    pub(super) const fn keep_rate(&self, pacing: &mut SocketPacing) {
        if let Self::Sent(rate) | Self::ComesIn(rate, ..) = *self {
            pacing.search_rate = rate;
        }
    }

    /// It goes on as any other.
    pub(super) const fn end(&mut self, pacing: &mut SocketPacing) {
        if self.is_on() {
            *self = Self::Not;
            pacing.search_rate = 0;
            pacing.leave_unpaced();
        }
    }

    /// Segments are acknowledged. Returns the rate, in bytes a second, once the stock window has
    /// shown it.
    pub(super) fn on_ack(
        &mut self,
        window: &mut Window,
        ack: &WideAck,
        pacing: &mut SocketPacing,
    ) -> Option<u64> {
        let WideAck { at: now, rtt_us, outstanding, min_rtt_us, cold } = *ack;
        let (rate, first) = match *self {
            Self::Not => return None,
            // A short flight, as a server's of TLS, is not measured: the round trip after it is no
            // gap.
            Self::Sent(_) if outstanding < LOOKS_AT => return None,
            Self::Sent(rate) => {
                *self = Self::ComesIn(rate, now, rtt_us);
                return None;
            }
            // The ACK before it was delayed, as of a short flight that a TLS server sent before
            // this one. Its round trip was longer by as much as a queue makes it; on a path that
            // holds up a flight, round trips grow.
            Self::ComesIn(rate, _, first_rtt_us)
                if has_queue(first_rtt_us, rtt_us) && outstanding >= LOOKS_AT =>
            {
                *self = Self::ComesIn(rate, now, rtt_us);
                return None;
            }
            Self::ComesIn(rate, first, _) => (rate, first),
        };
        let count = now.delivered.wrapping_sub(first.delivered);
        if count < LOOKS_AT {
            if count + outstanding < LOOKS_AT {
                *self = Self::Sent(rate);
            }
            return None;
        }
        self.end(pacing);
        let mss = window.mss();
        let gap = trains::gap(now.at_us.wrapping_sub(first.at_us), count);
        if gap == 0 {
            return None;
        }
        let carried = trains::carried(mss as u32, gap);
        if carried >= rate / 4 * MIN_QUARTERS {
            return Some(carried);
        }
        let full = trains::window(min_rtt_us, gap).max(cold.into()) * mss;
        window.set_ssthresh(full, Cause::HyStart);
        if window.cwnd() > full {
            window.set_cwnd(full, Cause::HyStart);
        }
        Some(carried)
    }
}
