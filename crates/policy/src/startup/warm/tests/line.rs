//! The events of a connection on its path, at times that a test names.

use super::{MSS, OPENED, PEER, at};
use crate::ack::{AckSample, RttEstimator};
use crate::config::ConnectionConfig;
use crate::startup::hooked::{HostAccess, KernelEvents, SharedHostState, SharedSending, Situation};
use crate::startup::warm::Warm;
use crate::startup::{LossEvent, Overlay, PendingData};
use crate::window::{Cause, Window};
use units::{Duration, Instant};

/// The path of a connection, as its start-up sees it.
pub(super) struct Line {
    pub(super) rtt: RttEstimator,
    pub(super) window: Window,
    pub(super) now: Instant,
    pub(super) sent: u64,
    /// Segments, retransmissions and a SYN included.
    pub(super) segments_sent: u64,
    pub(super) segments_resent: u64,
    pub(super) acked: u64,
}

impl Line {
    pub(super) fn new(ms: u64) -> Self {
        let mut rtt = RttEstimator::new(ConnectionConfig::default().rto);
        rtt.on_sample(at(ms), at(ms + 80), 0, 0);
        let window = Window::new(MSS, 10 * MSS, u64::MAX, false);
        Self { rtt, window, now: at(ms), sent: 0, segments_sent: 1, segments_resent: 0, acked: 0 }
    }

    /// Passes an event to the start-up.
    pub(super) fn notify(
        &mut self,
        startup: &mut dyn KernelEvents,
        act: impl FnOnce(&mut dyn KernelEvents, &mut Window, &Situation<'_>),
    ) {
        self.window.set_now(self.now);
        let at = Situation {
            now: self.now,
            rtt: &self.rtt,
            sent_total: self.sent,
            segments_sent: self.segments_sent,
            segments_resent: self.segments_resent,
            acked_total: self.acked,
            max_in_flight: self.sent - self.acked,
            last_departure: self.now,
            in_startup: true,
        };
        act(startup, &mut self.window, &at);
    }

    pub(super) fn open(&mut self, startup: &mut dyn KernelEvents, host: &SharedHostState) {
        startup.attach_host(HostAccess::new(host.clone(), PEER.into()));
        self.notify(startup, |startup, window, at| startup.on_open(window, at, OPENED));
    }

    /// Something may be sent; `segments` are written and not acknowledged.
    pub(super) fn write(&mut self, warm: &mut Warm, segments: u64) {
        self.notify(warm, |startup, window, at| {
            let sharing = startup.shared_sending().expect("a warm start shares its sending");
            sharing.before_sending(window, at, segments * MSS);
        });
    }

    /// Something to send waits, and nothing is outstanding; `segments` leave.
    pub(super) fn start(&mut self, startup: &mut dyn KernelEvents, segments: u64) {
        let bytes = segments * MSS;
        let transfer = PendingData { bytes, admitted: u64::MAX, announced: 0 };
        self.notify(startup, |startup, window, at| startup.on_transfer_start(window, at, transfer));
        self.sent += bytes;
        self.segments_sent += segments;
    }

    /// `segments` arrive.
    pub(super) fn arrive(&mut self, warm: &mut Warm, ms: u64, segments: u64) {
        self.arrive_at(warm, 1000 * ms, segments);
    }

    /// Delivers segments at `us` microseconds.
    pub(super) fn arrive_at(&mut self, warm: &mut Warm, us: u64, segments: u64) {
        self.arrive_timed(warm, us, segments, None);
    }

    /// Delivers segments at `us` microseconds, the latest of which took `rtt`.
    pub(super) fn arrive_timed(
        &mut self,
        warm: &mut Warm,
        us: u64,
        segments: u64,
        rtt: Option<Duration>,
    ) {
        self.now = Instant::from_nanos(1000 * us);
        self.acked += segments * MSS;
        let sample = AckSample {
            rtt,
            sent_total: self.sent,
            acked_total: self.acked,
            ..AckSample::of(self.now, segments * MSS)
        };
        warm.observe(&mut self.window, &sample);
        self.notify(warm, |startup, window, at| startup.on_acked(window, at, &sample));
        if self.acked >= self.sent {
            warm.on_all_acked();
        }
    }

    /// Delivers segments during a repair, in which congestion control gets no ACKs.
    pub(super) fn arrive_in_recovery(&mut self, warm: &mut Warm, ms: u64, segments: u64) {
        self.now = at(ms);
        self.acked += segments * MSS;
        warm.observe(&mut self.window, &AckSample::of(self.now, segments * MSS));
    }

    /// Retransmits `segments`.
    pub(super) fn retransmit(&mut self, segments: u64) {
        self.segments_sent += segments;
        self.segments_resent += segments;
    }

    /// It is over.
    pub(super) fn close(&mut self, warm: &mut Warm) {
        self.notify(warm, |startup, window, at| startup.on_close(window, at, None));
    }

    /// Adds a round trip of `ms`, of which an eighth counts.
    pub(super) fn round_trip(&mut self, ms: u64) {
        self.rtt.on_sample(self.now, self.now + Duration::from_millis(ms), 0, 0);
    }

    /// A round trip of 180 ms: the smoothed one becomes 92.5 ms, an eighth more than 80 and some.
    pub(super) fn queue(&mut self) {
        self.round_trip(180);
    }

    /// Something is lost of a window that the congestion control makes `ssthresh` segments.
    pub(super) fn lose(&mut self, warm: &mut Warm, ssthresh: u64) {
        self.notify(warm, |startup, window, at| startup.on_loss_or_mark(window, at));
        self.window.set_ssthresh(ssthresh * MSS, Cause::Loss);
        warm.on_loss(&mut self.window, LossEvent::Reduced);
    }

    pub(super) fn segments(&self) -> u64 {
        self.window.cwnd() / MSS
    }
}
