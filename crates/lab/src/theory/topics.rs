//! Computed topics; serialises as `--json` prints them.

use super::{TheoryArgs, Topic};
use link::matrix::SIZES;
use link::path::PathSpec;
use serde::Serialize;
use theory::{
    self, Exit, GapCase, LossShare, Matrix, ModelPath, Parallel, WindowComparison, WindowRow,
};

/// Bytes of a segment in the papers, for RFC 2414's window.
const PAPERS_SEGMENT: u64 = 1000;
/// Largest share of a path shown.
const MAX_CAPACITY: u32 = 200;
/// Steps of the available share.
const GAP_STEPS: u32 = 200;
/// Parallel connections shown.
const MAX_CONNECTIONS: u32 = 12;
/// Losses in an epoch, for the chance of a connection to be hit.
const LOSSES: [u32; 4] = [1, 2, 5, 10];

#[derive(Serialize)]
pub(super) struct Topics {
    version: &'static str,
    per_ack: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) windows: Option<Vec<WindowRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gaps: Option<Gaps>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) losses: Option<Losses>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<Time>,
}

#[derive(Serialize)]
pub(super) struct Gaps {
    pub(super) cases: Vec<GapCase>,
    pub(super) exits: Vec<Exit>,
}

#[derive(Serialize)]
pub(super) struct Losses {
    pub(super) parallel: Vec<Parallel>,
    pub(super) shares: Vec<LossShare>,
}

#[derive(Serialize)]
pub(super) struct Time {
    #[serde(serialize_with = "as_text")]
    pub(super) path: PathSpec,
    /// Segments that keep the link busy.
    pub(super) pipe: u64,
    /// Segments that the path holds.
    pub(super) capacity: u64,
    pub(super) sizes: Vec<WindowComparison>,
    pub(super) matrix: Vec<Matrix>,
    #[serde(skip)]
    pub(super) line: ModelPath,
}

fn as_text<S: serde::Serializer>(path: &PathSpec, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

impl Topics {
    pub(super) fn new(args: &TheoryArgs) -> Self {
        let per_ack = if args.delayed_acks { 2 } else { 1 };
        let wanted = |topic| args.topics.is_empty() || args.topics.contains(&topic);
        let capacities: Vec<u32> = (1..=MAX_CAPACITY).collect();
        let windows = || theory::windows(&args.segments, &capacities, per_ack, PAPERS_SEGMENT);
        let gaps = || Gaps { cases: theory::cases(), exits: theory::exits(GAP_STEPS) };
        let losses = || Losses {
            parallel: theory::parallel(MAX_CONNECTIONS),
            shares: theory::loss_shares(&LOSSES),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            per_ack,
            windows: wanted(Topic::Windows).then(windows),
            gaps: wanted(Topic::Gaps).then(gaps),
            losses: wanted(Topic::Losses).then(losses),
            time: wanted(Topic::Time).then(|| Time::new(args, per_ack)),
        }
    }
}

impl Time {
    fn new(args: &TheoryArgs, per_ack: u32) -> Self {
        let line = ModelPath::of(&args.path, per_ack);
        let sizes = if args.sizes.is_empty() { &SIZES[..] } else { &args.sizes };
        Self {
            path: args.path,
            pipe: line.pipe(),
            capacity: line.capacity(),
            sizes: theory::compare(&line, sizes),
            matrix: theory::matrix(per_ack),
            line,
        }
    }
}
