//! Additional state of a window that several connections share.
//!
//! The window acts as one TCP's would.
//! - It falls back once for a window of data, whichever members have losses in it; if it acts as
//!   one TCP for each client, once for each.
//! - It does not grow on ACKs of data sent before the reduction.
//! - If a recovery would reduce it ACK by ACK (RFC 6937), the path does so, over the deliveries of
//!   all.
//! - A member cannot inflate it: duplicate ACKs lower the member's bytes in flight instead.

use super::Path;
use super::epochs::Epochs;
use super::hooked::KernelHooks;
use crate::client::ProxyClient;
use policy::ack::{AckSample, SentSegment};
use policy::congestion::CongestionEvent;
use policy::recovery::prr::Prr;
use policy::recovery::{Reduction, Report};
use policy::sharing::{JoinPacing, Sharing, TimerScope};
use policy::window::Cause;
use units::{Duration, Instant};

/// Maximum number of timeouts that a member waits for others' ACKs to show something about its
/// outstanding data.
const MAX_TIMEOUTS: u64 = 2;

/// An event of one member that affects the outstanding data of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathReset {
    /// The path's timer ran out, which doubles the timeout.
    Timeout {
        /// Number of doublings in force from now on.
        backoff: u32,
    },
    /// The start-up took back the data of all members.
    FallBack,
}

/// The member that a report is about.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Its local and remote port.
    pub ports: (u16, u16),
    /// The client that it serves.
    pub client: ProxyClient,
}

impl Origin {
    /// The only member of a path that is not shared.
    pub const LONE: Self = Self { ports: (0, 0), client: ProxyClient::Own(0, 0) };
}

/// State of a path that several connections may share.
#[derive(Debug)]
pub(super) struct Shared {
    sharing: Sharing,
    /// Number of connections that hold the path, members or not.
    users: u32,
    /// True if another connection than the first one has joined.
    is_joined: bool,
    /// First position, in the order of sending, after the window's last reduction.
    reduced_at: u64,
    /// First position after its last reduction by a timeout.
    timed_out_at: u64,
    /// The local and remote port of the connection whose losses caused the last reduction.
    reduced_by: Option<(u16, u16)>,
    /// Present if each client loses only its own part of the window.
    epochs: Option<Epochs>,
    /// Present while the window is reduced gradually to the threshold.
    glide: Option<Prr>,
    /// Bytes that the last ACK removed from flight, until something is sent.
    left_by_ack: u64,
    path_reset: Option<PathReset>,
    /// Position from which on sending is spaced, because no ACKs clocked it.
    paced_since: Option<u64>,
}

impl Shared {
    pub(super) const fn new(sharing: Sharing, epochs: Option<Epochs>) -> Self {
        Self {
            sharing,
            users: 1,
            is_joined: false,
            reduced_at: 0,
            timed_out_at: 0,
            reduced_by: None,
            epochs,
            glide: None,
            left_by_ack: 0,
            path_reset: None,
            paced_since: None,
        }
    }

    /// Returns the first position after the last reduction of the window, or of the part of
    /// `client` in it.
    fn reduced_at(&self, client: ProxyClient) -> u64 {
        self.epochs.as_ref().map_or(self.reduced_at, |epochs| epochs.of(client))
    }

    /// Lets the window rise again as if there was no reduction for `client`.
    fn forget_reduction(&mut self, client: ProxyClient) {
        (self.reduced_at, self.reduced_by, self.glide) = (0, None, None);
        if let Some(epochs) = &mut self.epochs {
            epochs.on_part_restored(client);
        }
    }

    /// Notes a reduction of all clients' parts.
    fn on_whole_reduced(&mut self, next: u64) {
        if let Some(epochs) = &mut self.epochs {
            epochs.on_whole_reduced(next);
        }
    }

    fn forget_client(&mut self, client: ProxyClient) {
        if let Some(epochs) = &mut self.epochs {
            epochs.forget(client);
        }
    }

    /// A segment was sent; `segments` is 0 if it carries no data.
    pub(super) fn on_sent(&mut self, segments: u64) {
        self.left_by_ack = 0;
        if let Some(glide) = &mut self.glide {
            glide.on_sent(segments);
        }
    }
}

impl Path {
    /// Makes the path shareable by several connections from now on.
    pub fn share(&mut self, sharing: Sharing) {
        // The agent's start-ups know the events of one connection only.
        self.hooks = KernelHooks::default();
        self.note_spacing();
        match &mut self.shared {
            Some(shared) => shared.sharing = sharing,
            None => {
                let epochs = self.capabilities.controller.reduces_by_client.then(Epochs::default);
                self.shared = Some(Box::new(Shared::new(sharing, epochs)));
            }
        }
    }

    /// Returns true if several connections may share it, or repair losses as if they did.
    #[inline]
    pub const fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Returns true if another connection than the first one has joined it, even if all have left:
    /// its bytes are not those of one connection.
    pub fn has_been_joined(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.is_joined)
    }

    /// Returns true if several connections hold it at present.
    #[inline]
    pub fn has_several_users(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.users > 1)
    }

    /// Lets a connection hold the path; it leaves its own one, `before`.
    pub fn adopt(&mut self, before: &Self) {
        if let Some(shared) = &mut self.shared {
            shared.users += 1;
            shared.is_joined = true;
        }
        let handshake = before.rtt.min_rtt();
        if handshake < Duration::MAX {
            let now = self.window.now();
            self.on_rtt_sample(now - handshake, now);
        }
    }

    /// Lets a connection release the path; returns true if it was the last.
    pub fn drop_user(&mut self) -> bool {
        let Some(shared) = &mut self.shared else { return true };
        shared.users -= 1;
        shared.users == 0
    }

    /// Returns the room of the window, bytes.
    pub fn room(&self) -> u64 {
        self.window.usable().saturating_sub(self.in_flight)
    }

    /// Returns true if a segment at this position, of a connection for `client`, was sent before
    /// the window's last reduction for it. Then its loss, or growth for its delivery, concerns the
    /// window before.
    pub fn is_before_reduction(&self, client: ProxyClient, order: u64) -> bool {
        self.shared.as_ref().is_some_and(|shared| order < shared.reduced_at(client))
    }

    /// Returns true if an ACK for the segment at position `order` does not make the window grow,
    /// because it has overtaken another member's segment ([`crate::path::Overtaken::Lost`]).
    /// `lowest`: the position of its own lowest segment, before the ACK.
    pub fn withholds_growth(&mut self, order: u64, lowest: Option<u64>) -> bool {
        self.log().is_some_and(|log| log.withholds_growth(order, lowest))
    }

    /// Returns true if a loss of the segment at this position may reduce the window: there was no
    /// reduction for that window of data yet. After a timeout another one reduces it again only for
    /// segments sent since.
    fn admits_reduction(&self, client: ProxyClient, order: u64, timeout: bool) -> bool {
        self.shared.as_ref().is_none_or(|shared| {
            order >= if timeout { shared.timed_out_at } else { shared.reduced_at(client) }
        })
    }

    /// Applies the recovery report of `member`, as far as it concerns the shared window: a
    /// reduction, or its undo. `order`: the position of its lowest outstanding segment.
    pub fn on_member_report(
        &mut self,
        report: &Report,
        event: &CongestionEvent,
        member: Origin,
        order: u64,
    ) {
        let Some(shared) = &mut self.shared else { return };
        if report.undo && shared.reduced_by == Some(member.ports) {
            shared.forget_reduction(member.client);
            self.undo();
        }
        let admitted = self.admits_reduction(member.client, order, event.timeout);
        let Some(reduction) = report.congestion.filter(|_| admitted) else { return };
        let prior = self.window.cwnd();
        let ruled = self.is_ruled();
        let cause = if event.timeout { Cause::Timeout } else { Cause::Loss };
        self.reduce_for(member.client, order, reduction, event, cause);
        if let Some(shared) = &mut self.shared {
            shared.reduced_by = Some(member.ports);
            shared.glide = (reduction == Reduction::Gradual && !ruled).then(|| Prr::new(prior));
        }
    }

    /// Reduces the window for the loss or the ECN mark of a segment at position `order`, of a
    /// connection for `client`.
    pub fn reduce_for(
        &mut self,
        client: ProxyClient,
        order: u64,
        reduction: Reduction,
        event: &CongestionEvent,
        cause: Cause,
    ) {
        let next = self.next_order();
        let epochs = self.shared.as_mut().and_then(|shared| shared.epochs.as_mut());
        let event = match epochs.filter(|_| !event.timeout) {
            Some(epochs) => &epochs.on_part_lost(client, [order, next], event),
            None => event,
        };
        self.reduce(reduction, event, cause);
    }

    /// Notes a reduction of the window.
    pub(super) fn on_shared_reduction(&mut self, timeout: bool) {
        let next = self.next_order();
        if let Some(shared) = &mut self.shared {
            shared.reduced_at = next;
            shared.reduced_by = None;
            shared.glide = None;
            if timeout {
                shared.timed_out_at = next;
                shared.on_whole_reduced(next);
            }
        }
    }

    /// Forgets a client that has no connection on the path any more.
    pub fn forget_client(&mut self, client: ProxyClient) {
        if let Some(shared) = &mut self.shared {
            shared.forget_client(client);
        }
    }

    /// Handles an ACK of any member, for the segment at position `arrived`, after its change of
    /// bytes in flight is booked. The window's gradual reduction continues, and ends when a segment
    /// sent after its start is acknowledged. Once a segment of a spaced first window is
    /// acknowledged, ACKs clock sending as before. `clean`: the cumulative acknowledgement moved.
    pub fn on_member_ack(&mut self, sample: &AckSample, arrived: Option<u64>, clean: bool) {
        let fell_at = self.shared.as_ref().map_or(0, |shared| shared.reduced_at);
        let over = arrived.is_some_and(|order| order >= fell_at);
        self.glide(sample, over, clean);
        let left = sample.prior_in_flight.saturating_sub(self.in_flight);
        let Some(shared) = &mut self.shared else { return };
        shared.left_by_ack = left;
        if shared.paced_since.is_none_or(|since| arrived.is_none_or(|order| order < since)) {
            return;
        }
        if self.window.is_used_up(sample.prior_in_flight) {
            shared.paced_since = None;
            self.window.end_plan();
        } else if let Some(rtt) = self.join_round_trip() {
            self.window.spread_over(rtt);
        }
    }

    /// Returns the time over which the first window of a member that joins is spread; `None` if it
    /// is not.
    fn join_round_trip(&self) -> Option<Duration> {
        let rtt = match self.shared.as_ref()?.sharing.joins {
            JoinPacing::Off => return None,
            JoinPacing::Smoothed => self.rtt.srtt(),
            // The remembered value counts until there is a sample.
            JoinPacing::Lowest => self.rtt.min_rtt().min(self.rtt.srtt()),
        };
        Some(rtt).filter(|rtt| *rtt != Duration::ZERO)
    }

    fn glide(&mut self, sample: &AckSample, over: bool, clean: bool) {
        let Some(shared) = &mut self.shared else { return };
        let Some(glide) = &mut shared.glide else { return };
        let ssthresh = self.window.ssthresh();
        if over {
            shared.glide = None;
            self.window.set_cwnd(ssthresh, Cause::RecoveryEnd);
            return;
        }
        glide.on_delivered(sample.delivered, self.in_flight, clean);
        let cwnd = glide.window(ssthresh, self.window.mss());
        if cwnd != self.window.cwnd() {
            self.window.set_cwnd(cwnd, Cause::Recovery);
        }
    }

    /// Returns the bytes that the current ACK removed from flight. They are part of the flight that
    /// is halved for a loss that the ACK reports, on any connection (RFC 5681 §3.2 step 2:
    /// outstanding data).
    pub fn left_by_ack(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.left_by_ack)
    }

    /// Returns true if there were ACKs of other members since then.
    pub fn has_news_since(&self, then: Instant) -> bool {
        self.has_several_users() && self.last_acked.is_some_and(|last| last > then)
    }

    /// Handles a member's expired retransmission timer for the segment `head`. If the timer is the
    /// path's, returns until when ACKs of others postpone it.
    pub fn put_off_timeout(
        &self,
        now: Instant,
        head: &SentSegment,
        backoff: u32,
    ) -> Option<Instant> {
        self.shared.as_ref().filter(|shared| shared.sharing.timer == TimerScope::Path)?;
        let reset = self.reset_timeout(head.is_low_priority());
        let timeout = reset.unwrap_or_else(|| self.rtt.rto(backoff));
        let due =
            (self.last_acked? + timeout).min(head.sent_at + timeout.saturating_mul(MAX_TIMEOUTS));
        (due > now).then_some(due)
    }

    /// Applies a timeout, with `backoff` doublings in force from now on. If the timer is the path's
    /// and there was no ACK of others all the time, it concerns all members.
    pub fn on_member_timeout(&mut self, now: Instant, backoff: u32) {
        let silent = self.last_acked.is_none_or(|last| {
            // A timeout that does not double the next one leaves none in force.
            now >= last + self.rtt.rto(backoff.saturating_sub(1))
        });
        if let Some(shared) = &mut self.shared
            && shared.sharing.timer == TimerScope::Path
            && silent
        {
            shared.path_reset = Some(PathReset::Timeout { backoff });
        }
    }

    /// Notes that the start-up takes back the data of all members.
    pub(super) fn on_shared_fallback(&mut self) {
        self.on_shared_reduction(false);
        let next = self.next_order();
        if let Some(shared) = &mut self.shared {
            shared.on_whole_reduced(next);
            shared.path_reset = Some(PathReset::FallBack);
        }
    }

    /// Takes the last event that concerns all members.
    pub fn take_path_reset(&mut self) -> Option<PathReset> {
        self.shared.as_mut()?.path_reset.take()
    }

    /// Spaces the first window of a member that joins. It is about to send its first data, and no
    /// other member has any to send, so its share of the window would be one burst. If the scheme
    /// wants it, this data is spread over a round trip until its ACKs arrive (Eggert, Heidemann &
    /// Touch 2000 §3.1).
    pub fn pace_first_window(&mut self) {
        let next = self.next_order();
        let Some(rtt) = self.join_round_trip().filter(|_| self.started) else { return };
        if let Some(shared) = &mut self.shared {
            shared.paced_since = Some(next);
            self.window.spread_over(rtt);
        }
    }
}

#[cfg(test)]
mod tests;
