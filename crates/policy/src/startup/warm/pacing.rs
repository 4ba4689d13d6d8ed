//! The kernel's pacing of a socket, as far as a warm start changes it: on or off, the largest rate,
//! and the rate.

use crate::window::{PacingOrder, Window};
use units::Rate;

/// Segments that any connection sends at once (RFC 6928).
pub(super) const STOCK_BURST: u64 = 10;

/// The socket's state: `sk_pacing_status`, `SO_MAX_PACING_RATE`, and the rate that a search sets
/// before each sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SocketPacing {
    is_on: bool,
    /// Pacing is switched off by [`SocketPacing::settle`], not at once.
    ends_level: bool,
    /// It is about to be switched off.
    is_ending: bool,
    /// Bytes a second; 0: as fast as the kernel likes.
    most: u64,
    /// Bytes a second; 0: as the kernel paces.
    pub(super) search_rate: u64,
}

impl SocketPacing {
    /// Creates the state of a socket that the congestion control itself paces, or that is not
    /// paced. `ends_level`: pacing lasts until no data waits for it.
    pub(super) const fn new(is_on: bool, ends_level: bool) -> Self {
        Self { is_on, ends_level, is_ending: false, most: 0, search_rate: 0 }
    }

    pub(super) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// `SO_MAX_PACING_RATE`, which switches pacing on.
    pub(super) const fn limit(&mut self, rate: u64) {
        self.most = rate;
        self.keep_paced();
    }

    /// Bytes a second; 0: there is no limit.
    pub(super) const fn limited_to(&self) -> u64 {
        self.most
    }

    /// Removes the limit; pacing stays on.
    pub(super) const fn lift_limit(&mut self) {
        self.most = 0;
    }

    pub(super) const fn keep_paced(&mut self) {
        self.is_on = true;
        self.is_ending = false;
    }

    /// Switches pacing off unless a limit is set. Without `ends_level`, data that pacing held back
    /// leaves at once then.
    pub(super) const fn leave_unpaced(&mut self) {
        if self.ends_level {
            self.is_ending = self.is_on && self.most == 0;
        } else {
            self.is_on &= self.most != 0;
        }
    }

    /// Processes an ACK after which `room` bytes of the window are free. Pacing that is to end does
    /// if no more than a stock burst waits for it.
    pub(super) const fn on_ack(&mut self, room: u64, mss: u64) {
        if self.is_ending && room <= STOCK_BURST * mss {
            self.burst();
        }
    }

    /// Ends pacing that is to end, because nothing is under way.
    pub(super) const fn settle_at_start(&mut self) {
        if self.is_ending {
            self.burst();
        }
    }

    /// Switches pacing off under any limit, for the stock burst of a short answer.
    pub(super) const fn burst(&mut self) {
        self.is_on = false;
        self.is_ending = false;
    }

    /// Applies the state to the window.
    pub(super) fn apply(&self, window: &mut Window) {
        let rate = |bytes: u64| (bytes > 0).then(|| rate_of(bytes));
        let (most, fixed) = (rate(self.most), rate(self.search_rate));
        window.order_pacing(PacingOrder { is_on: self.is_on, most, fixed });
    }
}

/// Returns the rate of this number of bytes a second.
pub(super) const fn rate_of(bytes: u64) -> Rate {
    Rate::from_bps(bytes.saturating_mul(8))
}
