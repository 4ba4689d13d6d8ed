//! The congestion window of a path. Every change carries its cause.
//!
//! Bytes throughout; `mss` = 1 turns the unit into segments. The window lives beside the policies,
//! not inside one, so a report can always say why it moved.

use crate::send_plan::SendPlan;
use units::{Duration, Instant, Rate};

/// The cause for which `cwnd` or `ssthresh` changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The path begins (RFC 5681 §3.1, RFC 6928).
    Initial,
    /// Slow start (RFC 5681 §3.1).
    SlowStart,
    /// Slow start left early on rising delay or an ACK train (HyStart).
    HyStart,
    /// Congestion avoidance.
    Avoidance,
    /// Lowered on rising delay (Vegas).
    Delay,
    /// Loss detected by duplicate ACKs, SACK or RACK.
    Loss,
    /// Window carried down during recovery (PRR) or by a partial ACK (RFC 6582).
    Recovery,
    /// Recovery ended.
    RecoveryEnd,
    /// Retransmission timeout.
    Timeout,
    /// A reduction turned out spurious and was undone.
    Undo,
    /// Restart after idle.
    Idle,
    /// The application, not the window, limited sending.
    AppLimited,
    /// ECN echo.
    Ecn,
    /// A start-up policy seeded the window from remembered or measured values.
    Seed,
    /// A start-up policy gave up.
    FallBack,
    /// A connection joined or left the ensemble.
    Membership,
    /// The window follows a model of the path: bandwidth times round trip (BBR).
    Model,
}

impl Cause {
    /// A short name for tables and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::SlowStart => "slow start",
            Self::HyStart => "hystart",
            Self::Avoidance => "congestion avoidance",
            Self::Delay => "delay",
            Self::Loss => "loss",
            Self::Recovery => "recovery",
            Self::RecoveryEnd => "recovery ended",
            Self::Timeout => "timeout",
            Self::Undo => "undo",
            Self::Idle => "idle",
            Self::AppLimited => "application-limited",
            Self::Ecn => "ecn",
            Self::Seed => "seed",
            Self::FallBack => "fell back",
            Self::Membership => "membership",
            Self::Model => "model",
        }
    }
}

/// One recorded change of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowChange {
    /// Time of the change.
    pub at: Instant,
    /// Cause of the change.
    pub cause: Cause,
    /// Window after the change, bytes.
    pub cwnd: u64,
    /// Threshold after the change, bytes; `u64::MAX` while unlimited.
    pub ssthresh: u64,
}

/// A start-up's order for the pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanOrder {
    /// Space sending by this plan.
    Follow(SendPlan),
    /// End the spacing.
    End,
}

/// Pacing of sending in addition to window and round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacingOrder {
    /// Sending is paced.
    pub is_on: bool,
    /// Largest rate; `None`: no limit.
    pub most: Option<Rate>,
    /// Fixed rate, independent of window and round trip.
    pub fixed: Option<Rate>,
}

/// A timeout that replaces the retransmission timeout, its bounds and doublings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutOrder {
    /// The time until the timer runs out.
    pub timeout: Duration,
    /// Only while the earliest segment not acknowledged was sent with low priority.
    pub marked_only: bool,
}

/// Congestion window, slow-start threshold and pacing of one path.
#[derive(Clone, Debug)]
pub struct Window {
    cwnd: u64,
    ssthresh: u64,
    mss: u64,
    /// Never more than this is used, bytes.
    limit: u64,
    pacing_rate: Option<Rate>,
    /// A start-up's orders for the pacer, not yet taken.
    order: Option<PlanOrder>,
    /// The start-up's order of pacing; `None`: it has given none.
    pacing: Option<PacingOrder>,
    /// The retransmission timeout that the start-up has ordered.
    timeout: Option<TimeoutOrder>,
    /// Clients behind the peer for which the path's connections are there, at least one.
    clients: u32,
    /// Weight of the connection among those that share with it, at least one.
    weight: u32,
    /// A policy's order that rates measured from now on do not show the path's rate.
    ignore_rates: bool,
    /// Numerator left over by [`Window::grow_by_fraction`].
    remainder: u64,
    now: Instant,
    last_cause: Cause,
    log: Option<Vec<WindowChange>>,
}

impl PacingOrder {
    /// Returns the rate that the order makes of another.
    fn applied_to(&self, rate: Rate) -> Rate {
        let rate = self.fixed.unwrap_or(rate);
        self.most.map_or(rate, |most| rate.min(most))
    }
}

impl Window {
    /// A window of `cwnd` bytes for segments of `mss` bytes; `recorded` keeps every change.
    pub fn new(mss: u64, cwnd: u64, ssthresh: u64, recorded: bool) -> Self {
        Self {
            cwnd,
            ssthresh,
            mss,
            limit: u64::MAX,
            pacing_rate: None,
            order: None,
            pacing: None,
            timeout: None,
            clients: 1,
            weight: 1,
            ignore_rates: false,
            remainder: 0,
            now: Instant::ZERO,
            last_cause: Cause::Initial,
            log: recorded.then(Vec::new),
        }
    }

    /// Congestion window, bytes.
    pub const fn cwnd(&self) -> u64 {
        self.cwnd
    }
    /// Bytes that may be in flight: `cwnd`, bounded by the configured limit.
    pub const fn usable(&self) -> u64 {
        if self.cwnd < self.limit { self.cwnd } else { self.limit }
    }
    /// The configured limit, bytes; `u64::MAX` if there is none.
    pub const fn limit(&self) -> u64 {
        self.limit
    }
    /// Slow-start threshold, bytes; `u64::MAX` while unlimited.
    pub const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
    /// Segment size the window counts in, bytes.
    pub const fn mss(&self) -> u64 {
        self.mss
    }
    /// Pacing rate, if the path is paced.
    pub const fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }
    /// True below `ssthresh`: slow start by RFC 5681 §3.1.
    pub const fn below_ssthresh(&self) -> bool {
        self.cwnd < self.ssthresh
    }
    /// Cause of the last change.
    pub const fn last_cause(&self) -> Cause {
        self.last_cause
    }

    /// The clock as it was last set.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Sets the clock that the next changes are recorded with.
    pub fn set_now(&mut self, now: Instant) {
        self.now = now;
    }

    /// Sets the configured limit, bytes.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Sets the segment size once the handshake has shown it; the window keeps its bytes.
    pub fn set_mss(&mut self, mss: u64) {
        self.mss = mss;
    }

    /// Sets `cwnd`, at least one segment.
    pub fn set_cwnd(&mut self, cwnd: u64, cause: Cause) {
        self.cwnd = cwnd.max(self.mss);
        self.remainder = 0;
        self.record(cause);
    }

    /// Adds `bytes` to `cwnd`.
    pub fn grow(&mut self, bytes: u64, cause: Cause) {
        self.cwnd = self.cwnd.saturating_add(bytes);
        self.record(cause);
    }

    /// Adds `numerator / cwnd` bytes (`mss * mss` is formula (3) of RFC 5681 §3.1); what the
    /// division leaves over is carried to the next call, so small increments do not vanish.
    #[inline]
    pub fn grow_by_fraction(&mut self, numerator: u64, cause: Cause) {
        let total = self.remainder.saturating_add(numerator);
        let cwnd = self.cwnd;
        self.cwnd = cwnd.saturating_add(total / cwnd);
        self.remainder = total % cwnd;
        self.record(cause);
    }

    /// Sets `ssthresh`, at least two segments (RFC 5681 §3.1 formula (4)).
    pub fn set_ssthresh(&mut self, ssthresh: u64, cause: Cause) {
        self.ssthresh = ssthresh.max(2 * self.mss);
        self.record(cause);
    }

    /// Sets or clears the pacing rate, within the start-up's orders.
    pub fn set_pacing_rate(&mut self, rate: Option<Rate>) {
        self.pacing_rate = match &self.pacing {
            None => rate,
            Some(order) => rate.map(|rate| order.applied_to(rate)),
        };
    }

    /// Has sending paced in this way from now on.
    pub fn order_pacing(&mut self, order: PacingOrder) {
        self.pacing = Some(order);
        let rate = self.pacing_rate.or(order.fixed).filter(|_| order.is_on);
        self.set_pacing_rate(rate);
    }

    /// Returns the start-up's order of pacing, if it has given one.
    pub const fn pacing_order(&self) -> Option<PacingOrder> {
        self.pacing
    }

    /// True if `in_flight` bytes leave no room for two segments: what goes then goes for an ACK.
    pub const fn is_used_up(&self, in_flight: u64) -> bool {
        in_flight + 2 * self.mss > self.usable()
    }

    /// Spaces segments sent from now on so that a window takes `rtt`.
    pub fn spread_over(&mut self, rtt: Duration) {
        let segments = (self.usable() / self.mss).max(1);
        self.follow_plan(SendPlan::spaced(1, rtt / segments));
    }

    /// Spaces segments sent from now on by `plan`, in place of an earlier plan.
    pub fn follow_plan(&mut self, plan: SendPlan) {
        self.order = Some(PlanOrder::Follow(plan));
    }

    /// Sending is spaced by no plan any more.
    pub fn end_plan(&mut self) {
        self.order = Some(PlanOrder::End);
    }

    /// Replaces the retransmission timeout, or no longer replaces it.
    pub fn order_timeout(&mut self, order: Option<TimeoutOrder>) {
        self.timeout = order;
    }

    /// True if some segments have an ordered timeout.
    pub const fn has_ordered_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// The ordered timeout of a segment; `marked`: it was sent with low priority.
    pub fn ordered_timeout(&self, marked: bool) -> Option<Duration> {
        let order = self.timeout.filter(|order| marked || !order.marked_only)?;
        Some(order.timeout)
    }

    /// Clients behind the peer (a proxy) that the window serves, at least one (Balakrishnan et al.
    /// 1998 §5.5).
    pub const fn clients(&self) -> u32 {
        self.clients
    }

    /// Sets how many clients the window serves.
    pub fn set_clients(&mut self, clients: u32) {
        self.clients = clients.max(1);
    }

    /// Weight of the connection among those that share with it, as the application sets it, at
    /// least one (`HEADSTART_WEIGHT`).
    pub const fn weight(&self) -> u32 {
        self.weight
    }

    /// Sets the weight that the application wants.
    pub fn set_weight(&mut self, weight: u32) {
        self.weight = weight.max(1);
    }

    /// Notes that the segments in flight now, and those that leave before these are delivered, are
    /// too few to show the path's rate.
    pub fn ignore_rates(&mut self) {
        self.ignore_rates = true;
    }

    /// Takes the order to ignore rates.
    pub fn take_ignore_rates(&mut self) -> bool {
        std::mem::take(&mut self.ignore_rates)
    }

    /// True if there is an order for the pacer to take.
    pub const fn has_order(&self) -> bool {
        self.order.is_some()
    }

    /// Takes the last order for the pacer.
    pub fn take_order(&mut self) -> Option<PlanOrder> {
        self.order.take()
    }

    /// The recorded changes so far, oldest first; empty when not recorded.
    pub fn changes(&self) -> &[WindowChange] {
        self.log.as_deref().unwrap_or(&[])
    }

    #[inline]
    fn record(&mut self, cause: Cause) {
        self.last_cause = cause;
        let change = WindowChange { at: self.now, cause, cwnd: self.cwnd, ssthresh: self.ssthresh };
        if let Some(log) = &mut self.log {
            // A threshold and a window set for the same cause at once are one change.
            match log.last_mut() {
                Some(last) if last.at == change.at && last.cause == cause => *last = change,
                _ => log.push(change),
            }
        }
    }
}
