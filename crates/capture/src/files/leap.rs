//! Times of one input that cannot be: a packet years after or before both of its neighbours.
//!
//! Nothing tells at such a packet whether its time is damaged, or nothing was captured for long, or the clock was set. The
//! next packet does. So the packet has the time of the one before it. Once the next one is there, it is told that the time
//! was wrong, or that all times jump there.

use jiff::Timestamp;
use units::{Duration, Instant};

/// Nothing for so long does not happen within one capture.
const LEAP: Duration = Duration::from_secs(30 * 86_400);

/// Watches the times of one input.
#[derive(Debug)]
pub(super) struct LeapWatch {
    /// Time of the packet before, in nanoseconds.
    last: Option<u64>,
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

/// A packet whose time is damaged, or from which on all times jump.
#[derive(Debug)]
pub(super) struct WrongTime {
    /// Byte at which its record begins.
    pub(super) offset: u64,
    pub(super) why: String,
}

impl LeapWatch {
    pub(super) const fn new() -> Self {
        Self { last: None, suspect: None }
    }

    /// Takes the time of the packet at `offset`, perhaps again, and puts it right if it leaps. Answers the fault of a
    /// packet before it.
    #[inline]
    pub(super) fn judge(&mut self, offset: u64, at: &mut Instant) -> Result<(), WrongTime> {
        let last = self.last.unwrap_or(at.as_nanos());
        if at.as_nanos().abs_diff(last) > LEAP.as_nanos() || self.suspect.is_some() {
            self.look(offset, Instant::from_nanos(last), at)?;
        }
        self.last = Some(at.as_nanos());
        Ok(())
    }

    #[cold]
    fn look(&mut self, offset: u64, last: Instant, at: &mut Instant) -> Result<(), WrongTime> {
        match self.suspect {
            Some(suspect) if suspect.offset == offset => {
                *at = suspect.instead;
                return Ok(());
            }
            Some(suspect) if is_near(*at, suspect.at) => {
                self.suspect = None;
                // The packet comes again, with this as the time before it.
                self.last = Some(suspect.at.as_nanos());
                return Err(suspect.jump());
            }
            Some(_) => return self.end(),
            None => {
                self.suspect = Some(Suspect { offset, at: *at, instead: last });
                *at = last;
            }
        }
        Ok(())
    }

    /// The fault of the last packet, if it has one that has not been told.
    pub(super) fn end(&mut self) -> Result<(), WrongTime> {
        self.suspect.take().map_or(Ok(()), |suspect| Err(suspect.wrong()))
    }
}

impl Suspect {
    fn wrong(self) -> WrongTime {
        let Self { offset, at, instead } = self;
        let (at, instead) = (shown(at), shown(instead));
        let why = format!("a time of {at}, and {instead} before it, which is taken instead");
        WrongTime { offset, why }
    }

    fn jump(self) -> WrongTime {
        let Self { offset, at, instead } = self;
        let (at, instead) = (shown(at), shown(instead));
        let why = format!(
            "times jump from {instead} to {at}: the clock was set, or two captures are one file"
        );
        WrongTime { offset, why }
    }
}

fn is_near(a: Instant, b: Instant) -> bool {
    a.as_nanos().abs_diff(b.as_nanos()) <= LEAP.as_nanos()
}

fn shown(at: Instant) -> Timestamp {
    // The latest instant is in the year 2554.
    Timestamp::from_nanosecond(at.as_nanos().into()).unwrap_or(Timestamp::MAX)
}
