//! Samples as they are kept: seven bytes each, and which of them goes when a new one comes.

use super::SAMPLES_PER_BUSY_NETWORK;
use super::codes::{rate_code, rtt_code, window_code};
use super::note::Note;
use super::report::{Reporter, SiteReport};
use crate::bound::ReportBound;
use units::Instant;

/// Time in steps of 2^30 ns, 1.07 s: fine enough for what ages by minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tick(pub(super) u32);

/// A step of [`Tick`], seconds.
pub(super) const TICK_SECONDS: f64 = (1 << 30) as f64 / 1e9;
/// Age from which on samples are forgotten, 17.9 h: an age above 65,535 steps could not be
/// represented.
pub(super) const MAX_AGE_TICKS: u32 = 60_000;
/// Largest difference of a site's clocks, or step back of one, 64 s. A sample further ahead is
/// ignored. Chosen, not measured.
pub(super) const MAX_CLOCK_DIFFERENCE: u32 = 60;

impl Tick {
    pub(super) fn at(now: Instant) -> Self {
        Self(u32::try_from(now.as_nanos() >> 30).unwrap_or(u32::MAX))
    }
}

/// A sample of a network. One without a window is a free slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KeptSample {
    /// The lower half of its [`Tick`], lower byte first.
    at: [u8; 2],
    /// Code of the window that was carried.
    pub(super) window: u8,
    /// Code of the rate.
    pub(super) rate: u8,
    /// Code of the lowest round trip.
    pub(super) rtt: u8,
    /// The reporter, in seven bits, and in the highest bit whether a loss bounded the window.
    who: u8,
    /// Under a covering prefix, the network's label in eight bits: a network does not use its own
    /// samples as its neighbours'. Under the network itself, a [`Note`].
    pub(super) label: u8,
}

/// A loss bounded the window.
const LOSS: u8 = 0x80;

impl KeptSample {
    /// Bytes of a sample.
    pub(super) const BYTES: usize = 7;

    /// Creates a covering prefix's sample of a report, with the network's label;
    /// [`Samples::insert`] sets its time.
    pub(super) fn new(label: u8, report: &SiteReport) -> Self {
        let loss = if report.bound == ReportBound::Loss { LOSS } else { 0 };
        Self {
            at: [0; 2],
            // A window of nothing is the smallest: all of it was lost.
            window: window_code(report.carried_window()).max(1),
            rate: rate_code(report.rate),
            rtt: rtt_code(report.min_rtt),
            who: reporter_label(report.reporter) | loss,
            label,
        }
    }

    /// Returns the same sample as the network itself keeps it.
    pub(super) fn of_own(self, report: &SiteReport) -> Self {
        self.with_note(Note::of(report))
    }

    /// Returns a network's own sample with this note.
    pub(super) const fn with_note(self, note: Note) -> Self {
        Self { label: note.byte(), ..self }
    }

    /// Returns the same sample, as it was measured then.
    #[cfg(test)]
    pub(super) const fn measured(self, at: Tick) -> Self {
        Self { at: low_half(at), ..self }
    }

    pub(super) const fn to_bytes(self) -> [u8; Self::BYTES] {
        let Self { at: [low, high], window, rate, rtt, who, label } = self;
        [low, high, window, rate, rtt, who, label]
    }

    pub(super) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [low, high, window, rate, rtt, who, label] = bytes;
        Self { at: [low, high], window, rate, rtt, who, label }
    }

    pub(super) const fn is_free(self) -> bool {
        self.window == 0
    }

    pub(super) const fn is_loss(self) -> bool {
        self.who & LOSS != 0
    }

    pub(super) const fn reporter(self) -> u8 {
        self.who & !LOSS
    }

    /// Returns the steps between the sample and `newest_at`, when the newest sample beside it was
    /// taken.
    pub(super) const fn age_at(self, newest_at: Tick) -> u32 {
        (newest_at.0 as u16).wrapping_sub(u16::from_le_bytes(self.at)) as u32
    }

    /// Returns true if it was taken no later than `until`. `newest_at`: time of the newest sample
    /// beside it.
    pub(super) const fn is_until(self, until: Tick, newest_at: Tick) -> bool {
        newest_at.0.saturating_sub(self.age_at(newest_at)) <= until.0
    }
}

const fn low_half(at: Tick) -> [u8; 2] {
    (at.0 as u16).to_le_bytes()
}

/// Returns the label of a reporter, in seven bits. Two hosts that share a label share a weight.
fn reporter_label(reporter: Reporter) -> u8 {
    (reporter.0.wrapping_mul(0x9E37_79B9) >> 25) as u8
}

/// Samples of one prefix, and when the newest of them was taken.
pub(super) struct Samples<'a> {
    pub(super) newest_at: &'a mut Tick,
    pub(super) places: &'a mut [KeptSample],
    /// True if the samples are a network's own, and few: a loss at its queue limit outlasts
    /// delivered windows.
    pub(super) are_few: bool,
}

impl Samples<'_> {
    /// Inserts, at `now`, a sample that was measured `age` steps before. Returns the age in steps
    /// of the sample that it replaces, if any: its own age if it is older than all that it may
    /// replace.
    ///
    /// Slots are shared fairly. The reporter with the most slots gives one up, its oldest; a
    /// reporter that has as many as any other replaces its own. However much one host reports, and
    /// however young its samples are, the others keep their slots, and get them.
    pub(super) fn insert(&mut self, now: Tick, age: u32, sample: KeptSample) -> Option<u32> {
        let measured = Tick(self.clocked(now).0.saturating_sub(age));
        self.move_to(measured);
        let behind = self.newest_at.0 - measured.0;
        if behind > MAX_AGE_TICKS {
            return None;
        }
        let sample = KeptSample { at: low_half(measured), ..sample };
        let found = self.place_for(sample.reporter());
        if !found.is_owed && found.gone.is_some_and(|age| age < behind) {
            return Some(behind);
        }
        if let Some(place) = self.places.get_mut(found.at) {
            *place = sample;
        }
        found.gone
    }

    /// Returns the time by a clock that never goes back: one that went back a little stands still,
    /// and one that went back far leaves nothing that has an age.
    fn clocked(&mut self, now: Tick) -> Tick {
        if self.newest_at.0 > now.0.saturating_add(MAX_CLOCK_DIFFERENCE) {
            self.places.fill(KeptSample::default());
            *self.newest_at = Tick::default();
        }
        now.max(*self.newest_at)
    }

    /// Moves the time of the newest sample to `at` if that is later, and forgets samples that are
    /// then older than [`MAX_AGE_TICKS`].
    fn move_to(&mut self, at: Tick) {
        let passed = at.0.saturating_sub(self.newest_at.0);
        if passed > 0 {
            for place in self.places.iter_mut().filter(|place| !place.is_free()) {
                if place.age_at(*self.newest_at).saturating_add(passed) > MAX_AGE_TICKS {
                    *place = KeptSample::default();
                }
            }
            *self.newest_at = at;
        }
    }

    /// Returns the slot that a sample of `reporter` gets, and the age of its present sample if none
    /// is free. It runs for every report of a busy network, so slots are read once, and the rest
    /// are plain loops over the values read.
    fn place_for(&self, reporter: u8) -> FoundPlace {
        let free = || self.places.iter().position(|place| place.is_free());
        // Slots are filled in their order, so most tables with a free slot end with one.
        let has_free_end = self.places.last().is_some_and(|last| last.is_free());
        let free_end = if has_free_end { free() } else { None };
        if let Some(free) = free_end {
            return FoundPlace::free(free);
        }
        let mut columns = Columns::of(self.places);
        if self.are_few {
            columns.rejuvenate(self.places, *self.newest_at);
        }
        // A free slot is all zeros.
        let free = if columns.counters[0] > 0 { free() } else { None };
        free.map_or_else(|| self.surplus(&columns, reporter), FoundPlace::free)
    }

    /// Returns the slot to replace if none is free.
    fn surplus(&self, columns: &Columns, reporter: u8) -> FoundPlace {
        let held = columns.held();
        let most = held.iter().copied().fold(0, u8::max);
        let own = held[usize::from(reporter)];
        let newest_at = self.newest_at.0 as u16;
        let oldest = match own == most {
            true => columns.oldest(newest_at, |who| who == u16::from(reporter)),
            false => columns.oldest(newest_at, |who| held[usize::from(who)] == most),
        };
        let at = oldest.unwrap_or(0);
        let gone = oldest.map(|place| self.places[place].age_at(*self.newest_at));
        FoundPlace { at, gone, is_owed: most > own + 1 }
    }
}

/// A slot for a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FoundPlace {
    at: usize,
    /// Age of the sample that is there.
    gone: Option<u32>,
    /// Its reporter has more slots than the sample's, also after it has given up this one: the
    /// sample gets it even if it is older.
    is_owed: bool,
}

impl FoundPlace {
    const fn free(at: usize) -> Self {
        Self { at, gone: None, is_owed: false }
    }
}

/// Returns the number of times that a sample's age is halved when a slot is sought, if few are
/// kept. A loss above all delivered windows shows the queue limit, and outlasts them.
pub(super) fn halvings(places: &[KeptSample]) -> impl Fn(&KeptSample) -> u32 {
    let came = places.iter().filter(|place| !place.is_loss()).map(|place| place.window);
    let largest = came.max().unwrap_or(0);
    move |place| match place.is_loss() && place.window > largest {
        true => u32::from(Note::read(place.label).tries()) + 1,
        false => 0,
    }
}

/// Slots of one prefix, column by column: loops over a column process several slots at a time.
struct Columns {
    count: usize,
    at: [u16; SAMPLES_PER_BUSY_NETWORK],
    /// Reporters, as wide as the times, so that one mask fits both.
    who: [u16; SAMPLES_PER_BUSY_NETWORK],
    /// Number of slots by the value of [`KeptSample::who`].
    counters: [u8; 256],
}

impl Columns {
    fn of(places: &[KeptSample]) -> Self {
        let (mut at, mut who, mut counters) =
            ([0; SAMPLES_PER_BUSY_NETWORK], [0; SAMPLES_PER_BUSY_NETWORK], [0; 256]);
        for ((place, at), who) in places.iter().zip(&mut at).zip(&mut who) {
            *at = u16::from_le_bytes(place.at);
            *who = place.who.into();
            counters[usize::from(place.who)] += 1;
        }
        Self { count: places.len().min(SAMPLES_PER_BUSY_NETWORK), at, who, counters }
    }

    /// Makes losses at a queue limit younger than they are.
    fn rejuvenate(&mut self, places: &[KeptSample], newest_at: Tick) {
        let halvings = halvings(places);
        for (place, at) in places.iter().zip(&mut self.at) {
            let newest_at = newest_at.0 as u16;
            *at = newest_at.wrapping_sub(newest_at.wrapping_sub(*at) >> halvings(place));
        }
    }

    /// Returns the number of slots of each reporter.
    fn held(&self) -> [u8; 128] {
        let (without, with) = self.counters.split_at(usize::from(LOSS));
        std::array::from_fn(|reporter| without[reporter] + with[reporter])
    }

    /// Returns the slot of the oldest sample beside one of `newest_at` whose reporter `may_go`, the
    /// last of several.
    fn oldest(&self, newest_at: u16, may_go: impl Fn(u16) -> bool) -> Option<usize> {
        let (at, who) = (&self.at[..self.count], &self.who[..self.count]);
        let may_go = |who: u16| may_go(who & u16::from(!LOSS));
        let mut most = 0;
        for (at, who) in at.iter().zip(who) {
            let age = newest_at.wrapping_sub(*at);
            most = most.max(if may_go(*who) { age } else { 0 });
        }
        let (mut last, mut next) = (0_i16, 0);
        for (at, who) in at.iter().zip(who) {
            next += 1;
            let is_oldest = newest_at.wrapping_sub(*at) == most && may_go(*who);
            last = last.max(if is_oldest { next } else { 0 });
        }
        (last > 0).then(|| last as usize - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The documented rule. The oldest sample goes of the reporter with the most slots, or of the
    /// sample's own reporter if that has as many; the last of several.
    fn surplus_by_definition(samples: &Samples<'_>, reporter: u8) -> FoundPlace {
        let held = |who: u8| samples.places.iter().filter(|place| place.reporter() == who).count();
        let most = samples.places.iter().map(|place| held(place.reporter())).max().unwrap();
        let may_go = |who: u8| {
            if held(reporter) == most { who == reporter } else { held(who) == most }
        };
        let candidates = samples.places.iter().enumerate();
        let candidates = candidates.filter(|(_, place)| may_go(place.reporter()));
        let oldest = candidates.max_by_key(|(_, place)| place.age_at(*samples.newest_at));
        let (at, place) = oldest.unwrap();
        let gone = Some(place.age_at(*samples.newest_at));
        FoundPlace { at, gone, is_owed: most >= held(reporter) + 2 }
    }

    /// Two of thirty segments are lost, or more than can be represented, or of a flight that is too
    /// large, or of an unknown number. A network's label, which was in the same byte once, is no
    /// count.
    #[test]
    fn a_networks_own_sample_says_how_many_segments_were_lost() {
        let report = |bound, sent, lost| SiteReport {
            network: "192.0.2.0/24".parse().unwrap(),
            reporter: Reporter(1),
            window: 30_000,
            rate: None,
            min_rtt: None,
            sent,
            lost,
            bound,
        };
        let own = |report| Note::read(KeptSample::new(200, &report).of_own(&report).label).lost();
        let loss = ReportBound::Loss;
        let whole = ReportBound::OwnStart;
        let sent_and_lost =
            [(loss, 30, 2), (loss, 30, 9), (loss, 33, 2), (loss, 0, 0), (whole, 30, 0)];
        let lost = sent_and_lost.map(|(bound, sent, lost)| own(report(bound, sent, lost)));
        assert_eq!(lost, [2, 5, 0, 0, 0]);
        assert_eq!(Note::read(200), Note::default());
    }

    proptest! {
        #[test]
        fn who_has_most_places_gives_up_its_oldest(
            kept in prop::collection::vec((0_u16..20, 0_u8..5), 1..=64),
            newest_at in 20_u32..200_000,
            reporter in 0_u8..6,
        ) {
            let place = |(age, who): (u16, u8)| KeptSample {
                at: (newest_at as u16).wrapping_sub(age).to_le_bytes(),
                window: 1,
                who,
                ..KeptSample::default()
            };
            let mut places: Vec<_> = kept.into_iter().map(place).collect();
            let newest_at = &mut Tick(newest_at);
            let samples = Samples { newest_at, places: &mut places, are_few: false };
            prop_assert_eq!(samples.place_for(reporter), surplus_by_definition(&samples, reporter));
        }
    }
}
