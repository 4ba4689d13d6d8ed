//! Events that the programs report: closed connections; each start, if it is to be logged; and
//! unknown paths, if there is a gateway.

use super::counters::counter;
use crate::contract::{ConnectionSummary, PathInquiry, StartDecision};
use libbpf_rs::{MapCore, MapImpl, RingBuffer, RingBufferBuilder};

/// Kinds of events that found their buffer full, by their index in the map `lost`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Connections that have closed.
    Summaries,
    /// Starts of connections.
    Decisions,
    /// Paths that are asked for.
    Inquiries,
}

/// Handlers of the events.
pub(crate) struct EventHandlers<S, D, I> {
    /// Connections that have closed.
    pub(crate) summary: S,
    /// Starts, if they are asked for.
    pub(crate) decision: D,
    /// Paths that a gateway may know, if there is one.
    pub(crate) inquiry: I,
}

/// Calls the handlers of connections, starts and inquiries when polled. `map`: a ring buffer by its
/// name.
///
/// # Errors
/// If there are no more file descriptors.
pub(crate) fn subscribe<'a, 'm>(
    map: impl Fn(&str) -> MapImpl<'m>,
    handlers: EventHandlers<
        impl FnMut(ConnectionSummary) + 'a,
        impl FnMut(StartDecision) + 'a,
        impl FnMut(PathInquiry) + 'a,
    >,
) -> Result<RingBuffer<'a>, String> {
    let maps = [map("summaries"), map("decisions"), map("inquiries")];
    let [summaries, decisions, inquiries] = &maps;
    let mut builder = RingBufferBuilder::new();
    let added = builder
        .add(summaries, reader(ConnectionSummary::from_bytes, handlers.summary))
        .and_then(|builder| {
            builder.add(decisions, reader(StartDecision::from_bytes, handlers.decision))
        })
        .and_then(|builder| {
            builder.add(inquiries, reader(PathInquiry::from_bytes, handlers.inquiry))
        })
        .map(drop);
    let built = added.and_then(|()| builder.build());
    built.map_err(|error| format!("cannot read events of the programs: {error}"))
}

/// Skips bytes that are no record: this cannot occur, since both sides were built together.
fn reader<'a, T>(
    read: impl Fn(&[u8]) -> Option<T> + 'a,
    mut hear: impl FnMut(T) + 'a,
) -> impl FnMut(&[u8]) -> i32 + 'a {
    move |bytes| {
        if let Some(record) = read(bytes) {
            hear(record);
        }
        0
    }
}

/// Returns the number of lost events of the kind `what` so far; 0 if it cannot be read.
pub(crate) fn lost_events(map: &dyn MapCore, what: Lost) -> u64 {
    counter(map, what as u32)
}
