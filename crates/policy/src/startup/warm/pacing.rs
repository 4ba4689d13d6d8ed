//! How the kernel paces a socket, as far as a warm start changes it: whether at all, at most how fast, and by which rate.

use crate::window::{PacingOrder, Window};
use units::Rate;

/// Segments that anybody sends at once (RFC 6928).
pub(super) const STOCK_BURST: u64 = 10;

/// The socket's state: `sk_pacing_status`, `SO_MAX_PACING_RATE`, and the rate that a search sets before each sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SocketPacing {
    is_on: bool,
    /// It goes off with [`SocketPacing::settle`], not at once.
    ends_level: bool,
    /// It is about to.
    is_ending: bool,
    /// Bytes a second; 0: as fast as the kernel likes.
    most: u64,
    /// Bytes a second; 0: as the kernel paces.
    pub(super) search_rate: u64,
}

impl SocketPacing {
    /// Paced by the congestion control itself, or not at all. `ends_level`: pacing that ends lasts until nothing waits for it.
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

    /// The limit goes; pacing stays on.
    pub(super) const fn lift_limit(&mut self) {
        self.most = 0;
    }

    pub(super) const fn keep_paced(&mut self) {
        self.is_on = true;
        self.is_ending = false;
    }

    /// Unless a limit holds. What the window allows and pacing has held back would leave at once then.
    pub(super) const fn leave_unpaced(&mut self) {
        if self.ends_level {
            self.is_ending = self.is_on && self.most == 0;
        } else {
            self.is_on &= self.most != 0;
        }
    }

    /// Segments have arrived, so that `room` bytes of the window are free: pacing that is to end does, if no more than a stock
    /// burst waits for it.
    pub(super) const fn settle(&mut self, room: u64, mss: u64) {
        if self.is_ending && room <= STOCK_BURST * mss {
            self.burst();
        }
    }

    /// Nothing is under way: pacing that is to end does.
    pub(super) const fn settle_at_start(&mut self) {
        if self.is_ending {
            self.burst();
        }
    }

    /// Whatever limit holds: the stock burst of a short answer.
    pub(super) const fn burst(&mut self) {
        self.is_on = false;
        self.is_ending = false;
    }

    /// Tells the window.
    pub(super) fn apply(&self, window: &mut Window) {
        let rate = |bytes: u64| (bytes > 0).then(|| rate_of(bytes));
        let (most, fixed) = (rate(self.most), rate(self.search_rate));
        window.order_pacing(PacingOrder { is_on: self.is_on, most, fixed });
    }
}

/// Of bytes a second.
pub(super) const fn rate_of(bytes: u64) -> Rate {
    Rate::from_bps(bytes.saturating_mul(8))
}
