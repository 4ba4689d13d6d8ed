//! The matrix: 5400 cells of seven factors, and a sample of 300 in which every two levels meet.
//!
//! The sample is constructed, not drawn. Cell by cell, it takes the cell whose pairs of levels have
//! occurred the fewest times, where rare pairs count more. A hash breaks ties. So every prefix of
//! it is balanced. The quick set is built the same way within strata of cells' costs (`strata`).

use super::cell_setup::{BackgroundLoad, Before, CellSetup, DownRate};
use link::matrix::{MatrixPath, QUEUES, RATES, RTTS, SIZES};
use link::path::PathSpec;
use netsim::derive_seed;
use serde::Serialize;
use std::sync::Arc;
use workload::{Http, LoaderConfig, Object, ObjectKind, Page, PageHost};

/// Cells of the sample.
pub const SAMPLE_CELLS: usize = 300;
/// Factors of a cell.
pub const FACTORS: usize = 7;
/// Levels of each factor.
pub const LEVELS: [usize; FACTORS] = [SIZES.len(), RTTS.len(), RATES.len(), QUEUES.len(), 3, 3, 3];

/// State that the sender remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// No memory: the client is met for the first time.
    Cold,
    /// The same transfer a while ago over the same path.
    Warm,
    /// The same transfer a while ago, when the path was four times faster.
    Stale,
}

/// Shape of the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferShape {
    /// One object over one connection.
    One,
    /// Four equal objects at once, a connection each.
    Page4,
    /// Twelve.
    Page12,
}

impl TransferShape {
    /// Number of objects.
    pub const fn objects(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Page4 => 4,
            Self::Page12 => 12,
        }
    }
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MatrixCell {
    /// Bytes of all objects together.
    pub bytes: u64,
    /// Round trip, milliseconds.
    pub rtt_ms: u64,
    /// Rate of the path, bit/s, when the transfer is measured.
    pub rate_bps: u64,
    /// Thousandths of the bandwidth-delay product that the queue holds.
    pub queue_millibdp: u64,
    /// Other traffic on the path.
    pub load: BackgroundLoad,
    /// State that the sender remembers.
    pub memory: Memory,
    /// Shape of the transfer.
    pub shape: TransferShape,
}

/// A factor of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixFactor {
    /// [`MatrixCell::bytes`].
    Size,
    /// [`MatrixCell::rtt_ms`].
    Rtt,
    /// [`MatrixCell::rate_bps`].
    Rate,
    /// [`MatrixCell::queue_millibdp`].
    Queue,
    /// [`MatrixCell::load`].
    Load,
    /// [`MatrixCell::memory`].
    Memory,
    /// [`MatrixCell::shape`].
    Shape,
}

impl MatrixFactor {
    /// All of them, in the order of [`LEVELS`].
    pub const ALL: [Self; FACTORS] =
        [Self::Size, Self::Rtt, Self::Rate, Self::Queue, Self::Load, Self::Memory, Self::Shape];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Rtt => "rtt",
            Self::Rate => "rate",
            Self::Queue => "queue",
            Self::Load => "load",
            Self::Memory => "memory",
            Self::Shape => "shape",
        }
    }

    /// Names of its levels.
    pub const fn levels(self) -> &'static [&'static str] {
        match self {
            Self::Size => &["10 kB", "30 kB", "100 kB", "300 kB", "1 MB"],
            Self::Rtt => &["10 ms", "40 ms", "80 ms", "200 ms", "600 ms"],
            Self::Rate => &["1.5 Mbit/s", "10 Mbit/s", "50 Mbit/s", "200 Mbit/s"],
            Self::Queue => &["0.25 bdp", "1 bdp"],
            Self::Load => &["idle", "half", "full"],
            Self::Memory => &["cold", "warm", "stale"],
            Self::Shape => &["1 object", "page of 4", "page of 12"],
        }
    }
}

/// A level of every factor.
pub(super) type CellLevels = [usize; FACTORS];

impl MatrixCell {
    /// The cell of these levels.
    pub(super) fn at([size, rtt, rate, queue, load, memory, shape]: CellLevels) -> Self {
        Self {
            bytes: SIZES[size],
            rtt_ms: RTTS[rtt],
            rate_bps: RATES[rate],
            queue_millibdp: QUEUES[queue],
            load: [BackgroundLoad::Idle, BackgroundLoad::Half, BackgroundLoad::Full][load],
            memory: [Memory::Cold, Memory::Warm, Memory::Stale][memory],
            shape: [TransferShape::One, TransferShape::Page4, TransferShape::Page12][shape],
        }
    }

    /// Its levels.
    pub(super) fn levels(&self) -> CellLevels {
        let of = |levels: &[u64], value| levels.iter().position(|l| *l == value).unwrap_or(0);
        [
            of(&SIZES, self.bytes),
            of(&RTTS, self.rtt_ms),
            of(&RATES, self.rate_bps),
            of(&QUEUES, self.queue_millibdp),
            self.load as usize,
            self.memory as usize,
            self.shape as usize,
        ]
    }

    /// Its level of a factor, as an index into [`MatrixFactor::levels`].
    pub fn level(&self, factor: MatrixFactor) -> usize {
        self.levels()[factor as usize]
    }

    /// The path when the transfer is measured.
    pub fn path(&self) -> PathSpec {
        let Self { rate_bps, rtt_ms, queue_millibdp, .. } = *self;
        MatrixPath { rate_bps, rtt_ms, queue_millibdp }.spec()
    }

    /// Its levels by name, for labels and seeds.
    pub fn name(&self) -> String {
        let level = |factor: MatrixFactor| factor.levels()[self.level(factor)];
        MatrixFactor::ALL.map(level).join(", ")
    }
}

/// Factor by which a wrongly remembered path was faster.
const FASTER: u64 = 4;

impl MatrixCell {
    pub(super) fn setup(&self) -> CellSetup {
        CellSetup {
            name: self.name(),
            page: Arc::new(self.equal_objects_page()),
            bytes: self.bytes,
            loader: LoaderConfig::default(),
            path: self.path(),
            down_rate: DownRate::Steady,
            load: self.load,
            before: match self.memory {
                Memory::Cold => Before::Nothing,
                Memory::Warm => Before::SameTransfer,
                Memory::Stale => Before::FasterPath(FASTER),
            },
        }
    }

    /// Equal objects requested at once, over connections that close after them.
    fn equal_objects_page(&self) -> Page {
        let host = PageHost::plain("server", Http::Http10);
        let count = self.shape.objects();
        let object = |n: u64| {
            // The remainder of the division goes to the first object.
            let bytes = self.bytes / count + if n == 0 { self.bytes % count } else { 0 };
            let kind = if n == 0 { ObjectKind::Html } else { ObjectKind::Image };
            Object::plain(format!("object{n}"), kind, bytes)
        };
        let objects = (0..count).map(object).collect();
        Page::new("transfer", vec![host], objects).expect("a page of equal objects is one")
    }

    /// A line of the list of cells: size, round trip, rate, queue, load, memory and shape.
    pub(super) fn list_line(&self) -> String {
        let Self { bytes, rtt_ms, rate_bps, queue_millibdp, load, memory, shape } = self;
        let words = format!("{load:?},{memory:?},{shape:?}").to_lowercase();
        format!("{bytes},{rtt_ms},{rate_bps},{queue_millibdp},{words}")
    }
}

/// Every combination of levels of the matrix, the last factor varying fastest.
pub(super) fn all() -> Vec<CellLevels> {
    let count: usize = LEVELS.iter().product();
    let place = |n: usize| {
        let (mut n, mut place) = (n, [0; FACTORS]);
        for (at, levels) in LEVELS.iter().enumerate().rev() {
            place[at] = n % levels;
            n /= levels;
        }
        place
    };
    (0..count).map(place).collect()
}

/// The two factors of each pair.
pub(super) fn pairs() -> Vec<(usize, usize)> {
    (0..FACTORS).flat_map(|a| (a + 1..FACTORS).map(move |b| (a, b))).collect()
}

/// The first `count` cells of the sample.
pub(super) fn first_cells(count: usize) -> Vec<MatrixCell> {
    balanced_cells(all(), count)
}

/// Chooses `count` of these combinations, so that each two levels meet about equally often.
pub(super) fn balanced_cells(places: Vec<CellLevels>, count: usize) -> Vec<MatrixCell> {
    let pairs = pairs();
    let tie = |place: &CellLevels| derive_seed(0, &format!("scoreboard/{place:?}"));
    let mut left: Vec<(u64, CellLevels)> =
        places.iter().map(|place| (tie(place), *place)).collect();
    left.sort_unstable();
    // Number of times that each two levels of each two factors have met.
    let mut met = vec![[[0u64; 5]; 5]; pairs.len()];
    let mut chosen = Vec::new();
    while chosen.len() < count.min(left.len() + chosen.len()) {
        // A pair that has met m times of the n in which it may weighs m n: rare pairs must not
        // wait.
        let weight = |place: &CellLevels| -> u64 {
            let of = |(n, (a, b)): (usize, &(usize, usize))| {
                met[n][place[*a]][place[*b]] * (LEVELS[*a] * LEVELS[*b]) as u64
            };
            pairs.iter().enumerate().map(of).sum()
        };
        let lightest = (0..left.len()).min_by_key(|n| weight(&left[*n].1));
        let Some(lightest) = lightest else { break };
        let (_, place) = left.remove(lightest);
        for (n, (a, b)) in pairs.iter().enumerate() {
            met[n][place[*a]][place[*b]] += 1;
        }
        chosen.push(MatrixCell::at(place));
    }
    chosen
}
