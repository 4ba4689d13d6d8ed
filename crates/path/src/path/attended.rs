//! The events that a start-up of the agent's kind is told of ([`policy::startup::Attended`]), and how its orders for pacing are
//! carried out. Paths of all other start-ups never come here.

use super::Path;
use super::pacer::{Batches, PathPacer};
use policy::ack::AckSample;
use policy::startup::{Attendance, Attended, PendingData, Situation};
use policy::window::Window;
use units::Instant;

/// What the path knows of its start-up, if that is told of more events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attention {
    /// It is.
    pub(super) is_attended: bool,
    /// Every ACK is shown to it, also in recovery.
    sees_all_acks: bool,
    /// It is to be asked before anything is sent.
    pub(super) watches_sending: bool,
    /// It gives each segment its time.
    pub(super) shares_pace: bool,
}

impl Path {
    /// The start-up has what connections of its host have in common.
    pub fn attend(&mut self, attendance: Attendance) {
        if let Some(startup) = self.startup.attended() {
            self.attention.is_attended = true;
            self.attention.sees_all_acks = startup.sees_all_acks();
            startup.attend(attendance);
        }
    }

    /// The handshake is done; `lossless`: nothing of it was sent again.
    pub fn on_opened(&mut self, now: Instant, lossless: bool) {
        if self.attention.is_attended {
            self.set_now(now);
            self.tell(|startup, window, at| startup.open(window, at, lossless));
        }
    }

    /// Data is about to be sent with nothing outstanding.
    pub(super) fn on_start_of_sending(&mut self, transfer: PendingData) {
        if self.attention.is_attended && transfer.bytes > 0 {
            self.tell(|startup, window, at| startup.start(window, at, transfer));
            // A window below the threshold is the start-up's again.
            self.in_startup |= self.falls_to_startup();
        }
    }

    /// Idling is about to take the window back.
    pub(super) fn on_idle_end(&mut self) {
        if self.attention.is_attended {
            self.tell(|startup, window, at| startup.idle(window, at));
        }
    }

    /// Something may be sent; `unacked`: bytes written and not acknowledged.
    #[inline]
    pub fn prepare_to_send(&mut self, unacked: impl FnOnce() -> u64) {
        if self.attention.watches_sending {
            let unacked = unacked();
            self.tell(|startup, window, at| startup.before_sending(window, at, unacked));
        }
    }

    /// The application wants this weight for the connection among those that share with it.
    pub fn set_weight(&mut self, weight: u32) {
        if let Some(startup) = self.startup.attended() {
            startup.set_weight(weight);
        }
    }

    /// An ACK is digested; `has_grown`: it is for segments that arrived outside of recovery, and the window has grown for them.
    #[inline]
    pub fn on_ack_digested(&mut self, sample: &AckSample, has_grown: bool) {
        if self.is_observed {
            self.observe_ack(sample);
        }
        if self.attention.is_attended && (has_grown || self.attention.sees_all_acks) {
            self.tell(|startup, window, at| startup.acked(window, at, sample));
        }
    }

    /// Congestion is met; the window is still what it was.
    pub(super) fn on_loss_met(&mut self) {
        if self.attention.is_attended {
            self.tell(|startup, window, at| startup.lose(window, at));
        }
    }

    /// A member has sent all it will, or the last has left.
    pub(super) fn on_end(&mut self) {
        if self.attention.is_attended {
            let full = !self.in_startup;
            let modelled = self.congestion.modelled().filter(|_| full);
            self.tell(|startup, window, at| startup.close(window, at, modelled));
        }
    }

    /// Bytes in flight as the policy counts them: in whole segments, as the kernel, if the start-up is attended.
    pub(super) fn counted(&self, in_flight: u64) -> u64 {
        match self.attention.is_attended {
            true => in_flight.next_multiple_of(self.window.mss()),
            false => in_flight,
        }
    }

    #[inline(never)]
    fn tell(&mut self, act: impl FnOnce(&mut dyn Attended, &mut Window, &Situation<'_>)) {
        let now = self.window.now();
        let released = self.pacer.as_ref().map(|pacer| pacer.next_release(now));
        let at = Situation {
            now,
            rtt: &self.rtt,
            sent_total: self.sent_total,
            acked_total: self.acked_total,
            max_in_flight: self.usage.max_in_flight,
            last_departure: self.last_sent.max(released).unwrap_or(now),
            in_startup: self.in_startup,
        };
        let Some(startup) = self.startup.attended() else { return };
        act(startup, &mut self.window, &at);
        self.attention.watches_sending = startup.watches_sending();
        self.attention.shares_pace = startup.shares_pace();
        self.obey_pacing();
    }

    /// When the next segment may leave among those of other connections, if the start-up shares its pace with them.
    pub(super) fn departure(&mut self, now: Instant) -> Option<Instant> {
        if !self.attention.shares_pace {
            return None;
        }
        let mss = self.window.mss();
        self.startup.attended()?.book_departure(now, mss).filter(|&at| at > now)
    }

    /// A segment has left.
    pub(super) fn on_departure(&mut self) {
        if self.attention.shares_pace
            && let Some(startup) = self.startup.attended()
        {
            startup.on_departure();
        }
    }

    /// Switches pacing on or off, as the start-up has ordered it.
    pub(super) fn obey_pacing(&mut self) {
        let Some(order) = self.window.pacing_order() else { return };
        if !order.is_on {
            self.pacer = None;
        } else if self.pacer.is_none() {
            self.pacer = Some(PathPacer::Batched(Batches::default()));
            if self.window.pacing_rate().is_none() {
                self.update_pacing_rate();
            }
        }
    }
}
