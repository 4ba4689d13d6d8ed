//! TIME-WAIT (RFC 9293 §3.6.1) without the connection: the state needed to answer late segments,
//! and to distinguish a new incarnation from an old segment (RFC 6191).
//!
//! Entries are looked at when a segment comes for them, and go when they are old and another comes:
//! nothing wakes up for them.

use super::output::Transmit;
use crate::connection::Remains;
use crate::guard::Guard;
use crate::segment::{Flags, Segment, TcpOptions, Timestamps};
use crate::tuple::FourTuple;
use ahash::AHashMap;
use std::collections::VecDeque;
use units::{Duration, Instant, SeqNum};

/// Distance from the last incarnation's numbers to those of the next: more than any unscaled window
/// (Linux).
const NEXT_INCARNATION: u32 = 65_535 + 2;
/// Time after which a clock of timestamps has surely ticked; then a port may be used again (Linux
/// `tcp_tw_reuse`).
const TICKED: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    remains: Remains,
    until: Instant,
    answered: Option<Instant>,
}

/// Decision about a segment for a tuple that may be in TIME-WAIT.
pub(super) enum TimeWaitVerdict {
    /// The tuple is not in TIME-WAIT, or no more.
    Unknown,
    /// The segment is a SYN that opens a new connection, with our numbers from here at least.
    Reopens(SeqNum),
    /// The segment was processed; this is the answer, if there is one.
    Done(Option<Transmit>),
}

/// All connections in TIME-WAIT.
#[derive(Default)]
pub(super) struct TimeWait {
    /// Keyed as `super::lookup` is.
    waiting: AHashMap<FourTuple, Waiting>,
    /// Connections in the order in which they entered TIME-WAIT. Entries of those that restarted
    /// the wait, or are gone, are still in it.
    order: VecDeque<(Instant, FourTuple)>,
}

impl TimeWait {
    /// Returns the number of connections in TIME-WAIT, including those whose end was not noticed
    /// yet.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A connection is over.
    pub(super) fn add_connection(
        &mut self,
        now: Instant,
        (tuple, remains): (FourTuple, Remains),
        guard: &mut Guard,
    ) {
        guard.counters.time_waited += 1;
        self.expire(now);
        while self.waiting.len() >= guard.limits.time_wait.max(1) {
            if !self.forget_oldest() {
                break;
            }
            guard.counters.time_wait_overflows += 1;
        }
        self.insert_entry(now, (tuple, Waiting { remains, until: now, answered: None }), guard);
    }

    fn insert_entry(&mut self, now: Instant, (tuple, entry): (FourTuple, Waiting), guard: &Guard) {
        let until = now + guard.limits.lifetimes.time_wait;
        self.waiting.insert(tuple, Waiting { until, ..entry });
        self.order.push_back((until, tuple));
        // Entries that restarted the wait leave their old entry behind; these are limited to the
        // number of the others.
        if self.order.len() > 2 * self.waiting.len() + 64 {
            let waiting = &self.waiting;
            self.order.retain(|(until, tuple)| {
                waiting.get(tuple).is_some_and(|entry| entry.until == *until)
            });
        }
    }

    /// Frees connections whose TIME-WAIT is over.
    pub(super) fn expire(&mut self, now: Instant) {
        while self.order.front().is_some_and(|(until, _)| *until <= now) {
            self.forget_oldest();
        }
    }

    /// True if there was one.
    fn forget_oldest(&mut self) -> bool {
        while let Some((until, tuple)) = self.order.pop_front() {
            if self.waiting.get(&tuple).is_some_and(|entry| entry.until == until) {
                self.waiting.remove(&tuple);
                return true;
            }
        }
        false
    }

    /// True if the tuple has to wait.
    pub(super) fn is_waiting(&self, now: Instant, tuple: &FourTuple) -> bool {
        self.waiting.get(tuple).is_some_and(|entry| now < entry.until)
    }

    /// Reopens a connection from our side. Returns the sequence number and the clock to continue
    /// with; an error if it is too early for that, and always without timestamps (RFC 6191 §2, from
    /// the other side).
    pub(super) fn reopen(
        &mut self,
        now: Instant,
        tuple: &FourTuple,
        guard: &mut Guard,
    ) -> Result<Option<(SeqNum, u32)>, ()> {
        let Some(entry) = self.waiting.get(tuple).filter(|entry| now < entry.until) else {
            return Ok(None);
        };
        let began = now + guard.limits.lifetimes.time_wait;
        let waited = began.saturating_since(entry.until);
        let (clock, _) = entry.remains.timestamps.filter(|_| waited >= TICKED).ok_or(())?;
        let first = entry.remains.snd_nxt + NEXT_INCARNATION;
        guard.counters.time_wait_recycled += 1;
        self.waiting.remove(tuple);
        Ok(Some((first, clock)))
    }

    /// Processes a segment for `tuple`.
    pub(super) fn handle(
        &mut self,
        now: Instant,
        (tuple, segment): (&FourTuple, &Segment),
        guard: &mut Guard,
    ) -> TimeWaitVerdict {
        let Some(entry) = self.waiting.get_mut(tuple) else { return TimeWaitVerdict::Unknown };
        if entry.until <= now {
            self.waiting.remove(tuple);
            return TimeWaitVerdict::Unknown;
        }
        let remains = entry.remains;
        if segment.has(Flags::RST) {
            if guard.limits.reset_ends_time_wait && segment.seq == remains.rcv_nxt {
                self.waiting.remove(tuple);
            } else {
                guard.counters.time_wait_resets += 1;
            }
            return TimeWaitVerdict::Done(None);
        }
        if remains.gives_way_to(segment) {
            self.waiting.remove(tuple);
            guard.counters.time_wait_recycled += 1;
            return TimeWaitVerdict::Reopens(remains.snd_nxt + NEXT_INCARNATION);
        }
        if remains.is_next_segment(segment) && segment.sequence_len() == 0 {
            return TimeWaitVerdict::Done(None);
        }
        if entry.answered.is_some_and(|at| now.saturating_since(at) < guard.limits.invalid_interval)
        {
            guard.counters.ack_skipped_time_wait += 1;
            return TimeWaitVerdict::Done(None);
        }
        entry.answered = Some(now);
        if segment.has(Flags::FIN) {
            // The peer did not receive our last ACK: the wait starts again.
            let entry = *entry;
            self.insert_entry(now, (*tuple, entry), guard);
        }
        TimeWaitVerdict::Done(Some(remains.repeat_last_ack(now, tuple)))
    }
}

impl Remains {
    /// True for a SYN above the old numbers, or later by its timestamp, which begins a new
    /// incarnation (RFC 9293 §3.6.1, RFC 6191 §2); never for one from the past.
    fn gives_way_to(&self, segment: &Segment) -> bool {
        if segment.flags.0 & Flags::SYN.with(Flags::ACK).0 != Flags::SYN.0 {
            return false;
        }
        let age = self.timestamps.zip(segment.options.timestamps);
        match age.map(|((_, last), ts)| ts.value.wrapping_sub(last) as i32) {
            Some(age) if age != 0 => age > 0,
            _ => self.rcv_nxt.precedes(segment.seq),
        }
    }

    /// It is where the peer's next segment would be.
    fn is_next_segment(&self, segment: &Segment) -> bool {
        segment.seq == self.rcv_nxt
    }

    /// Our last ACK once more.
    fn repeat_last_ack(&self, now: Instant, tuple: &FourTuple) -> Transmit {
        let timestamps = self.timestamps.map(|(clock, last)| Timestamps {
            value: crate::connection::ticks(now).wrapping_add(clock),
            echo: last,
        });
        let segment = Segment {
            seq: self.snd_nxt,
            ack: self.rcv_nxt,
            flags: Flags::ACK,
            window: self.window,
            options: TcpOptions { timestamps, ..TcpOptions::default() },
            ..Segment::default()
        };
        Transmit { tuple: *tuple, segment, ..Transmit::default() }
    }
}
