//! Contestants of a race: a scheme in a world, its clients' turns, and the loads of their visits.

use super::account::account;
use super::bound::{BoundFrom, BoundShares};
use super::critical::{CriticalObject, critical_path};
use super::load_detail::LoadDetail;
use super::milestone_times::MilestoneTimes;
use super::record::{LinkWatch, LoadRecording, SequenceStep};
use super::visits::VisitKind;
use super::world::World;
use tcp::Scheme;
use units::{Duration, Instant};
use workload::{Page, PageMilestone};

/// One load of the page. Durations count from its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredLoad {
    /// When it began, on the clock of its world; `None` if it never did.
    pub began: Option<Instant>,
    /// Time of the path's recordings when it began, in one cycle of them; `None` if no rate
    /// changes.
    pub phase: Option<Duration>,
    /// Times of its milestones.
    pub times: MilestoneTimes,
    /// The time of the milestone that ends it ([`Page::until`]); `None` if it never came.
    pub page: Option<Duration>,
    /// Segments retransmitted, by servers and client; `None` where no counter exists.
    pub retransmitted: Option<u64>,
    /// Data segments of the page's servers at the access link; `None` if the link was not watched.
    pub sent: Option<SentSegments>,
    /// Expiries of retransmission timers, of servers and client; `None` where no counter exists.
    pub timeouts: Option<u64>,
    /// The page's own packets dropped by queues or lost on the way.
    pub dropped: u64,
    /// Bytes the background flows received from the load's start to its end.
    pub background_bytes: u64,
    /// The background's loss against the same interval of `linux`'s same visit: 1 − bytes delivered
    /// / bytes delivered then. `None` without background or if the load never ended.
    pub harm: Option<f64>,
    /// 99th percentile of the delay with which an emulated link delivered packets late; zero in
    /// simulation.
    pub scheduling_delay: Duration,
    /// Reason why it did not complete.
    pub failure: Option<String>,
    /// Time at which each object was complete, by [`workload::ObjectId`]; none where another
    /// program is the loader.
    pub objects: Vec<Option<Duration>>,
    /// Shares of its bounds; `None` if it did not end with every object, or the link was not
    /// watched.
    pub bounds: Option<BoundShares>,
    /// Its critical path; empty if it did not end, or was not watched.
    pub critical: Vec<CriticalObject>,
    /// Its objects and connections, in the first visits; `None` if it was not watched.
    pub detail: Option<LoadDetail>,
    /// Bounds of each connection's sender over time, in the order of the recording; only with a
    /// recording.
    pub senders: Vec<Vec<BoundFrom>>,
    /// Recording for figures, if requested.
    pub recording: Option<LoadRecording>,
    /// Captures of the access link in all visits, with the first load, if requested. The captures
    /// of the packets that crossed a direction have its name; `-sent` is added for the packets that
    /// entered its queue. Real worlds write theirs to files.
    pub captures: Vec<(String, Vec<u8>)>,
}

/// Data segments that servers handed to the access link in a load, and until the next one began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentSegments {
    /// All of them.
    pub all: u64,
    /// Segments among them whose bytes had been sent before.
    pub retransmitted: u64,
}

impl SentSegments {
    fn of(recording: &LoadRecording) -> Self {
        let mut sent = Self::default();
        for event in recording.transfers.iter().flat_map(|transfer| &transfer.sequence) {
            let is_again = event.step == SequenceStep::Retransmitted;
            sent.all += u64::from(is_again || event.step == SequenceStep::Sent);
            sent.retransmitted += u64::from(is_again);
        }
        sent
    }
}

impl MeasuredLoad {
    /// A load with these milestones, of which `until` ends it.
    pub fn with_times(times: MilestoneTimes, until: PageMilestone) -> Self {
        Self { times, page: times.get(until), ..Self::default() }
    }

    /// A load of `page` with the time at which each object was complete.
    pub fn of_objects(page: &Page, objects: Vec<Option<Duration>>) -> Self {
        let load = Self::with_times(MilestoneTimes::of(page, &objects), page.until());
        Self { objects, ..load }
    }
}

/// Visits of a client that are drawn: the first, and one after it.
const DRAWN: usize = 2;

impl MeasuredLoad {
    /// Derives the bounds of each of a client's loads, if the access link's watch saw all packets
    /// there. If `keep`, recordings of the first ones stay, for figures.
    pub fn settle_all(loads: &mut [&mut Self], page: &Page, watch: Option<&LinkWatch>, keep: bool) {
        let starts: Vec<Option<Instant>> = loads.iter().map(|load| load.began).collect();
        for (n, load) in loads.iter_mut().enumerate() {
            let next = starts.get(n + 1).copied().flatten();
            let is_drawn = keep && n < DRAWN;
            if let Some(watch) = watch {
                load.finish_turn(page, watch, next, is_drawn);
            }
            let shown = load.recording.as_ref().filter(|_| n < DRAWN);
            load.detail = shown.map(|recording| LoadDetail::of(page, recording));
            if !is_drawn {
                load.recording = None;
            }
        }
    }

    fn finish_turn(
        &mut self,
        page: &Page,
        watch: &LinkWatch,
        next: Option<Instant>,
        is_drawn: bool,
    ) {
        let Some(recording) = &mut self.recording else { return };
        watch.complete(recording, next);
        self.sent = Some(SentSegments::of(recording));
        if let Some(after) = self.page {
            let account = account(page, recording, recording.start + after);
            if is_drawn {
                self.senders = account.senders(recording);
            }
            self.bounds = account.shares;
            self.critical = critical_path(page, recording);
        }
    }
}

/// One client's visits.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientTurn {
    /// Number of real turns of the race before it; `None` if it is simulated.
    pub order: Option<u64>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The turn was repeated because packets were late: another one counts.
    pub is_redone: bool,
    /// The loads of its visits, in order. There may be none behind one that did not end.
    pub visits: Vec<MeasuredLoad>,
}

impl ClientTurn {
    /// The loads of visits of a kind.
    pub fn loads(&self, kind: VisitKind) -> &[MeasuredLoad] {
        let (first, repeated) = self.visits.split_at(self.visits.len().min(1));
        match kind {
            VisitKind::First => first,
            VisitKind::Repeated => repeated,
        }
    }
}

/// One scheme in one world.
#[derive(Clone, Debug, PartialEq)]
pub struct Contestant {
    /// The scheme's text.
    pub name: String,
    /// The world in which it ran.
    pub world: World,
    /// Its turns, in their order, including those repeated because of scheduling delay.
    pub turns: Vec<ClientTurn>,
    /// Reason why it has no further turns, if some are missing: its agent no longer worked.
    pub left_out: Option<String>,
}

impl Contestant {
    /// Creates a contestant without turns.
    pub fn new(name: &str, world: World) -> Self {
        Self { name: name.to_owned(), world, turns: Vec::new(), left_out: None }
    }

    /// A simulated one, from the visits of each repeat.
    pub(super) fn simulated(
        scheme: &Scheme,
        repeats: impl Iterator<Item = Vec<MeasuredLoad>>,
    ) -> Self {
        let turn = |(repeat, visits)| ClientTurn { order: None, repeat, is_redone: false, visits };
        let turns = (0..).zip(repeats).map(turn).collect();
        Self { turns, ..Self::new(scheme.name(), World::Sim) }
    }

    /// The turns that count: one of each repeat, in their order.
    pub fn counted(&self) -> impl Iterator<Item = &ClientTurn> {
        self.turns.iter().filter(|turn| !turn.is_redone)
    }

    /// The first turn that counts: the one that is recorded.
    pub fn first(&self) -> Option<&ClientTurn> {
        self.counted().next()
    }

    /// Every load of the turns that count.
    pub fn loads(&self) -> impl Iterator<Item = &MeasuredLoad> {
        self.counted().flat_map(|turn| &turn.visits)
    }
}
