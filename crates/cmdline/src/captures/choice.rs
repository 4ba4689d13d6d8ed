//! Chooses segments of captures: those of named clients, within a span of time.

use capture::Observed;
use trace::NamedClients;
use units::{Duration, Instant};

/// A time that a user names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenTime {
    /// An instant.
    At(Instant),
    /// A time after the first segment.
    After(Duration),
}

impl ChosenTime {
    fn since(self, first: Instant) -> Instant {
        match self {
            Self::At(at) => at,
            Self::After(offset) => first + offset,
        }
    }
}

/// The segments that are looked at; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentChoice {
    /// The first of them is no earlier; without it, the first segment.
    pub from: Option<ChosenTime>,
    /// All of them are earlier; without it, up to the last segment.
    pub to: Option<ChosenTime>,
    /// They are to or from these clients.
    pub clients: NamedClients,
}

/// A choice at work.
#[derive(Debug, Default)]
pub(super) struct SegmentChooser {
    choice: SegmentChoice,
    /// Nothing is chosen, so that no segment has to be looked at.
    is_of_all: bool,
    /// The first segment of all.
    first: Option<Instant>,
    left_out: LeftOutSegments,
}

/// Segments that were read and not chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOutSegments {
    /// Segments before or after the chosen time.
    pub by_time: u64,
    /// Segments of clients that were not named, within that time.
    pub by_client: u64,
}

impl SegmentChooser {
    pub(super) fn of(choice: SegmentChoice) -> Self {
        let is_of_all = choice == SegmentChoice::default();
        Self { choice, is_of_all, ..Self::default() }
    }

    /// Keeps the chosen ones of the next segments.
    pub(super) fn retain(&mut self, batch: &mut Vec<Observed>) {
        if self.is_of_all {
            return;
        }
        let Some(first) = self.first.or(batch.first().map(|segment| segment.at)) else { return };
        self.first = Some(first);
        let since = |time: ChosenTime| time.since(first);
        let Self { choice: SegmentChoice { from, to, clients }, left_out, .. } = self;
        let (from, to) = (from.map(since), to.map(since));
        batch.retain(|segment| {
            let is_early = from.is_some_and(|from| segment.at < from);
            if is_early || to.is_some_and(|to| segment.at >= to) {
                left_out.by_time += 1;
                return false;
            }
            let concerns = clients.concern(segment);
            left_out.by_client += u64::from(!concerns);
            concerns
        });
    }

    /// Counts the segments that were not chosen so far.
    pub(super) const fn left_out(&self) -> LeftOutSegments {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;
    use trace::ClientPattern;

    fn segment(seconds: u64, client: u8) -> Observed {
        let mut segment =
            Observed { at: Instant::from_nanos(seconds * 1_000_000_000), ..Observed::default() };
        segment.source.ip = IpAddr::from([192, 0, 2, client]);
        segment
    }

    /// Segments at 100 to 105 s in two batches. From 2 s after the first to before 104 s there are
    /// two, of which one is of the named client.
    #[test]
    fn a_span_begins_with_its_first_instant_and_ends_before_its_last() {
        let mut choice = SegmentChooser::of(SegmentChoice {
            from: Some(ChosenTime::After(Duration::from_secs(2))),
            to: Some(ChosenTime::At(Instant::from_nanos(104_000_000_000))),
            clients: std::iter::once("192.0.2.3".parse::<ClientPattern>().unwrap()).collect(),
        });
        let mut kept = Vec::new();
        for numbers in [0..2_u8, 2..6] {
            let mut batch = numbers.map(|n| segment(100 + u64::from(n), n)).collect();
            choice.retain(&mut batch);
            kept.extend(batch);
        }
        assert_eq!(kept, [segment(103, 3)]);
        assert_eq!(choice.left_out(), LeftOutSegments { by_time: 4, by_client: 1 });
    }

    #[test]
    fn by_default_all_are_chosen() {
        let mut batch = vec![segment(9, 1), segment(3, 2)];
        let mut choice = SegmentChooser::of(SegmentChoice::default());
        choice.retain(&mut batch);
        assert_eq!((batch.len(), choice.left_out()), (2, LeftOutSegments::default()));
    }
}
