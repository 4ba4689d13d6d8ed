//! What the programs tell: of connections that have closed, and, if it is to be logged, of each start.

use crate::contract::{ConnectionSummary, StartDecision};
use libbpf_rs::{MapCore, MapFlags, RingBuffer, RingBufferBuilder};

/// What found its buffer full, by its place in the map `lost`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Connections that have closed.
    Summaries,
    /// Starts.
    Decisions,
}

/// Tells of connections and starts when polled.
///
/// # Errors
/// If there are no more file descriptors.
pub(crate) fn hear<'a>(
    summaries: &dyn MapCore,
    mut on_summary: impl FnMut(ConnectionSummary) + 'a,
    decisions: &dyn MapCore,
    mut on_decision: impl FnMut(StartDecision) + 'a,
) -> Result<RingBuffer<'a>, String> {
    let mut builder = RingBufferBuilder::new();
    let of_summary = move |bytes: &[u8]| {
        ConnectionSummary::from_bytes(bytes).map_or(0, |summary| {
            on_summary(summary);
            0
        })
    };
    let of_decision = move |bytes: &[u8]| {
        StartDecision::from_bytes(bytes).map_or(0, |decision| {
            on_decision(decision);
            0
        })
    };
    let built = builder
        .add(summaries, of_summary)
        .map(|_| ())
        .and_then(|()| builder.add(decisions, of_decision).map(|_| ()))
        .and_then(|()| builder.build());
    built.map_err(|error| format!("cannot read what the programs tell: {error}"))
}

/// How many so far.
pub(crate) fn lost(map: &dyn MapCore, what: Lost) -> u64 {
    let bytes = map.lookup(&(what as u32).to_ne_bytes(), MapFlags::ANY);
    let count = bytes.ok().flatten().and_then(|bytes| bytes.try_into().ok());
    count.map(u64::from_ne_bytes).unwrap_or_default()
}
