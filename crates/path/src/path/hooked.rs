//! The events of the Linux kernel that a start-up of the agent's kind follows
//! ([`policy::startup::KernelEvents`]), and how the path applies its orders for pacing. Paths of
//! all other start-ups never come here.

use super::Path;
use super::pacer::{Batches, PathPacer};
use policy::ack::AckSample;
use policy::startup::{
    HostAccess, KernelEvents, OpenedBy, PendingData, SendingNeeds, SharedSending, Situation,
};
use policy::window::Window;
use units::{Duration, Instant};

/// Maximum number of doublings: with more, a timeout exceeds [`LONGEST_SPACED`].
const MAX_DOUBLINGS: u32 = 16;
/// Longest timeout because of other connections' segments: the smallest upper bound that RFC 6298
/// §2.5 permits.
const LONGEST_SPACED: Duration = Duration::from_secs(60);

/// State of a start-up that follows the events of the kernel.
#[derive(Clone, Default)]
pub(super) struct KernelHooks {
    /// State that the host's connections share; `None`: the start-up does not follow the kernel's
    /// events.
    hooked: Option<HostAccess>,
    /// Current requirements of the start-up.
    pub(super) sending: SendingNeeds,
}

impl Path {
    /// Gives the start-up the state that connections of its host share.
    pub fn hook(&mut self, hooked: HostAccess) {
        if let Some(startup) = self.startup.kernel_events() {
            self.hooks.hooked = Some(hooked.clone());
            startup.hook(hooked);
        }
    }

    #[inline]
    const fn is_hooked(&self) -> bool {
        self.hooks.hooked.is_some()
    }

    /// Notes the end of the handshake; `lossless`: no segment of it was retransmitted.
    pub fn on_opened(&mut self, now: Instant, lossless: bool) {
        self.open(now, OpenedBy::Handshake { lossless });
    }

    /// Notes that data in the SYN has opened the path, before the handshake is done.
    pub fn on_opened_early(&mut self, now: Instant) {
        self.open(now, OpenedBy::EarlyData);
    }

    fn open(&mut self, now: Instant, by: OpenedBy) {
        if self.is_hooked() {
            self.set_now(now);
            self.notify_startup(|startup, window, at| startup.open(window, at, by));
        }
    }

    /// Notes that data is about to be sent with nothing outstanding.
    pub(super) fn on_start_of_sending(&mut self, transfer: PendingData) {
        if self.is_hooked() && transfer.bytes > 0 {
            self.notify_startup(|startup, window, at| startup.start(window, at, transfer));
            // A window below the threshold returns to the start-up.
            self.in_startup |= self.falls_to_startup();
        }
    }

    /// Notes that an idle time is about to reduce the window.
    pub(super) fn on_idle_end(&mut self) {
        if self.is_hooked() {
            self.notify_startup(|startup, window, at| startup.idle(window, at));
        }
    }

    /// Notes that data may be sent; `unacked`: bytes written and not acknowledged.
    #[inline]
    pub fn prepare_to_send(&mut self, unacked: impl FnOnce() -> u64) {
        if self.hooks.sending.watches_sending {
            let unacked = unacked();
            self.notify_startup(|startup, window, at| {
                if let Some(startup) = startup.shared_sending() {
                    startup.before_sending(window, at, unacked);
                }
            });
        }
    }

    /// Sets the weight that the application wants for the connection among those that share with
    /// it.
    pub fn set_weight(&mut self, weight: u32) {
        self.window.set_weight(weight);
    }

    /// Notes that an ACK is digested; `has_grown`: it acknowledges segments delivered outside of
    /// recovery, and the window has grown for them.
    #[inline]
    pub fn on_ack_digested(&mut self, sample: &AckSample, has_grown: bool) {
        if self.is_observed {
            self.observe_ack(sample);
        }
        if self.is_hooked() && (has_grown || self.capabilities.startup.sees_all_acks) {
            self.notify_startup(|startup, window, at| startup.acked(window, at, sample));
        }
    }

    /// Notes an acknowledgement, perhaps of all that was sent.
    pub(super) fn note_arrival_of_all(&mut self) {
        if self.is_hooked()
            && self.acked_total >= self.sent_total
            && let Some(startup) = self.shared_sending()
        {
            startup.on_all_acked();
        }
    }

    /// Notes a congestion event, while the window is unchanged.
    pub(super) fn on_loss_met(&mut self) {
        if self.is_hooked() {
            self.notify_startup(|startup, window, at| startup.lose(window, at));
        }
    }

    /// Notes that a member has sent its last data, or that the last has left.
    pub(super) fn on_end(&mut self) {
        if self.is_hooked() {
            let controller = self.congestion.modelling().filter(|_| !self.in_startup);
            let modelled = controller.and_then(|controller| controller.modelled());
            self.notify_startup(|startup, window, at| startup.close(window, at, modelled));
        }
    }

    /// Returns bytes in flight as the policy counts them: in whole segments, like the kernel, if
    /// the start-up follows its events.
    pub(super) fn counted(&self, in_flight: u64) -> u64 {
        match self.is_hooked() {
            true => in_flight.next_multiple_of(self.window.mss()),
            false => in_flight,
        }
    }

    #[inline(never)]
    fn notify_startup(
        &mut self,
        act: impl FnOnce(&mut dyn KernelEvents, &mut Window, &Situation<'_>),
    ) {
        let now = self.window.now();
        let released = self.pacer.as_ref().map(|pacer| pacer.next_release(now));
        let at = Situation {
            now,
            rtt: &self.rtt,
            sent_total: self.sent_total,
            segments_sent: self.segments_sent,
            segments_resent: self.segments_resent,
            acked_total: self.acked_total,
            max_in_flight: self.usage.max_in_flight,
            last_departure: self.last_sent.max(released).unwrap_or(now),
            in_startup: self.in_startup,
        };
        let Some(startup) = self.startup.kernel_events() else { return };
        act(startup, &mut self.window, &at);
        let needs = startup.shared_sending().map(|startup| startup.needs());
        self.hooks.sending = needs.unwrap_or_default();
        self.note_spacing();
        self.obey_pacing();
    }

    /// Returns the retransmission timeout after `backoff` doublings. It follows from the round
    /// trips, and is long enough for
    /// [`timer_gaps`](policy::startup::StartUpCapabilities::timer_gaps) segments of each connection
    /// to the host.
    #[inline]
    pub fn rto(&self, backoff: u32) -> Duration {
        let timeout = self.rtt.rto(backoff);
        let gaps = self.capabilities.startup.timer_gaps;
        let Some(hooked) = self.hooks.hooked.as_ref().filter(|_| gaps > 0) else {
            return timeout;
        };
        let mss = self.window.mss();
        let gap = hooked.pool(|pool, to| pool.spacing(to.address, mss));
        let spacing = gap.saturating_mul(gaps.into());
        let spaced = (self.rtt.srtt() + spacing).saturating_mul(1 << backoff.min(MAX_DOUBLINGS));
        if spacing.is_zero() { timeout } else { timeout.max(spaced.min(LONGEST_SPACED)) }
    }

    /// Returns when the next segment may be sent among those of other connections, if the start-up
    /// shares its pace with them.
    pub(super) fn departure(&mut self, now: Instant) -> Option<Instant> {
        if !self.hooks.sending.shares_pace {
            return None;
        }
        let mss = self.window.mss();
        self.shared_sending()?.book_departure(now, mss).filter(|&at| at > now)
    }

    fn shared_sending(&mut self) -> Option<&mut dyn SharedSending> {
        self.startup.kernel_events()?.shared_sending()
    }

    /// Notes that a segment was sent.
    pub(super) fn on_departure(&mut self) {
        if self.hooks.sending.shares_pace
            && let Some(startup) = self.shared_sending()
        {
            startup.on_departure();
        }
    }

    /// Switches pacing on or off, by order of the start-up.
    pub(super) fn obey_pacing(&mut self) {
        let Some(order) = self.window.pacing_order() else { return };
        if !order.is_on {
            self.pacer = None;
            self.note_spacing();
        } else if self.pacer.is_none() {
            self.pacer = Some(PathPacer::Batched(Batches::default()));
            self.note_spacing();
            if self.window.pacing_rate().is_none() {
                self.update_pacing_rate();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::config::{ConnectionConfig, RtoConfig, RtoFloor};
    use policy::congestion::reno::{Halve, Reno};
    use policy::startup::slow_start::SlowStart;
    use policy::startup::warm::{ColdOpening, Underneath, Warm, WarmOptions};
    use policy::startup::{SharedHostState, Wrapping};
    use std::net::IpAddr;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Returns a path whose timer knows of other connections, its host, and its peer.
    fn warm_path() -> (Path, SharedHostState, IpAddr) {
        let terms = memory::ReservationTerms {
            max_age: Duration::from_secs(600),
            half_life_rtts: 3000,
            cap: 256,
        };
        let options = WarmOptions {
            terms,
            cold: ColdOpening::Paced,
            uses_size: false,
            ends_epochs: false,
            paces_together: true,
            wide_among: 32,
            jumps_by_dispersion: false,
            timer_gaps: 8,
            opens_early: false,
        };
        let rto = RtoConfig {
            min: Duration::from_millis(20),
            floor: RtoFloor::Variance,
            ..ConnectionConfig::default().rto
        };
        let config = ConnectionConfig { mss: 1448, rto, ..ConnectionConfig::default() };
        let startup = Wrapping::new(Warm::new(options, Underneath::default()), Box::new(SlowStart));
        let reno = Reno { halve: Halve::FlightSize, whole_segments: false };
        let mut path = Path::new(&config, Box::new(startup), Box::new(reno));
        let (host, peer) = (SharedHostState::default(), IpAddr::from([192, 0, 2, 1]));
        path.hook(HostAccess::new(host.clone(), peer));
        (path, host, peer)
    }

    /// A connection counts as a sender until everything is acknowledged, also if that happens in
    /// recovery, when no window grows.
    #[test]
    fn who_has_nothing_under_way_sends_no_more() {
        let (mut path, host, peer) = warm_path();
        let senders = || host.borrow_mut().pool.senders(peer);
        host.borrow_mut().pool.count_sender(peer, true);
        let rto = path.rto(0);
        let transfer = PendingData { bytes: 2000, admitted: 65_535, announced: 0 };
        path.on_sending_resumed(at(0), rto, transfer);
        assert_eq!(senders(), 2);
        path.on_payload_sent(at(0), 1448, 1448, || 1500);
        path.on_payload_sent(at(0), 552, 552, || 604);
        path.on_acked(1448);
        assert_eq!(senders(), 2);
        path.on_acked(552);
        assert_eq!(senders(), 1);
    }

    /// A first round trip of 80 ms makes a timeout of 80 + 4 * 40 = 240 ms. Segments of 1448 bytes
    /// at intervals of 10 ms take 10 ms for each sender. Eight of one sender are 80 ms, less
    /// than 240. Eight of each of 30 senders are 2400 ms, added to the 80. Doublings apply, up to
    /// 60 s.
    #[test]
    fn a_timeout_waits_for_the_segments_of_all_senders() {
        let (mut path, host, peer) = warm_path();
        path.on_rtt_sample(at(0), at(80));
        assert_eq!(path.rto(0), Duration::from_millis(240));
        for n in 0..9 {
            let queued = Duration::from_millis(20);
            host.borrow_mut().pool.note_arrival(at(10 * n), peer, 1448, queued);
        }
        assert_eq!(path.rto(0), Duration::from_millis(240));
        for _ in 0..30 {
            host.borrow_mut().pool.count_sender(peer, true);
        }
        let timeouts = [0, 1, 6].map(|backoff| path.rto(backoff));
        assert_eq!(timeouts, [2480, 4960, 60_000].map(Duration::from_millis));
    }
}
