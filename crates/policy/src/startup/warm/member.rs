//! The agent's session: the connections to one host share a window ([`arith::session`]). It is
//! remembered, and the window pool divides it, as one connection's. A connection joins as it sends,
//! gets its share at every ACK, and leaves when all its data is delivered (`session.h`, `join.h`,
//! `allocation.h` of the agent).
//!
//! Each connection keeps a path of its own, whose window is its share; the session is in the common
//! state of the host's connections. The session decides on losses, so it rules them as long as the
//! connection lives.

use super::allocation::{Allocation, enter_active};
use super::learning::ProvenSegments;
use super::loss::LossWindow;
use super::pacing::rate_of;
use super::{Underneath, Warm, WarmOptions, WarmPhase, clock_us, segments};
use crate::ack::{AckSample, Episode};
use crate::bbr::ModelledPath;
use crate::config::MemoryKind;
use crate::registry::{Implied, Make};
use crate::startup::hooked::{HostAccess, KernelEvents, OpenedBy, Situation};
use crate::startup::{
    Beginning, LossEvent, PendingData, Phase, SlowStart, Start, StartUp, StartUpCapabilities,
    StartUpDescriptor, StartupReason,
};
use crate::window::{Cause, Window};
use arith::measure::TrainAck;
use arith::reuse::pacing_rate;
use arith::session::{
    INITIAL_WINDOW, Joining, MemberArrival, Session, SessionMember, UNLIMITED, burst_rate,
    known_to_send,
};

/// The agent's session.
pub static MEMBER: StartUpDescriptor = StartUpDescriptor::new(
    "session-member",
    "has a share of one window for all connections to a host, which begins with what is remembered",
    "docs/adr/0013-agent.md, 0020-one-policy.md; docs/agent/design.md",
    Make::Alone(&|setup| Box::new(MemberStart::new(WarmOptions::of(setup)))),
)
.with(&[
    &super::options::CAP,
    &super::options::MAX_AGE,
    &super::options::HALF_LIFE,
    &super::options::SIZE,
])
.implying(Implied { memory: MemoryKind::WindowPool, pacing: true, ..Implied::NOTHING })
.explained(&super::super::pages::MEMBER);

/// Number of segments that are not paced, as the kernel's first ones of a connection.
const UNPACED_SEGMENTS: u64 = 10;
/// Shortest round trip that is paced, microseconds. Linux paces in pieces of about a millisecond,
/// so nothing shorter is spaced.
const MIN_PACED_RTT_US: u32 = 1000;

/// A member of a session.
pub struct MemberStart {
    warm: Warm,
    member: SessionMember,
    lossless: bool,
    /// The path has had its first data.
    has_started: bool,
    /// The connection has opened, and is in its session. Without a session it is in plain slow
    /// start.
    is_in: bool,
    /// Rate of its first flight while that lasts, bytes a second.
    warm_rate: u64,
    /// Its ACKs are sampled for the rate of the path.
    is_measured: bool,
    /// Repairs were under way at the last ACK.
    recovers: bool,
}

impl MemberStart {
    /// A connection that has not opened.
    pub fn new(options: WarmOptions) -> Self {
        Self {
            warm: Warm::new(options, Underneath { models: false, is_paced: true }),
            member: SessionMember::default(),
            lossless: true,
            has_started: false,
            is_in: false,
            warm_rate: 0,
            is_measured: false,
            recovers: false,
        }
    }

    /// Changes the session together with its state of this member.
    fn session<T>(&mut self, act: impl FnOnce(&mut Session, &mut SessionMember) -> T) -> Option<T> {
        let hooked = self.warm.hooked.as_ref().filter(|_| self.is_in)?;
        let member = &mut self.member;
        Some(hooked.session(|session| act(session, member)))
    }

    fn note_phase(&mut self) {
        let rate = self.warm.pacing.limited_to();
        self.warm_rate = if self.warm.in_first_flight() { rate } else { 0 };
    }

    /// Applies its share of the window, which is smaller after a timeout of its own (`take_share`).
    fn take_share(&mut self, window: &mut Window, at: &Situation<'_>, allocation: &Allocation) {
        let mss = window.mss();
        let mut share = allocation.share;
        let ssthresh = if allocation.is_in_slow_start { u64::MAX } else { u64::from(share) * mss };
        if self.member.limit > 0 && self.member.limit < share {
            share = self.member.limit;
        } else {
            self.member.limit = 0;
        }
        // No round trip is known to pace it by: the usual initial window.
        if at.srtt_us() == 0 && allocation.base_us == 0 {
            share = share.min(INITIAL_WINDOW);
        }
        if window.ssthresh() != ssthresh {
            window.set_ssthresh(ssthresh, Cause::Membership);
        }
        let cwnd = u64::from(share) * mss;
        if window.cwnd() != cwnd {
            window.set_cwnd(cwnd, Cause::Membership);
        }
    }

    /// Paces its share (`pace_share`), with `in_flight` bytes in flight.
    fn pace_share(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        allocation: &Allocation,
        in_flight: u64,
    ) {
        let mss = window.mss();
        let rtt_us = if at.srtt_us() > 0 { at.srtt_us() } else { allocation.base_us };
        let even = pacing_rate(allocation.spread, mss as u32, rtt_us);
        let is_hurried = allocation.is_in_slow_start && allocation.is_proven;
        let rate = match self.warm_rate {
            0 => {
                burst_rate(even, allocation.rate, allocation.spread, allocation.window, is_hurried)
            }
            rate => rate,
        };
        let may_be_spaced = !allocation.is_proven || rtt_us == 0 || rtt_us >= MIN_PACED_RTT_US;
        let is_burst = window.cwnd() > in_flight + UNPACED_SEGMENTS * mss;
        let is_limited = self.warm.pacing.limited_to() > 0;
        if (may_be_spaced && is_burst) || self.recovers || is_limited {
            self.warm.pacing.keep_paced();
        } else {
            self.warm.pacing.leave_unpaced();
        }
        self.warm.pacing.apply(window);
        if rate > 0 && self.warm.pacing.is_on() {
            window.set_pacing_rate(Some(rate_of(rate)));
        }
    }

    /// Starts for all, as a connection by itself does: from memory, if there is one (`lead`).
    fn start_session(&mut self, window: &mut Window, at: &Situation<'_>) {
        window.set_cwnd(u64::from(self.warm.cold) * window.mss(), Cause::Seed);
        window.set_ssthresh(u64::MAX, Cause::Seed);
        if self.warm.in_first_flight() {
            self.warm.end_first_flight(WarmPhase::Stock);
        }
        self.warm.choose_memory(at.now);
        let fails = match at.sent_total {
            0 => !self.lossless,
            _ => self.warm.has_fallen_back,
        };
        if !fails {
            self.warm.begin_as_remembered(window, at, 1);
        }
    }

    /// Starts for all, and joins (`begin_session`). Returns the allocation and the whole window in
    /// segments.
    fn begin_session(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        joining: &Joining,
    ) -> Option<(Allocation, u32)> {
        let remembered = self.warm.hooked.as_ref()?.pool(|pool, to| pool.path(to));
        self.start_session(window, at);
        self.warm.is_paced = false;
        self.note_phase();
        let mss = window.mss();
        let whole = segments(window.cwnd(), mss);
        let ssthresh = match window.ssthresh() {
            u64::MAX => UNLIMITED,
            bytes => segments(bytes, mss),
        };
        let is_warm = self.warm.in_first_flight();
        let rate = remembered.filter(|_| is_warm).map_or(0, |path| path.rate);
        let now_ns = at.now.as_nanos();
        let allocation = self.session(|session, member| {
            if session.weights == 0 {
                session.start(whole, ssthresh, is_warm, rate);
            }
            session.used_ns = now_ns;
            enter_active(session, member, joining)
        })?;
        Some((allocation, whole))
    }

    /// Starts to send with nothing outstanding (`start_member`).
    fn begin_to_send(&mut self, window: &mut Window, at: &Situation<'_>, transfer: PendingData) {
        self.member.wants = window.weight();
        let mss = window.mss();
        let is_first = at.sent_total == 0;
        let among = match (&self.warm.hooked, is_first) {
            (Some(hooked), true) => hooked.pool(|pool, to| pool.finish_handshake(at.now, to)),
            _ => 1,
        };
        let announced = if self.warm.options.uses_size { transfer.announced } else { 0 };
        let clamped = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let queued = clamped(transfer.bytes);
        let sends = known_to_send(clamped(announced), queued, mss as u32, self.member.in_pieces);
        let joining = Joining { among, sends };
        let (now_ns, srtt_us) = (at.now.as_nanos(), at.srtt_us());
        let joined = self.session(|session, member| {
            let leads = session.is_idle(now_ns, srtt_us);
            (!leads).then(|| enter_active(session, member, &joining))
        });
        let (allocation, whole) = match joined {
            None => return,
            Some(Some(allocation)) => (allocation, 0),
            Some(None) => match self.begin_session(window, at, &joining) {
                Some(started) => started,
                None => return,
            },
        };
        let allocation = if is_first { self.cap_first_share(allocation) } else { allocation };
        self.take_share(window, at, &allocation);
        self.pace_share(window, at, &allocation, 0);
        if self.warm.in_first_flight() && segments(window.cwnd(), mss) < whole {
            self.lead_with_part(window, at, whole);
        }
        if is_first {
            self.warm.measure.begin_at(at.sent_total);
            self.is_measured = true;
        }
        self.note_phase();
        self.warm.measure.begin_first_train(clock_us(at.now));
    }

    /// Limits a first share to the operator's cap: other connections may have proven more
    /// (`cap_first_share`).
    fn cap_first_share(&self, allocation: Allocation) -> Allocation {
        let most = self.warm.options.terms.cap.max(self.warm.cold);
        Allocation { share: allocation.share.min(most), ..allocation }
    }

    /// Makes a member lead with its part of the first flight. The others have the rest: losses
    /// after its part are not in its start, and it leaves at its part of the rate
    /// (`lead_with_part`).
    fn lead_with_part(&mut self, window: &mut Window, at: &Situation<'_>, whole: u32) {
        let cwnd = segments(window.cwnd(), window.mss());
        let limit = self.warm.pacing.limited_to();
        let rate = (limit.saturating_mul(cwnd.into()) / u64::from(whole)).max(1);
        self.warm.flight.end = at.sent_total + window.cwnd();
        self.warm.pacing.limit(rate);
        self.warm.pacing.apply(window);
        window.set_pacing_rate(Some(rate_of(rate)));
    }

    /// Measures the path's rate while slow start lasts; not beside others, because its deliveries
    /// are then only a part of the rate (`measure_member`).
    fn measure(&mut self, window: &Window, at: &Situation<'_>, is_alone: bool) {
        let measure = &mut self.warm.measure;
        self.is_measured &= window.below_ssthresh() && !measure.has_measured_enough();
        if !self.is_measured {
            return;
        }
        let ack = TrainAck {
            at_us: clock_us(at.now),
            delivered: self.warm.delivered,
            una: at.acked_total,
            next: at.sent_total,
            sent_us: clock_us(at.last_departure),
        };
        if !is_alone {
            return measure.skip(&ack);
        }
        measure.on_ack(&ack);
        if at.outstanding() == 0 {
            measure.end(at.sent_total);
        }
    }

    /// Stores the proven window, because the last active member is done
    /// (`update_memory_of_session`).
    fn store_proven_window(&mut self, window: &Window, at: &Situation<'_>, taught: &ProvenValues) {
        let ProvenValues { all, is_growing, flight, is_warm } = *taught;
        let mut sample = self.warm.current_sample(window, at);
        let proof = ProvenSegments {
            cwnd: all,
            in_slow_start: is_growing,
            flight,
            first: is_warm.into(),
            delivered: 0,
        };
        sample.window = self.warm.proven_window(at, &proof);
        sample.ssthresh = 0;
        self.warm.record_sample(at.now, &sample, false);
    }

    /// Reduces the member to its share of the session's reduced window.
    fn loss_effect(&mut self, window: &mut Window) {
        let reduced = self.session(|session, member| session.share_of(member));
        let Some(share) = reduced else { return };
        if let Some(super::LossEffect::Sample { is_measured, sample }) =
            self.warm.loss_effect.take()
        {
            self.warm.record_sample(window.now(), &sample, is_measured);
        }
        let cause = window.last_cause();
        window.set_ssthresh(u64::from(share.max(2)) * window.mss(), cause);
    }

    /// Takes back the last reduction, which was spurious, for the session too.
    fn undo_loss_effect(&mut self, window: &Window) {
        self.member.wants = window.weight();
        self.warm.pacing.keep_paced();
        self.member.limit = 0;
        self.session(|session, member| {
            session.take_back_reduction();
            session.count_weight(member, member.wants);
        });
    }
}

/// The values that a session has proven as its last active member is done.
#[derive(Clone, Copy, Debug)]
struct ProvenValues {
    /// Window of all members, segments.
    all: u32,
    is_growing: bool,
    flight: u32,
    is_warm: bool,
}

impl StartUp for MemberStart {
    fn capabilities(&self) -> StartUpCapabilities {
        let rules_recovery = self.is_in || !self.has_started;
        StartUpCapabilities { rules_recovery, sees_all_acks: true, ..Default::default() }
    }

    /// The session's own events are the kernel's. A timeout leaves the member one segment, and its
    /// share to the others until a segment is delivered (`hs_session_set_state`).
    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        self.has_started = true;
        if start.reason == StartupReason::Loss && window.last_cause() == Cause::Timeout {
            self.warm.pacing.keep_paced();
            self.warm.pacing.apply(window);
            self.member.limit = 1;
            self.session(Session::discount);
        }
        Beginning::Whole
    }

    fn observe(&mut self, window: &mut Window, sample: &AckSample) {
        self.warm.observe_arrival(window, sample);
    }

    /// [`KernelEvents::on_acked`] does this: it needs more of the path.
    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        if self.is_in { Phase::Continue } else { SlowStart.on_ack(window, sample) }
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        match event {
            LossEvent::LossSignal(_) => {}
            LossEvent::Reduced => self.loss_effect(window),
            LossEvent::Undone => self.undo_loss_effect(window),
        }
        Phase::Continue
    }

    fn kernel_events(&mut self) -> Option<&mut dyn KernelEvents> {
        Some(self)
    }
}

impl KernelEvents for MemberStart {
    fn attach_host(&mut self, hooked: HostAccess) {
        self.warm.hooked = Some(hooked);
    }

    fn on_open(&mut self, window: &mut Window, at: &Situation<'_>, by: OpenedBy) {
        self.lossless = by != OpenedBy::Handshake { lossless: false };
        self.warm.opened = Some(at.now);
        self.warm.cold = segments(window.cwnd(), window.mss());
        window.set_ssthresh(u64::MAX, Cause::Seed);
        if let Some(hooked) = &self.warm.hooked {
            hooked.enter_session();
            self.is_in = true;
        }
        self.warm.pacing.apply(window);
    }

    fn on_transfer_start(
        &mut self,
        window: &mut Window,
        at: &Situation<'_>,
        transfer: PendingData,
    ) {
        self.begin_to_send(window, at, transfer);
    }

    /// Processes every ACK, also in recovery (`hs_session_cong_control`).
    fn on_acked(&mut self, window: &mut Window, at: &Situation<'_>, sample: &AckSample) {
        self.member.wants = window.weight();
        let mss = window.mss();
        let up = |bytes: u64| segments(bytes + mss - 1, mss);
        let delivery = sample.delivery.as_ref();
        self.recovers = delivery.is_some_and(|delivery| delivery.episode != Episode::None);
        let acked = up(sample.delivered);
        let arrival = MemberArrival {
            now_ns: at.now.as_nanos(),
            acked,
            outstanding: up(at.outstanding()),
            rtt_us: sample.rtt.map_or(0, crate::startup::hooked::microseconds),
            srtt_us: at.srtt_us(),
            may_grow: acked > 0 && !self.recovers && sample.cwnd_limited,
        };
        let after = self.session(|session, member| {
            session.count_weight(member, member.wants);
            session.on_arrival(member, &arrival);
            let is_alone = session.weights == member.weight;
            let allocation = Allocation::of(session, session.share_of(member));
            if arrival.outstanding == 0 {
                session.count_weight(member, 0);
            }
            let flight = session.proven_flight();
            let teaches = session.weights == 0 && session.is_new_sample(flight, arrival.now_ns);
            let (all, is_growing) = (session.window, session.is_in_slow_start());
            let taught = ProvenValues { all, is_growing, flight, is_warm: session.is_warm };
            (allocation, is_alone, teaches.then_some(taught))
        });
        let Some((allocation, is_alone, taught)) = after else { return };
        if self.member.limit > 0 {
            self.member.limit = self.member.limit.saturating_add(acked);
        }
        self.take_share(window, at, &allocation);
        // The first retransmission does not wait until enough is delivered.
        if self.recovers && delivery.is_some_and(|delivery| delivery.lost > 0) {
            let least = sample.in_flight + mss;
            window.set_cwnd(window.cwnd().max(least), Cause::Recovery);
        }
        // When it starts to send, its pacing is set again.
        if arrival.outstanding > 0 {
            self.pace_share(window, at, &allocation, sample.in_flight);
        }
        if acked > 0 && !self.recovers {
            self.warm.on_progress(window, at);
            self.measure(window, at, is_alone);
            self.note_phase();
            self.warm.pacing.apply(window);
        }
        if let Some(taught) = taught {
            self.store_proven_window(window, at, &taught);
        }
    }

    /// Processes a loss or a mark (`hs_session_ssthresh`).
    fn on_loss_or_mark(&mut self, window: &mut Window, at: &Situation<'_>) {
        self.warm.pacing.keep_paced();
        let most = match (self.warm.in_first_flight(), self.warm.has_failed(window, at)) {
            (true, true) => self.warm.fall_back(window, at),
            (true, false) => {
                self.warm.doubt_flight();
                u32::MAX
            }
            (false, _) => u32::MAX,
        };
        self.is_measured = false;
        self.note_phase();
        let (now_ns, srtt_us) = (at.now.as_nanos(), at.srtt_us());
        let met = self.session(|session, _| {
            let (before, was_in_slow_start) = (session.window, session.is_in_slow_start());
            let has_reduced = session.reduce(now_ns, srtt_us);
            session.fall_to(most);
            (before, was_in_slow_start, has_reduced)
        });
        self.warm.loss_effect = None;
        if let Some((cwnd, in_slow_start, true)) = met
            && most == u32::MAX
        {
            let loss = LossWindow { cwnd, in_slow_start };
            self.warm.loss_effect = Some(self.warm.sample_loss(window, at, loss));
        }
        self.warm.pacing.apply(window);
    }

    fn on_close(&mut self, _: &mut Window, _: &Situation<'_>, _: Option<ModelledPath>) {
        if std::mem::take(&mut self.is_in)
            && let Some(hooked) = &self.warm.hooked
        {
            hooked.leave_session(&mut self.member);
            self.warm.confirm();
        }
    }
}
