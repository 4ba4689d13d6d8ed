//! TIME-WAIT (RFC 9293 §3.6.1) without the connection: what it takes to answer what comes late, and
//! to know a new incarnation from an old segment (RFC 6191).
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

/// The next incarnation's numbers begin so far beyond the last's: out of any unscaled window
/// (Linux).
const NEXT_INCARNATION: u32 = 65_535 + 2;
/// A clock of timestamps has surely ticked after so long; then a port may be used again (Linux
/// `tcp_tw_reuse`).
const TICKED: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    remains: Remains,
    until: Instant,
    answered: Option<Instant>,
}

/// What becomes of a segment for a tuple that may be in TIME-WAIT.
pub(super) enum Late {
    /// It is not, or no more.
    Unknown,
    /// It is a SYN that opens anew, with numbers from here on at least.
    Reopens(SeqNum),
    /// It is dealt with; this is the answer, if there is one.
    Done(Option<Transmit>),
}

/// All that are in TIME-WAIT.
#[derive(Default)]
pub(super) struct TimeWait {
    /// Keyed as `super::lookup` is.
    waiting: AHashMap<FourTuple, Waiting>,
    /// In the order in which they began to wait; those that began again or are gone stand here still.
    order: VecDeque<(Instant, FourTuple)>,
}

impl TimeWait {
    /// Connections in TIME-WAIT, and such as nobody has looked at since it ended.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A connection is over.
    pub(super) fn enter(
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
        self.wait(now, (tuple, Waiting { remains, until: now, answered: None }), guard);
    }

    fn wait(&mut self, now: Instant, (tuple, entry): (FourTuple, Waiting), guard: &Guard) {
        let until = now + guard.limits.lifetimes.time_wait;
        self.waiting.insert(tuple, Waiting { until, ..entry });
        self.order.push_back((until, tuple));
        // Entries that began again leave their old place behind: no more of these than of the others.
        if self.order.len() > 2 * self.waiting.len() + 64 {
            let waiting = &self.waiting;
            self.order.retain(|(until, tuple)| {
                waiting.get(tuple).is_some_and(|entry| entry.until == *until)
            });
        }
    }

    /// Frees what is over.
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
    pub(super) fn holds(&self, now: Instant, tuple: &FourTuple) -> bool {
        self.waiting.get(tuple).is_some_and(|entry| now < entry.until)
    }

    /// We open the same connection again. Answers the number and the clock to go on with; an error if
    /// it is too early for that, or without timestamps ever (RFC 6191 §2, from the other side).
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

    /// A segment has come for `tuple`.
    pub(super) fn handle(
        &mut self,
        now: Instant,
        (tuple, segment): (&FourTuple, &Segment),
        guard: &mut Guard,
    ) -> Late {
        let Some(entry) = self.waiting.get_mut(tuple) else { return Late::Unknown };
        if entry.until <= now {
            self.waiting.remove(tuple);
            return Late::Unknown;
        }
        let remains = entry.remains;
        if segment.has(Flags::RST) {
            if guard.limits.reset_ends_time_wait && segment.seq == remains.rcv_nxt {
                self.waiting.remove(tuple);
            } else {
                guard.counters.time_wait_resets += 1;
            }
            return Late::Done(None);
        }
        if remains.gives_way_to(segment) {
            self.waiting.remove(tuple);
            guard.counters.time_wait_recycled += 1;
            return Late::Reopens(remains.snd_nxt + NEXT_INCARNATION);
        }
        if remains.expects(segment) && segment.sequence_len() == 0 {
            return Late::Done(None);
        }
        if entry.answered.is_some_and(|at| now.saturating_since(at) < guard.limits.invalid_interval)
        {
            guard.counters.ack_skipped_time_wait += 1;
            return Late::Done(None);
        }
        entry.answered = Some(now);
        if segment.has(Flags::FIN) {
            // The peer has not heard our last ACK: the wait begins anew.
            let entry = *entry;
            self.wait(now, (*tuple, entry), guard);
        }
        Late::Done(Some(remains.answer(now, tuple)))
    }
}

impl Remains {
    /// A SYN beyond the old numbers, or later by its timestamp, begins a new incarnation
    /// (RFC 9293 §3.6.1, RFC 6191 §2); one from the past never does.
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
    fn expects(&self, segment: &Segment) -> bool {
        segment.seq == self.rcv_nxt
    }

    /// Our last ACK once more.
    fn answer(&self, now: Instant, tuple: &FourTuple) -> Transmit {
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
