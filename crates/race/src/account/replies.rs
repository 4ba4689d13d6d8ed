//! Replies of a sender: the times of the request and of the answer, and the answer's end in the
//! stream.

use crate::record::{LoadRecording, RequestData, Stretch, TransferRecord};
use units::Instant;
use workload::{Discovery, Milestones, Object, Page, TLS_CLIENT_HELLO};

/// An answer, or a part of TLS's handshake that the server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// Time at which its server, or the client on behalf of the server, began to think.
    pub(super) asked: Instant,
    /// Time at which the thinking was over.
    pub(super) thought: Instant,
    /// Time from which it can be sent.
    pub(super) ready: Instant,
    /// Offset in the stream of the first byte after it.
    pub(super) end: u64,
    /// Time at which the client sent the request …
    pub(super) from: Instant,
    /// … and had all of it.
    pub(super) to: Instant,
}

/// The objects that the end of the load waits for.
fn awaited_objects<'a>(
    page: &'a Page,
    recording: &'a LoadRecording,
) -> impl Iterator<Item = (&'a Object, &'a Milestones)> {
    let all = page.ids().zip(&recording.milestones);
    let awaited = all.filter(|(id, _)| page.awaits(page.until(), *id));
    awaited.map(|(id, milestones)| (page.object(id), milestones))
}

/// The answers on a connection in the order of the page, and its opening. A connection without an
/// object that the end of the load waits for has none.
pub(super) fn replies(page: &Page, recording: &LoadRecording, index: usize) -> Vec<Reply> {
    let transfer = &recording.transfers[index];
    let is_here = |m: &Milestones| m.connection.is_some_and(|conn| conn.index() == index);
    let answers = awaited_objects(page, recording)
        .filter(|(_, milestones)| is_here(milestones))
        .filter_map(|(object, milestones)| reply(recording, transfer, object, milestones));
    let mut replies: Vec<Reply> = answers.collect();
    if !replies.is_empty() {
        replies.extend(handshake(recording, transfer));
    }
    replies
}

fn reply(
    recording: &LoadRecording,
    transfer: &TransferRecord,
    object: &Object,
    milestones: &Milestones,
) -> Option<Reply> {
    let (from, to) = (milestones.requested?, milestones.done?);
    let requests = &transfer.trace.requests;
    let arrived = match object.request_bytes == 0 && requests.is_empty() {
        // The request costs no trip, once the server has a connection to answer on.
        true => transfer.trace.accepted,
        false => request_arrival(requests, from),
    };
    let arrived = arrived.map_or(from, |arrived| arrived.max(from));
    let end = delivered(transfer, to);
    // The client delays its request by the think time where servers cannot delay answers.
    let asked = if recording.servers_think { arrived } else { from };
    let thought = asked + object.server_wait;
    Some(Reply { asked, thought, ready: thought.max(arrived), end, from, to })
}

/// The opening of the connection, which may have answers in it: TLS 1.3 has one, TLS 1.2 a second
/// one to the client's keys.
fn handshake(recording: &LoadRecording, transfer: &TransferRecord) -> Vec<Reply> {
    let opened = transfer.connection.opened;
    let is_new = |_: &Instant| opened >= recording.start;
    let Some(ready) = transfer.connection.ready.filter(is_new) else { return Vec::new() };
    let requests = &transfer.trace.requests;
    let is_keys = |data: &&RequestData| data.from == TLS_CLIENT_HELLO && data.sent < ready;
    let keys = requests.iter().find(is_keys).map(|data| data.sent);
    let begins = std::iter::once(opened).chain(keys);
    let ends = keys.into_iter().chain([ready]);
    let reply = |(from, to): (Instant, Instant)| {
        let asked = request_arrival(requests, from).unwrap_or(to).min(to);
        Reply { asked, thought: asked, ready: asked, end: delivered(transfer, to), from, to }
    };
    begins.zip(ends).map(reply).collect()
}

/// Time at which a request made at `asked` was at the server: the first data that left the client
/// since.
fn request_arrival(requests: &[RequestData], asked: Instant) -> Option<Instant> {
    requests.get(requests.partition_point(|data| data.sent < asked))?.arrived
}

/// Bytes of the server's stream that the client had in order at an instant.
fn delivered(transfer: &TransferRecord, at: Instant) -> u64 {
    let steps = &transfer.trace.delivered;
    let index = steps.partition_point(|(when, _)| *when <= at);
    index.checked_sub(1).map_or(0, |index| steps[index].1)
}

/// Times in which the browser was busy, for objects that the end of the load waits for.
pub(super) struct BrowserWork {
    /// Time in which it prepared requests for objects that others had revealed.
    pub(super) requests: Vec<Stretch>,
    /// Time in which it looked up names of hosts.
    pub(super) lookups: Vec<Stretch>,
}

impl BrowserWork {
    pub(super) fn of(page: &Page, recording: &LoadRecording) -> Self {
        let worked_out = |(object, milestones): (&Object, &Milestones)| {
            let to = milestones.discovered?;
            let Discovery::InBody { parent, delay, .. } = object.discovery else { return None };
            let work = recording.client.work_on(page.object(parent).kind) + delay;
            let revealed = recording.since_start(to).saturating_sub(work);
            Some(Stretch { from: recording.start + revealed, to })
        };
        let looked_up = |(_, milestones): (&Object, &Milestones)| {
            let connection = recording.transfers.get(milestones.connection?.index())?.connection;
            let from = connection.lookup.filter(|from| *from >= recording.start)?;
            Some(Stretch { from, to: connection.opened })
        };
        let takes_time = |stretch: &Stretch| stretch.from < stretch.to;
        let requests = awaited_objects(page, recording).filter_map(worked_out).filter(takes_time);
        let lookups = awaited_objects(page, recording).filter_map(looked_up).filter(takes_time);
        Self { requests: requests.collect(), lookups: lookups.collect() }
    }
}
