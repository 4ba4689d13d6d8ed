//! Relates a network's own samples to the next one: whether that is one of the network's first, and
//! how often its window was tried in vain before.

use super::SAMPLES_PER_NETWORK;
use super::kept::{KeptSample, Tick};
use super::note::Note;

/// Codes of windows within which two losses are of one queue limit: half an octave. Chosen, not
/// measured.
const SAME_LIMIT_CODES: u8 = 8;
/// Steps of time after a network's first sample, 10.7 s, in which reporting transfers started
/// without an answer, or met transfers that did. Chosen, not measured.
const UNANSWERED_TICKS: u32 = 10;

/// A network's own samples when another one comes.
pub(super) struct KeptBefore<'a> {
    /// Time of the newest of them.
    pub(super) newest_at: Tick,
    pub(super) places: &'a mut [KeptSample],
    /// True if no other sample was ever reported.
    pub(super) are_all: bool,
}

impl KeptBefore<'_> {
    /// Returns a sample that was measured then, with a note on what the samples before it show.
    pub(super) fn annotate(self, sample: KeptSample, measured: Tick) -> KeptSample {
        let passed = measured.0.saturating_sub(self.newest_at.0);
        let is_early = |place: &KeptSample| {
            place.is_free()
                || place.age_at(self.newest_at).saturating_add(passed) <= UNANSWERED_TICKS
        };
        let note = Note::read(sample.label);
        let is_first = self.are_all && self.places.iter().all(is_early);
        let note = if is_first { note.with_first() } else { note };
        let sample = sample.with_note(note);
        if self.places.len() > SAMPLES_PER_NETWORK { sample } else { self.count_tries(sample) }
    }

    /// Counts tries in vain. A delivered window ends the tries of smaller ones.
    fn count_tries(self, sample: KeptSample) -> KeptSample {
        if sample.is_loss() {
            let tries = self.tries(sample);
            return sample.with_note(Note::read(sample.label).with_tries(tries));
        }
        for place in self.places.iter_mut() {
            if place.is_loss() && place.window <= sample.window {
                *place = place.with_note(Note::read(place.label).with_tries(0));
            }
        }
        sample
    }

    /// Returns the number of times that a window of about this size was tried before this loss. It
    /// is a try if smaller windows, and none as large, were delivered since the loss before.
    fn tries(&self, loss: KeptSample) -> u8 {
        let is_near = |place: &&KeptSample| {
            place.is_loss() && place.window.abs_diff(loss.window) <= SAME_LIMIT_CODES
        };
        let age = |place: &KeptSample| place.age_at(self.newest_at);
        let rank = |place: &&KeptSample| (Note::read(place.label).tries(), u32::MAX - age(place));
        let Some(before) = self.places.iter().filter(is_near).max_by_key(rank) else { return 0 };
        let came = self.places.iter().filter(|place| !place.is_free() && !place.is_loss());
        let since = came.filter(|place| age(place) <= age(before)).map(|place| place.window);
        let tries = Note::read(before.label).tries();
        match since.max() {
            None => tries,
            Some(largest) if largest < loss.window.min(before.window) => tries + 1,
            Some(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kept::halvings;
    use super::super::report::{Reporter, SiteReport};
    use super::*;
    use crate::bound::ReportBound;
    use units::Rate;

    const NEWEST_AT: Tick = Tick(1000);

    /// A sample of a window between 16 and 64 kB: this number of sixteenths of an octave above 16.
    fn sample(steps: u32, loss: bool) -> KeptSample {
        let report = SiteReport {
            network: "192.0.2.0/24".parse().unwrap(),
            reporter: Reporter(1),
            window: (16384.0 * (f64::from(steps) / 16.0).exp2()) as u64,
            rate: Some(Rate::from_mbps(1)),
            min_rtt: None,
            sent: 0,
            lost: 0,
            bound: if loss { ReportBound::Loss } else { ReportBound::OwnStart },
        };
        KeptSample::new(0, &report).of_own(&report)
    }

    /// The note on a sample that comes a minute after others, of which some were kept until then.
    fn after(places: &mut [KeptSample], next: KeptSample) -> Note {
        let before = KeptBefore { newest_at: NEWEST_AT, places, are_all: false };
        Note::read(before.annotate(next, Tick(NEWEST_AT.0 + 60)).label)
    }

    fn aged(sample: KeptSample, age: u32) -> KeptSample {
        sample.measured(Tick(NEWEST_AT.0 - age))
    }

    #[test]
    fn a_loss_beyond_what_came_through_since_the_last_one_is_a_try_in_vain() {
        let (loss, below) = (aged(sample(16, true), 20), aged(sample(8, false), 10));
        let tries = |places: &[KeptSample]| after(&mut places.to_vec(), sample(20, true)).tries();
        assert_eq!(tries(&[loss, below]), 1);
        // Nothing was sent in between: the same crowd.
        assert_eq!(tries(&[loss]), 0);
        // A window as large as the smaller of both was delivered: the loss is random. If it was
        // delivered before the last loss, it shows nothing of the tries after it.
        assert_eq!(tries(&[loss, below, aged(sample(16, false), 5)]), 0);
        assert_eq!(tries(&[loss, below, aged(sample(16, false), 30)]), 1);
        // More than half an octave apart: another queue limit.
        assert_eq!(tries(&[aged(sample(11, true), 20), below]), 0);
        let tried = |tries: u8| loss.with_note(Note::default().with_tries(tries));
        assert_eq!([1, 2, 3].map(|before| tries(&[tried(before), below])), [2, 3, 3]);
    }

    #[test]
    fn a_window_that_comes_through_ends_the_tries_of_smaller_ones() {
        let tried = |steps: u32| sample(steps, true).with_note(Note::default().with_tries(2));
        let mut places = [tried(16), tried(24)];
        after(&mut places, sample(20, false));
        assert_eq!(places.map(|place| Note::read(place.label).tries()), [0, 2]);
    }

    #[test]
    fn a_loss_outlasts_only_what_is_smaller() {
        let places = [sample(8, true), sample(10, false), sample(12, true)];
        assert_eq!(places.map(|place| halvings(&places)(&place)), [0, 0, 1]);
        let tried = sample(12, true).with_note(Note::default().with_tries(3));
        assert_eq!(halvings(&[tried])(&tried), 4);
    }

    /// Eleven steps after the first one, answers have been given. If there were more reports than
    /// kept samples, it is not known which was the first.
    #[test]
    fn the_first_samples_are_those_of_the_first_moments() {
        let first = |are_all: bool, oldest: u32, passed: u32| {
            let mut places = [aged(sample(0, false), oldest), KeptSample::default()];
            let before = KeptBefore { newest_at: NEWEST_AT, places: &mut places, are_all };
            let next = before.annotate(sample(0, true), Tick(NEWEST_AT.0 + passed));
            Note::read(next.label).is_first()
        };
        assert!(first(true, 4, 6) && !first(true, 4, 7) && !first(false, 4, 6));
    }
}
