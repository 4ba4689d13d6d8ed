//! Times of one input that cannot be: a packet years after both of its neighbours.
//!
//! Nothing tells at such a packet whether its time is damaged or nothing was captured for long. The next packet
//! does. So the packet has the time of the one before it, and the fault is told once the next one is there.

use jiff::Timestamp;
use units::{Duration, Instant};

/// Nothing for so long does not happen within one capture.
const LEAP: Duration = Duration::from_secs(30 * 86_400);

/// Watches the times of one input.
#[derive(Debug)]
pub(super) struct LeapWatch {
    /// Later times are leaps.
    limit: Instant,
    suspect: Option<Suspect>,
}

/// A packet whose time may be damaged.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    /// Byte at which its record begins.
    offset: u64,
    at: Instant,
    /// The time that it has instead.
    instead: Instant,
}

/// A packet whose time is damaged.
#[derive(Debug)]
pub(super) struct WrongTime {
    /// Byte at which its record begins.
    pub(super) offset: u64,
    pub(super) why: String,
}

impl LeapWatch {
    pub(super) const fn new() -> Self {
        Self { limit: Instant::FAR_FUTURE, suspect: None }
    }

    /// Takes the time of the packet at `offset`, perhaps again, and puts it right if it leaps. Answers the fault of a
    /// packet before it.
    #[inline]
    pub(super) fn judge(&mut self, offset: u64, at: &mut Instant) -> Result<(), WrongTime> {
        if *at > self.limit || self.suspect.is_some() {
            self.look(offset, at)?;
        }
        self.limit = Instant::from_nanos(at.as_nanos().saturating_add(LEAP.as_nanos()));
        Ok(())
    }

    #[cold]
    fn look(&mut self, offset: u64, at: &mut Instant) -> Result<(), WrongTime> {
        match self.suspect {
            Some(suspect) if suspect.offset == offset => {
                *at = suspect.instead;
                return Ok(());
            }
            // The time did go on.
            Some(suspect) if *at + LEAP >= suspect.at => self.suspect = None,
            Some(_) => return self.end(),
            None => {
                let instead = Instant::from_nanos(self.limit.as_nanos() - LEAP.as_nanos());
                self.suspect = Some(Suspect { offset, at: *at, instead });
                *at = instead;
            }
        }
        Ok(())
    }

    /// The fault of the last packet, if it has one that has not been told.
    pub(super) fn end(&mut self) -> Result<(), WrongTime> {
        let Some(Suspect { offset, at, instead }) = self.suspect.take() else { return Ok(()) };
        let (at, instead) = (shown(at), shown(instead));
        let why = format!("a time of {at}, and {instead} before it, which is taken instead");
        Err(WrongTime { offset, why })
    }
}

fn shown(at: Instant) -> Timestamp {
    // The latest instant is in the year 2554.
    Timestamp::from_nanosecond(at.as_nanos().into()).unwrap_or(Timestamp::MAX)
}
