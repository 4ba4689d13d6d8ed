//! The delay of a segment that had to wait for the pacer.

use units::{Duration, Instant};

/// State of the last question to the pacer. Timers of real hosts are late; a simulated one is not,
/// so in simulation this has no effect.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PacerWait {
    /// Time at which the waiting segment may be sent.
    due: Option<Instant>,
    asked: Instant,
    late: Duration,
}

impl PacerWait {
    /// Notes that the pacer was asked whether a segment may be sent now, and its answer (`None`:
    /// now).
    pub(super) fn on_asked(&mut self, now: Instant, release: Option<Instant>) {
        if now != self.asked {
            (self.asked, self.late) = (now, Duration::ZERO);
        }
        match release {
            Some(_) => self.due = release,
            None => {
                self.late += self.due.take().map_or(Duration::ZERO, |due| now.saturating_since(due))
            }
        }
    }

    /// Returns the delay of a segment that is sent. Further segments at the same moment have none.
    pub(super) fn end(&mut self, now: Instant) -> Duration {
        let late = std::mem::take(&mut self.late);
        if self.asked == now { late } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    const MAX_RELEASE_DELAY: Duration = Duration::from_micros(20);

    #[test]
    fn late_is_what_waited_for_the_pacer_and_no_more() {
        let mut wait = PacerWait::default();
        wait.on_asked(at(100), Some(at(500)));
        // The pacer is asked twice at the same moment, as a member of a path and as a connection.
        wait.on_asked(at(520), None);
        wait.on_asked(at(520), None);
        assert_eq!(wait.end(at(520)), MAX_RELEASE_DELAY);
        assert_eq!(wait.end(at(520)), Duration::ZERO, "the next one has not waited");
        // Nothing waited when it was permitted: a later segment is not late.
        wait.on_asked(at(600), Some(at(900)));
        wait.on_asked(at(920), None);
        wait.on_asked(at(5000), None);
        assert_eq!(wait.end(at(5000)), Duration::ZERO);
    }
}
