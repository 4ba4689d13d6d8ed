//! The agent's warm start: a connection begins with the remembered values of its path, paced in the
//! first round trip, and stores the values that it proves. A cold start measures the path as it
//! sends (`search`), and may begin wider than stock (`wide`).
//!
//! The same decisions run in the Linux kernel (`crates/agent/bpf/connection.h`, `starts.h`,
//! `cubic.h`, `bbr.h`), and the phases and steps have the names used there. They are on top of the
//! start-up that a stock connection has: HyStart under CUBIC, BBR's own under BBR. Windows are
//! whole segments. `first` is the first flight as it was reserved; the rest is in `flight`,
//! `learning` and `loss`. docs/adr/0020-one-policy.md has the reasons for two implementations, and
//! their differences.

mod allocation;
mod beside_stock;
mod burst;
mod dispersion;
mod early;
mod flight;
mod history;
mod learning;
mod loss;
mod member;
mod options;
mod pacing;
mod probe;
mod search;
mod starts;
mod together;
mod wide;

pub use history::{WarmHistory, WarmPhase};
pub use member::{MEMBER, MemberStart};
pub use options::{
    COLD, ColdOpening, DISPERSION, EARLY, SIZE, TIMER_GAPS, TOGETHER, WIDE_AMONG, WarmOptions,
};

use super::hooked::{
    HostAccess, KernelEvents, OpenedBy, SendingNeeds, SharedSending, Situation, microseconds,
};
use super::{
    LossEvent, Overlay, OverlayTurn, PendingData, Phase, Start, StartUpCapabilities,
    StartUpDescriptor, Wrapping,
};
use crate::ack::AckSample;
use crate::bbr::ModelledPath;
use crate::config::MemoryKind;
use crate::registry::{Implied, Make};
use crate::window::Window;
use arith::flights::{FlightAck, Flights};
use arith::measure::{TrainAck, TrainMeasure};
use beside_stock::BesideStock;
use burst::Burst;
use flight::FirstFlight;
use loss::LossEffect;
use options::{CAP, EPOCHS, HALF_LIFE, MAX_AGE};
use pacing::SocketPacing;
use probe::Probe;
use search::{Search, SearchTools};
use together::SharedPace;
use units::{Duration, Instant};
use wide::{Arrived, WideAck, WideStart};

/// The agent's warm start.
pub static WARM: StartUpDescriptor = StartUpDescriptor::new(
    "warm",
    "begins with the remembered window of the path that is not reserved for others, paced; cold starts measure the path",
    "docs/adr/0013-agent.md, 0014-cold-start.md, 0020-one-policy.md",
    Make::Around(|setup, inner| {
        let models = inner.capabilities().rules_recovery;
        let options = WarmOptions::of(setup);
        let underneath = Underneath { models, is_paced: setup.config.pacing };
        Box::new(Wrapping::new(Warm::new(options, underneath), inner))
    }),
)
.with(&[&CAP, &MAX_AGE, &HALF_LIFE, &COLD, &SIZE, &EPOCHS, &TOGETHER, &WIDE_AMONG, &DISPERSION, &TIMER_GAPS, &EARLY])
.implying(Implied { memory: MemoryKind::WindowPool, ..Implied::NOTHING })
.explained(&super::pages::WARM);

/// The stock connection under a warm start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Underneath {
    /// It models the path, answers losses itself and paces (BBR).
    pub models: bool,
    /// Sending is paced in any case.
    pub is_paced: bool,
}

/// Segments that an ACK has delivered.
#[derive(Clone, Copy, Debug)]
struct NewlyDelivered {
    segments: u32,
    /// Round trip of the latest of them, microseconds; [`u32::MAX`]: unknown.
    rtt_us: u32,
}

/// A connection's warm start, and its end.
pub struct Warm {
    options: WarmOptions,
    /// The start-up underneath paces, answers losses and measures by itself (BBR).
    models: bool,
    hooked: Option<HostAccess>,
    opened: Option<Instant>,
    /// The round trip assumed for a first flight that left before one was measured, microseconds;
    /// 0: it was measured, or the flight is judged.
    assumed_rtt_us: u32,
    phase: WarmPhase,
    flight: FirstFlight,
    /// Window of a stock start, segments.
    cold: u32,
    has_fallen_back: bool,
    /// It has lost a segment, so its threshold is the congestion control's and does not show where
    /// slow start ends.
    has_lost: bool,
    /// Its first flight has a loss that seemed random; judged when that flight is over.
    is_doubted: bool,
    /// The sample that it stored last was measured by a loss, or by BBR.
    has_measured: bool,
    /// It had a warm start after idle.
    has_restarted: bool,
    /// Time of the last delivery or, since then, of sending with nothing outstanding.
    arrived: Option<Instant>,
    /// Segments delivered; wraps, as the kernel's.
    delivered: u32,
    flights: Flights,
    measure: TrainMeasure,
    search: Search,
    wide: WideStart,
    probe: Probe,
    burst: Burst,
    pace: SharedPace,
    stock: BesideStock,
    pacing: SocketPacing,
    /// Pacing was switched on by this policy, and outlasts the first flight until slow start ends.
    is_paced: bool,
    /// It may search and is compared with a stock connection: `hs_cubic_start`, not yet `hs_cubic`.
    is_starting: bool,
    loss_effect: Option<LossEffect>,
    has_ended: bool,
    /// Its window has jumped to its part of the path's capacity; the offset at which that flight
    /// ends.
    jumped_until: Option<u64>,
    /// It has data under way, and the memory was notified.
    is_sending: bool,
}

impl Warm {
    /// A connection that has not opened, on top of a stock one.
    pub fn new(options: WarmOptions, underneath: Underneath) -> Self {
        let Underneath { models, is_paced } = underneath;
        Self {
            options,
            models,
            hooked: None,
            opened: None,
            assumed_rtt_us: 0,
            phase: WarmPhase::Stock,
            flight: FirstFlight::default(),
            cold: 0,
            has_fallen_back: false,
            is_doubted: false,
            has_lost: false,
            has_measured: false,
            has_restarted: false,
            arrived: None,
            delivered: 0,
            flights: Flights::default(),
            measure: TrainMeasure::default(),
            search: Search::default(),
            wide: WideStart::default(),
            probe: Probe::default(),
            burst: Burst::default(),
            pace: SharedPace::default(),
            stock: BesideStock::default(),
            pacing: SocketPacing::new(is_paced, options.paces_together),
            is_paced: false,
            is_starting: false,
            loss_effect: None,
            has_ended: false,
            jumped_until: None,
            is_sending: false,
        }
    }

    /// Records deliveries, in recovery or not.
    fn observe_arrival(&mut self, window: &Window, sample: &AckSample) {
        if sample.delivered > 0 {
            self.arrived = Some(sample.now);
        }
        let arrived = segments(sample.delivered + window.mss() - 1, window.mss());
        self.delivered = self.delivered.wrapping_add(arrived);
        if self.options.paces_together
            && let Some(hooked) = &self.hooked
        {
            let queued =
                sample.rtt.map_or(Duration::ZERO, |rtt| rtt.saturating_sub(sample.min_rtt));
            let (now, bytes) = (sample.now, sample.delivered);
            hooked.pool(|pool, to| pool.note_arrival(now, to.address, bytes, queued));
        }
    }

    fn in_first_flight(&self) -> bool {
        matches!(self.phase, WarmPhase::FirstFlight | WarmPhase::NarrowedFlight)
    }

    /// True if ACKs need special treatment; otherwise it is a stock connection.
    fn is_special(&self) -> bool {
        self.in_first_flight()
            || self.phase == WarmPhase::Idle
            || self.is_doubted
            || self.is_paced
            || self.search.is_on
            || self.wide.is_on()
    }

    /// Processes an ACK while nothing is missing (`on_progress`).
    fn on_progress(&mut self, window: &Window, at: &Situation<'_>) {
        self.note_used(at, window.mss());
        if at.acked_total >= self.flight.end {
            self.judge_doubted(at);
        }
        if self.in_first_flight() && at.acked_total >= self.flight.end {
            let next = match self.phase {
                WarmPhase::NarrowedFlight => WarmPhase::Narrowed,
                _ => WarmPhase::Stock,
            };
            self.end_first_flight(next);
        }
        // Pacing lasts as long as slow start: HyStart would mistake paced ACKs for a full pipe.
        if self.is_paced && !self.in_first_flight() && !window.below_ssthresh() {
            self.is_paced = false;
            self.pacing.leave_unpaced();
        }
    }

    /// Ends the first flight and its limit of the rate.
    fn end_first_flight(&mut self, next: WarmPhase) {
        self.phase = next;
        self.pace.end();
        self.pacing.lift_limit();
    }

    /// Ends the comparison with a stock connection: if pacing is on, everything is paced.
    fn leave_stock(&mut self) {
        self.stock.leave();
        if self.is_paced {
            self.pacing.keep_paced();
        }
    }

    fn end_search(&mut self) {
        self.search.end(&mut self.pacing);
    }

    /// Starts a search at the start of the connection.
    fn begin_search(&mut self, window: &mut Window, at: &Situation<'_>) {
        if self.options.cold == ColdOpening::Stock || at.sent_total > 0 {
            return;
        }
        let may_pace = self.is_paced || !self.pacing.is_on();
        let tools = SearchTools { measure: &mut self.measure, pacing: &mut self.pacing };
        self.search.begin(window, at, tools, may_pace);
    }

    /// Processes the ACK of the FIN, which is a segment like any other in the kernel.
    fn on_fin_acked(&mut self, window: &mut Window, at: &Situation<'_>) {
        let (sent_total, acked_total) = (at.sent_total + 1, at.acked_total + 1);
        let at = Situation { sent_total, acked_total, ..*at };
        self.delivered = self.delivered.wrapping_add(1);
        self.arrived = Some(at.now);
        if !self.models {
            self.take_ack(window, &at, NewlyDelivered { segments: 1, rtt_us: u32::MAX });
        }
    }

    /// Processes an ACK outside of recovery.
    fn take_ack(&mut self, window: &mut Window, at: &Situation<'_>, acked: NewlyDelivered) {
        let mss = window.mss();
        self.flights.count(&FlightAck {
            una: at.acked_total,
            next: at.sent_total,
            outstanding: segments(at.outstanding() + mss - 1, mss),
            acked: acked.segments,
        });
        if self.is_special() || self.is_starting {
            self.on_special_ack(window, at, acked);
        }
    }

    fn train_ack(&self, at: &Situation<'_>) -> TrainAck {
        TrainAck {
            at_us: clock_us(at.now),
            delivered: self.delivered,
            una: at.acked_total,
            next: at.sent_total,
            sent_us: clock_us(at.last_departure),
        }
    }

    /// Processes an ACK of a connection that is not on the fast path (`on_special_ack`).
    fn on_special_ack(&mut self, window: &mut Window, at: &Situation<'_>, acked: NewlyDelivered) {
        let (mss, NewlyDelivered { segments: acked, rtt_us }) = (window.mss(), acked);
        if self.wide.is_sent() {
            self.probe.on_ack(clock_us(at.now), at.acked_total, mss as u32);
        }
        let arrived = WideAck {
            at: Arrived { at_us: clock_us(at.now), delivered: self.delivered },
            rtt_us,
            outstanding: segments(at.outstanding() + mss - 1, mss),
            min_rtt_us: at.min_rtt_us(),
            cold: self.cold,
        };
        if let Some(rate) = self.wide.on_ack(window, &arrived, &mut self.pacing) {
            self.probe.correct(rate);
        }
        self.stock.grow(at.max_in_flight.div_ceil(mss), acked.into());
        self.on_progress(window, at);
        self.end_if_contradicted(window, at);
        if self.is_starting {
            self.judge_burst(window, at);
        }
        self.widen_by_dispersion(window, at);
        if self.search.is_on {
            let ack = self.train_ack(at);
            let tools = SearchTools { measure: &mut self.measure, pacing: &mut self.pacing };
            self.search.on_ack(window, at, &ack, tools);
            if !self.search.is_on {
                self.wide.keep_rate(&mut self.pacing);
            }
        }
        if self.is_starting && !self.is_special() {
            self.is_starting = false;
            self.stock.leave();
        }
    }
}

/// The kernel's clock of a socket, microseconds; wraps.
const fn clock_us(at: Instant) -> u32 {
    (at.as_nanos() / 1000) as u32
}

/// Whole segments.
fn segments(bytes: u64, mss: u64) -> u32 {
    u32::try_from(bytes / mss).unwrap_or(u32::MAX)
}

impl Overlay for Warm {
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities { timer_gaps: self.options.timer_gaps, ..Default::default() }
    }

    /// The start-up underneath begins as usual; remembered values are applied at the kernel's
    /// events.
    fn begin(&mut self, _: &mut Window, _: &Start<'_>) -> OverlayTurn {
        OverlayTurn::Left
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.observe_arrival(window, sample);
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Option<Phase> {
        if event == LossEvent::Reduced && self.hooked.is_some() {
            self.settle_loss_effect(window);
            self.pacing.apply(window);
        }
        None
    }

    fn kernel_events(&mut self) -> Option<&mut dyn KernelEvents> {
        Some(self)
    }
}

impl KernelEvents for Warm {
    fn attach_host(&mut self, hooked: HostAccess) {
        self.hooked = Some(hooked);
    }

    fn on_open(&mut self, window: &mut Window, at: &Situation<'_>, by: OpenedBy) {
        match by {
            OpenedBy::Handshake { lossless } => self.begin_open(window, at, lossless),
            OpenedBy::EarlyData => self.begin_open_early(window, at),
        }
        self.pacing.apply(window);
    }

    fn on_transfer_start(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        transfer: PendingData,
    ) {
        self.pacing.settle_at_start();
        self.set_sending(true);
        self.begin_to_send(window, at, transfer);
        // The kernel sets `delivered_mstamp` here (tcp_rate_skb_sent).
        self.arrived = Some(at.now);
        self.pacing.apply(window);
    }

    fn on_idle(&mut self, window: &mut Window, at: &Situation<'_>) {
        if self.models {
            return;
        }
        self.wide.end(&mut self.pacing);
        self.end_search();
        if self.in_first_flight() {
            self.end_first_flight(WarmPhase::Stock);
        }
        if self.phase != WarmPhase::Idle {
            self.learn_proven(window, at);
        }
        self.phase = WarmPhase::Idle;
        self.leave_stock();
        self.pacing.apply(window);
    }

    fn on_acked(&mut self, window: &mut Window, at: &Situation<'_>, sample: &AckSample) {
        if self.models && !at.in_startup && !self.in_first_flight() {
            return;
        }
        self.judge_early(window, at);
        let mss = window.mss();
        let delivered = NewlyDelivered {
            segments: segments(sample.delivered + mss - 1, mss),
            rtt_us: sample.rtt.map_or(u32::MAX, microseconds),
        };
        self.take_ack(window, at, delivered);
        if self.models && !at.in_startup && self.in_first_flight() {
            // The start-up that models the path has measured it, and continues on its own.
            self.end_first_flight(WarmPhase::Stock);
        }
        self.pacing.on_ack(window.cwnd().saturating_sub(at.outstanding()), mss);
        self.pacing.apply(window);
    }

    fn on_loss_or_mark(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.begin_loss_effect(window, at);
        self.pacing.apply(window);
    }

    fn on_close(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        modelled: Option<ModelledPath>,
    ) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        self.set_sending(false);
        self.on_fin_acked(window, at);
        self.judge_doubted(at);
        match modelled {
            Some(modelled) => self.learn_modelled(window, at, modelled),
            None => self.learn_at_end(window, at),
        }
        self.confirm();
    }

    fn shared_sending(&mut self) -> Option<&mut dyn SharedSending> {
        Some(self)
    }
}

impl SharedSending for Warm {
    fn needs(&self) -> SendingNeeds {
        let is_wide = self.options.paces_together && self.wide.is_on();
        let is_second_flight = self.search.is_paced_by_dispersion();
        let is_compared = self.is_starting && self.stock.is_compared();
        SendingNeeds {
            watches_sending: is_wide || is_second_flight || is_compared,
            shares_pace: self.pace.is_on(),
        }
    }

    fn before_sending(&mut self, window: &mut Window, at: &Situation<'_>, unacked: u64) {
        let mss = window.mss();
        self.stock.pace(&mut self.pacing, at, unacked, mss);
        if self.options.paces_together && at.acked_total > 0 {
            let outstanding = at.outstanding().div_ceil(mss);
            self.wide.pace(&mut self.pacing, outstanding, self.cold);
        }
        self.follow_senders(at.now);
        self.pacing.apply(window);
    }

    fn book_departure(&mut self, now: Instant, bytes: u64) -> Option<Instant> {
        self.schedule_departure(now, bytes)
    }

    fn on_departure(&mut self) {
        self.pace.on_sent();
    }

    fn on_all_acked(&mut self) {
        self.set_sending(false);
    }
}

#[cfg(test)]
mod tests;
