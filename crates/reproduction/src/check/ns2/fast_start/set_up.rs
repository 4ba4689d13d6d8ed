//! The meaning of a row: its load, link and schemes. File names give some of it:
//! `…-constant-load-50ms…`, `…-changed-load-200ms-tick500ms…`, with `red` for a marking queue (over
//! 50 ms under a changing load unless it gives a delay). The name of the file of two groups of
//! connections gives nothing; its delay is 50 ms.

use super::super::file_name::{is_red, tick_of};
use super::rows::Measured;
use link::{Discipline, RedConfig, Thresholds};
use units::Duration;

/// The traffic beside the bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// No other traffic.
    None,
    /// Bulk transfers, from long before the first burst.
    Constant,
    /// Bulk transfers that begin between the bursts.
    Changed,
}

/// One experiment.
#[derive(Clone, Debug)]
pub(super) struct SetUp {
    pub(super) load: Load,
    /// One-way delay of the bottleneck.
    pub(super) delay: Duration,
    pub(super) tick: Duration,
    /// Time within which the connections of a crowd begin their second burst.
    pub(super) gap: Duration,
    pub(super) discipline: Discipline,
    /// The scheme of each group of bursty connections.
    pub(super) groups: Vec<String>,
    /// Connections of each group.
    pub(super) connections: usize,
    pub(super) bulk: usize,
    pub(super) bulk_scheme: String,
}

/// Returns a variant's scheme; `None` for one that headstart lacks.
pub(in super::super) fn scheme_of(variant: &str) -> Option<&'static str> {
    ["newreno", "fs", "fs-pdrop", "fs-pdrop-noflr"].into_iter().find(|name| *name == variant)
}

/// A crowd gathers in a second, unless a row says otherwise.
const CROWD_GAP: Duration = Duration::from_secs(1);
/// Windows of the bursty connections, packets; ns-2's first threshold is the same.
const BURSTY_WINDOW: u32 = 32;
/// Largest number of packets at one send opportunity.
const MAX_BURST: u32 = 4;

impl SetUp {
    /// Creates the set-up from the file's name and the row, whose variant is `scheme`.
    ///
    /// # Errors
    /// If the name lacks the delay or another parameter.
    pub(super) fn new(file: &str, scheme: &str, row: &Measured) -> Result<Self, String> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let red = is_red(file);
        // A dot may be within a time: `tick0.5s` has no delay of 5 s in it.
        let words: Vec<&str> = name.split(['-', '_']).flat_map(without_tick).collect();
        let (load, delay) = match row.groups.len() {
            // Under RED the load changes, over 50 ms, unless the name says otherwise (FS-7).
            1 if red => (
                load_of(&words).unwrap_or(Load::Changed),
                duration_of(&words).unwrap_or(SHORT_DELAY),
            ),
            1 => (load_of(&words)?, duration_of(&words).ok_or(NO_DELAY)?),
            _ => (Load::None, SHORT_DELAY),
        };
        let tick = tick_of(file)?;
        let common =
            format!("profile=paper+tick={}ns{}", tick.as_nanos(), if red { "+ecn=on" } else { "" });
        let bursty = |scheme: &str| {
            format!(
                "{scheme}+{common}+window={BURSTY_WINDOW}+ssthresh={BURSTY_WINDOW}+maxburst={MAX_BURST}"
            )
        };
        let window = if delay > Duration::from_millis(100) { 32 } else { 8 };
        Ok(Self {
            load,
            delay,
            tick,
            gap: row.gap.unwrap_or(CROWD_GAP),
            discipline: discipline_of(scheme, red),
            groups: [scheme, "newreno"].iter().take(row.groups.len()).map(|s| bursty(s)).collect(),
            connections: row.connections as usize,
            bulk: row.bulk as usize,
            bulk_scheme: format!("newreno+{common}+window={window}+ssthresh={window}"),
        })
    }

    /// Returns the set-up with fast start's round trip frozen, as ns-2's is; `None` without fast
    /// start.
    pub(super) fn with_first_rtt(&self) -> Option<Self> {
        let mut other = self.clone();
        let first = other.groups.first_mut().filter(|scheme| scheme.starts_with("fs"))?;
        first.push_str("+fs_rtt=first");
        Some(other)
    }
}

/// One-way delay of the bottleneck in most experiments.
const SHORT_DELAY: Duration = Duration::from_millis(50);
const NO_DELAY: &str = "the file's name does not say the bottleneck's delay, like 50ms";

/// Returns the load that the words of a file's name give.
fn load_of(words: &[&str]) -> Result<Load, String> {
    let mut loads = words.windows(2).filter_map(|pair| match pair {
        ["constant", "load"] => Some(Load::Constant),
        ["changed", "load"] => Some(Load::Changed),
        _ => None,
    });
    let why = "the file's name says neither constant-load nor changed-load";
    loads.next().ok_or_else(|| why.to_owned())
}

/// Returns the parts of a word between dots; of one that gives the tick there are none.
fn without_tick(word: &str) -> impl Iterator<Item = &str> {
    let is_tick = word.to_ascii_lowercase().starts_with("tick");
    word.split('.').filter(move |_| !is_tick)
}

/// Returns the duration among `words`.
fn duration_of(words: &[&str]) -> Option<Duration> {
    words.iter().find_map(|word| word.parse().ok())
}

/// Returns RED with the thresholds of the papers' 50-packet buffer.
fn red_of(low_priority_first: bool) -> RedConfig {
    let thresholds = Thresholds::Packets { min: 7.5, max: 30.0 };
    RedConfig { thresholds, low_priority_first, ..RedConfig::default() }
}

fn discipline_of(scheme: &str, red: bool) -> Discipline {
    match (scheme.starts_with("fs-pdrop"), red) {
        (false, false) => Discipline::DropTail,
        (true, false) => Discipline::PriorityDrop,
        (low_priority_first, true) => Discipline::Red(red_of(low_priority_first)),
    }
}
