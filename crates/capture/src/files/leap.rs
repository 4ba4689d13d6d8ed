//! Impossible times in one input: a packet years after or before both of its neighbours.
//!
//! At that packet there are three explanations: its time is damaged, nothing was captured for long,
//! or the clock was set. The next packet decides. So the packet gets the time of the one before it.
//! Once the next one is read, an error reports that the time was wrong, or that all times jump
//! there.

use jiff::Timestamp;
use units::{Duration, Instant};

/// Shortest jump that counts: a capture has no pause as long.
const LEAP: Duration = Duration::from_secs(30 * 86_400);

/// Watches the times of one input.
#[derive(Debug)]
pub(super) struct LeapWatch {
    /// Time of the last packet, in nanoseconds; before the first packet, its own time.
    last: u64,
    /// True if the next packet is the first one, or decides about the one before it.
    looks: bool,
    suspect: Option<Suspect>,
}

/// A packet whose time may be damaged.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    /// Offset of its record, bytes.
    offset: u64,
    at: Instant,
    /// The time that it has instead.
    instead: Instant,
}

/// A packet whose time is damaged, or at which all times jump.
#[derive(Debug)]
pub(super) struct WrongTime {
    /// Offset of its record, bytes.
    pub(super) offset: u64,
    pub(super) why: String,
}

impl LeapWatch {
    pub(super) const fn new() -> Self {
        Self { last: 0, looks: true, suspect: None }
    }

    /// Returns the time of the last packet.
    pub(super) const fn last(&self) -> Instant {
        Instant::from_nanos(self.last)
    }

    /// Returns the time of the packet at `offset`, corrected if it jumps. Instead, it may return
    /// the fault of an earlier packet; then call it again for this one.
    #[inline]
    pub(super) fn check_time(&mut self, offset: u64, at: Instant) -> Result<Instant, WrongTime> {
        if at.as_nanos().abs_diff(self.last) > LEAP.as_nanos() || self.looks {
            return self.check_irregular(offset, at);
        }
        self.last = at.as_nanos();
        Ok(at)
    }

    /// Takes the time of a packet that neither jumps nor follows one that may, and is not later
    /// than `until`. Returns false, with nothing changed, for any other packet.
    #[inline]
    pub(super) fn accept_regular(&mut self, at: Instant, until: Instant) -> bool {
        let is_near = at.as_nanos().abs_diff(self.last) <= LEAP.as_nanos();
        let taken = is_near && !self.looks && at <= until;
        if taken {
            self.last = at.as_nanos();
        }
        taken
    }

    #[cold]
    fn check_irregular(&mut self, offset: u64, at: Instant) -> Result<Instant, WrongTime> {
        let is_first = self.looks && self.suspect.is_none();
        let last = if is_first { at } else { Instant::from_nanos(self.last) };
        let checked = self.resolve_jump(offset, last, at);
        self.looks = self.suspect.is_some();
        let at = checked?;
        self.last = at.as_nanos();
        Ok(at)
    }

    /// Decides about a packet that jumps, or follows one that does, or is the first.
    fn resolve_jump(
        &mut self,
        offset: u64,
        last: Instant,
        at: Instant,
    ) -> Result<Instant, WrongTime> {
        match self.suspect {
            Some(suspect) if suspect.offset == offset => Ok(suspect.instead),
            Some(suspect) if is_near(at, suspect.at) => {
                self.suspect = None;
                // The packet is presented again, with this as the time before it.
                self.last = suspect.at.as_nanos();
                Err(suspect.clock_jump())
            }
            Some(_) => self.report_suspect().map(|()| at),
            None if is_near(at, last) => Ok(at),
            None => {
                self.suspect = Some(Suspect { offset, at, instead: last });
                Ok(last)
            }
        }
    }

    /// Returns the fault of the last packet, if it has one that was not reported.
    pub(super) fn report_suspect(&mut self) -> Result<(), WrongTime> {
        let Some(suspect) = self.suspect.take() else { return Ok(()) };
        self.looks = false;
        Err(suspect.damaged_time())
    }
}

impl Suspect {
    fn damaged_time(self) -> WrongTime {
        let Self { offset, at, instead } = self;
        let (at, instead) = (timestamp(at), timestamp(instead));
        let why = format!("a time of {at}, and {instead} before it, which is taken instead");
        WrongTime { offset, why }
    }

    fn clock_jump(self) -> WrongTime {
        let Self { offset, at, instead } = self;
        let (at, instead) = (timestamp(at), timestamp(instead));
        let why = format!(
            "times jump from {instead} to {at}: the clock was set, or two captures are one file"
        );
        WrongTime { offset, why }
    }
}

fn is_near(a: Instant, b: Instant) -> bool {
    a.as_nanos().abs_diff(b.as_nanos()) <= LEAP.as_nanos()
}

fn timestamp(at: Instant) -> Timestamp {
    // The latest instant is in the year 2554.
    Timestamp::from_nanosecond(at.as_nanos().into()).unwrap_or(Timestamp::MAX)
}
