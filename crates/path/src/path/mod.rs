//! A path: the amount of data that may be in flight towards a destination, and its timing.
//!
//! One or more connections use it; a lone connection is an ensemble of one. It holds the [`Window`]
//! beside the start-up and the congestion controller that move it, keeps the state for an undo, and
//! paces.

mod beginning;
mod bucket;
mod capabilities;
mod control;
mod epochs;
mod hooked;
mod learning;
mod observed;
mod pacer;
mod pacing;
mod planned;
mod reduction;
mod restart;
mod round_trips;
mod send_log;
mod shared;
mod startup_report;
mod usage;
mod wait;

use capabilities::Capabilities;
pub use control::MemberDelivery;
use hooked::KernelHooks;
pub use learning::{Learning, LearningTerms, Reporting};
pub use pacer::Pacer;
use pacer::{Batches, PacedSegment, PathPacer};
use planned::PlannedSending;
use policy::ack::{AckSample, DeliveryMeter, RoundMeter, RttEstimator};
use policy::config::{ConnectionConfig, IdleRestart, PacingGain, WindowValidation};
use policy::congestion::CongestionControl;
use policy::recovery::Overtaken;
use policy::sharing::Sharing;
use policy::startup::{Beginning, Phase, StartUp, StartupReason};
use policy::window::{Cause, Window};
pub use restart::IdlePath;
use segment::Segment;
pub use send_log::{Front, SendLog};
use shared::Shared;
pub use shared::{Origin, PathReset};
use startup_report::StartUpMeter;
pub use startup_report::{StartUpExit, StartUpReport};
use units::{Duration, Instant};
pub use usage::SendLimit;
use usage::{PathBytes, WindowUsage};
use wait::PacerWait;

/// The congestion state towards one destination.
pub struct Path {
    window: Window,
    startup: Box<dyn StartUp>,
    congestion: Box<dyn CongestionControl>,
    in_startup: bool,
    capabilities: Capabilities,
    hooks: KernelHooks,
    /// Round trips on this path, shared by its members.
    rtt: RttEstimator,
    pacer: Option<PathPacer>,
    pacing_gain: PacingGain,
    /// True if one of the reasons of [`Path::is_paced`] holds, other than an order of the window's.
    spaces: bool,
    /// The start-up's plan for the spacing of segments.
    planned: Option<PlannedSending>,
    /// Delay of its timer for the segment to be sent.
    wait: PacerWait,
    in_flight: u64,
    /// Segments outstanding of a member that has the path for itself.
    segments_out: u64,
    sent_total: u64,
    acked_total: u64,
    segments_sent: u64,
    /// Retransmissions of data among these.
    segments_resent: u64,
    last_sent: Option<Instant>,
    last_acked: Option<Instant>,
    /// True if the restart rule was applied, and nothing was sent since.
    resumed: bool,
    /// True if the path has had its first data.
    started: bool,
    /// The kind of the start-up's last beginning.
    beginning: Beginning,
    before_reduction: Option<(u64, u64)>,
    usage: WindowUsage,
    startup_meter: StartUpMeter,
    /// Present only for policies that judge round trips.
    rounds: Option<Box<RoundMeter>>,
    /// Present only for policies that model the path.
    meter: Option<Box<DeliveryMeter>>,
    /// Present only for members that repair losses together.
    log: Option<Box<SendLog>>,
    idle: IdleRestart,
    restart_window: u64,
    /// Maximum number of segments of the first data, because SYNs were lost.
    lost_initial_window: Option<u32>,
    /// Memory of the destination; only for schemes that remember.
    learning: Option<Box<Learning>>,
    /// True if its memory is a site's: the measurements of transfers are noted.
    is_observed: bool,
    /// True if reports to a gateway depend on the data in flight.
    notes_flights: bool,
    /// Present only for paths that several connections may share.
    shared: Option<Box<Shared>>,
}

impl Path {
    /// Creates a path that begins with the initial window of `config`.
    pub fn new(
        config: &ConnectionConfig,
        startup: Box<dyn StartUp>,
        congestion: Box<dyn CongestionControl>,
    ) -> Self {
        let mss = u64::from(config.mss);
        let segments = |n: u32| u64::from(n) * mss;
        let initial = segments(config.initial_window);
        let ssthresh = config.initial_ssthresh.map_or(u64::MAX, segments);
        let mut window = Window::new(mss, initial, ssthresh, config.record_window);
        window.set_cwnd(initial, Cause::Initial);
        window.set_limit(config.window_limit.map_or(u64::MAX, segments));
        let capabilities = Capabilities::of(&*startup, &*congestion);
        let models = capabilities.may_rule_recovery();
        let pacer = match models {
            true => PathPacer::Batched(Batches::default()),
            false => PathPacer::Even(Pacer::with_burst(config.pacing_burst)),
        };
        Self {
            window,
            startup,
            congestion,
            in_startup: true,
            capabilities,
            hooks: KernelHooks::default(),
            rtt: RttEstimator::new(config.rto),
            pacer: config.pacing.then_some(pacer),
            pacing_gain: config.pacing_gain,
            spaces: config.pacing,
            planned: None,
            wait: PacerWait::default(),
            in_flight: 0,
            segments_out: 0,
            sent_total: 0,
            acked_total: 0,
            segments_sent: 0,
            segments_resent: 0,
            last_sent: None,
            last_acked: None,
            resumed: false,
            started: false,
            beginning: Beginning::Whole,
            before_reduction: None,
            usage: WindowUsage::new(config.validation),
            startup_meter: StartUpMeter::default(),
            rounds: capabilities.need_rounds().then(Box::default),
            meter: models.then(Box::default),
            log: None,
            idle: config.idle,
            restart_window: initial,
            lost_initial_window: None,
            learning: None,
            is_observed: false,
            notes_flights: false,
            shared: None,
        }
    }

    /// Makes members repair losses together.
    #[must_use]
    pub fn with_send_log(mut self, rule: Overtaken) -> Self {
        self.log = Some(Box::new(SendLog::new(rule)));
        self.share(Sharing::default());
        self
    }

    /// Returns true if the members repair losses together.
    #[inline]
    pub const fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// Returns the order of sending, if members repair losses together.
    pub fn log(&mut self) -> Option<&mut SendLog> {
        self.log.as_deref_mut()
    }

    /// Updates a member, by its connection's number, if members repair losses together.
    pub fn follow(&mut self, member: u32, front: Front) {
        if let Some(log) = &mut self.log {
            log.follow(member, self.segments_sent, front);
        }
    }

    /// Removes a member.
    pub fn forget(&mut self, member: u32) {
        if let Some(log) = &mut self.log {
            log.leave(member);
        }
    }

    /// Returns the window.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the bytes that may be in flight: `cwnd`, bounded by the configured limit.
    #[inline]
    pub fn usable_cwnd(&self) -> u64 {
        self.window.usable()
    }

    /// Returns the bytes in flight of all members.
    pub const fn bytes_in_flight(&self) -> u64 {
        self.in_flight
    }

    #[inline]
    const fn bytes(&self) -> PathBytes {
        let (sent, acked) = (self.sent_total, self.acked_total);
        PathBytes { sent, acked, in_flight: self.in_flight }
    }

    /// Returns the report of the path's first start-up.
    pub const fn startup_report(&self) -> &StartUpReport {
        self.startup_meter.report()
    }

    /// Returns true while the start-up owns the window.
    pub const fn in_startup(&self) -> bool {
        self.in_startup
    }

    /// Sets the number of different clients that its connections serve.
    pub fn set_clients(&mut self, clients: u32) {
        self.window.set_clients(clients);
    }

    /// Sets the clock that window changes are recorded with.
    pub fn set_now(&mut self, now: Instant) {
        self.window.set_now(now);
    }

    /// Adapts the window to the segment size that the handshake agreed on: as many segments as
    /// before.
    pub fn set_mss(&mut self, mss: u64) {
        let old = self.window.mss();
        if mss == old || self.has_several_users() {
            return;
        }
        let rescale = |bytes: u64| match bytes {
            u64::MAX => u64::MAX,
            b => b / old * mss,
        };
        let (cwnd, ssthresh) = (self.window.cwnd(), self.window.ssthresh());
        self.window.set_mss(mss);
        self.window.set_cwnd(rescale(cwnd), Cause::Initial);
        if ssthresh != u64::MAX {
            self.window.set_ssthresh(rescale(ssthresh), Cause::Initial);
        }
        self.restart_window = rescale(self.restart_window);
        self.window.set_limit(rescale(self.window.limit()));
    }

    /// Updates this member's part of the bytes in flight.
    pub fn move_in_flight(&mut self, before: u64, after: u64) {
        self.in_flight = self.in_flight - before + after;
    }

    /// Notes the segments outstanding of a member that has the path for itself.
    #[inline]
    pub const fn note_segments_out(&mut self, segments: u64) {
        self.segments_out = segments;
    }

    /// Returns the position of the next segment among all sent on the path that carry data, SYN or
    /// FIN.
    #[inline]
    pub const fn next_order(&self) -> u64 {
        self.segments_sent
    }

    /// Books a segment that is sent now with `fresh` bytes of new data.
    #[inline(always)]
    pub fn on_sent(&mut self, now: Instant, segment: &Segment, fresh: u64) {
        self.on_payload_sent(now, segment.len, fresh, || segment.wire_bytes());
    }

    /// Books a segment with `len` bytes of payload; `wire_bytes` is called only if the path is
    /// paced.
    #[inline(always)]
    pub fn on_payload_sent(
        &mut self,
        now: Instant,
        len: u32,
        fresh: u64,
        wire_bytes: impl FnOnce() -> u32,
    ) {
        self.on_unpaced_sent(now, len, fresh);
        if self.is_paced() {
            let segment = PacedSegment { payload: len.into(), wire: wire_bytes().into(), fresh };
            self.pace(now, segment);
        }
    }

    /// Books a segment on a path that is known not to be paced.
    #[inline(always)]
    pub fn on_unpaced_sent(&mut self, now: Instant, len: u32, fresh: u64) {
        self.sent_total += fresh;
        let is_resent = fresh == 0 && len > 0;
        self.segments_sent += 1;
        self.segments_resent += u64::from(is_resent);
        self.last_sent = Some(now);
        self.resumed = false;
        if self.startup_meter.watches_segments() {
            self.startup_meter.on_sent(is_resent, self.acked_total);
        }
        if self.is_observed && is_resent {
            self.observe_resent();
        }
        if let Some(shared) = &mut self.shared {
            shared.on_sent((len > 0).into());
        }
    }

    /// Notes why nothing more is sent for now: validation of the window needs it (RFC 7661 §4.1,
    /// RFC 9002 §7.8).
    #[inline]
    pub fn on_send_stopped(&mut self, limit: SendLimit) {
        if self.usage.validation != WindowValidation::Off {
            let is_full = self.in_flight + self.window.mss() > self.window.cwnd();
            // Short segments, and a FIN, use the window as full ones do (`max_packets_out`).
            let segments = if self.is_shared() { 0 } else { self.segments_out };
            let in_flight = self.in_flight.max(segments * self.window.mss());
            self.usage.note_limit(limit, PathBytes { in_flight, ..self.bytes() }, is_full);
        }
    }

    /// Returns true if growing the window has a reason. By Linux's rule, in slow start half of it
    /// must be in use; otherwise it must be what limits sending.
    #[inline]
    pub fn is_cwnd_limited(&self) -> bool {
        let usage = &self.usage;
        let uses_half = || {
            let used = self.in_whole_segments(usage.max_in_flight);
            self.window.below_ssthresh() && self.window.cwnd() < 2 * used
        };
        match usage.validation {
            WindowValidation::Off => true,
            WindowValidation::Linux => usage.limited || uses_half(),
            WindowValidation::Quic => usage.limited,
        }
    }

    /// Shows an ACK to the start-up, which may find the path full, and completes the sample.
    #[inline]
    pub fn observe(&mut self, sample: &mut AckSample) {
        sample.sent_total = self.sent_total;
        sample.acked_total = self.acked_total;
        sample.cwnd_limited = self.is_cwnd_limited();
        if self.capabilities.shows_acks {
            self.show_ack(sample);
        }
    }

    /// Does the same as [`Path::observe`], on a path with an observing policy.
    #[inline(never)]
    fn show_ack(&mut self, sample: &mut AckSample) {
        if let Some(rounds) = &mut self.rounds {
            sample.round = rounds.on_ack(sample, self.window.mss());
        }
        if self.notes_flights {
            self.note_flight(sample);
        }
        if self.capabilities.startup.observes {
            self.startup.observe(&mut self.window, sample);
        }
    }

    /// Grows the window on an ACK of new data outside of recovery. Returns true if the start-up
    /// takes back what it sent.
    #[inline]
    pub fn on_ack(&mut self, sample: &AckSample) -> bool {
        if !sample.cwnd_limited && !self.is_ruled() {
            return false;
        }
        if !self.in_startup {
            self.enter_startup_if_below(StartupReason::Loss);
        }
        let fall_back = self.ask_owner(sample);
        if self.is_metered() {
            self.apply_meter_orders();
        }
        fall_back
    }

    /// Lets the policy that owns the window grow it. Returns true if the start-up takes back what
    /// it sent.
    #[inline]
    fn ask_owner(&mut self, sample: &AckSample) -> bool {
        if !self.in_startup {
            self.grow_in_avoidance(sample);
            return false;
        }
        let before = self.window.cwnd();
        let phase = self.startup.on_ack(&mut self.window, sample);
        if phase == Phase::Done {
            self.in_startup = false;
            self.startup_meter.on_exit(StartUpExit::Completed);
            self.hand_over();
            if self.window.cwnd() == before {
                // The window was at the threshold before, so this ACK is for congestion avoidance.
                self.grow_in_avoidance(sample);
            }
        }
        phase == Phase::FallBack
    }

    #[inline]
    fn grow_in_avoidance(&mut self, sample: &AckSample) {
        if self.startup_meter.is_under_way() {
            self.startup_meter.on_avoidance(sample.now, self.bytes());
        }
        self.congestion.on_ack(&mut self.window, sample);
    }

    /// Returns true if the start-up replaces the retransmission timeout by one of its own, perhaps
    /// only for segments with low priority.
    #[inline]
    pub const fn has_reset_timer(&self) -> bool {
        self.window.has_ordered_timeout()
    }

    /// Returns the timeout with which the start-up replaces the retransmission timeout, if any;
    /// `marked`: it is to guard a segment sent with low priority.
    pub fn reset_timeout(&self, marked: bool) -> Option<Duration> {
        self.window.ordered_timeout(marked)
    }

    /// Adds `bytes` newly acknowledged cumulatively.
    #[inline]
    pub fn on_acked(&mut self, bytes: u64) {
        self.acked_total += bytes;
        if bytes > 0 {
            self.last_acked = Some(self.window.now());
            self.note_arrival_of_all();
        }
    }
}
