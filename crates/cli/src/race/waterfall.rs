//! The objects of a recorded load as the rows of the report's waterfall.

use race::{CriticalObject, CriticalPhases, LoadRecording, MeasuredLoad, Race};
use report::{CriticalSpan, ObjectSpan, OpeningView};
use units::{Duration, Instant};
use workload::{ConnectionRecord, Discovery, Milestones, ObjectId, Page};

/// The objects that the load discovered, in the order of their discovery. `labels` has the names of
/// its connections.
pub(super) fn objects(
    race: &Race,
    load: &MeasuredLoad,
    recording: &LoadRecording,
    labels: &[String],
) -> Vec<ObjectSpan> {
    let shift = |at: Option<Instant>| at.map(|at| report_instant(recording, at));
    let span = |(id, milestones): (ObjectId, &Milestones)| {
        let discovered = shift(milestones.discovered)?;
        let phases = load.detail.as_ref().and_then(|detail| detail.objects[id.index()].phases);
        let connection = milestones.connection.map(|c| labels[c.index()].clone());
        let opened = milestones.connection.map(|c| &recording.transfers[c.index()].connection);
        Some(ObjectSpan {
            connection: connection.unwrap_or_default(),
            opening: opened
                .filter(|_| phases.is_none_or(has_opening))
                .and_then(|connection| opening(recording, connection)),
            critical: load.critical.iter().find(|wait| wait.object == id).map(critical),
            revealed: phases.map(|phases| instant_before(discovered, phases.client)),
            discovered,
            requested: shift(milestones.requested),
            first_byte: shift(milestones.first_byte),
            done: shift(milestones.done),
            ..object_span(&race.page, id)
        })
    };
    let objects = race.page.ids().zip(&recording.milestones);
    let mut spans: Vec<ObjectSpan> = objects.filter_map(span).collect();
    spans.sort_by_key(|object| object.discovered);
    spans
}

/// Everything about an object but its times.
fn object_span(page: &Page, id: ObjectId) -> ObjectSpan {
    let object = page.object(id);
    ObjectSpan {
        index: id.index(),
        label: object.label.clone(),
        host: page.host(object.host).name.clone(),
        kind: object.kind.name().to_owned(),
        bytes: object.response_bytes(),
        server_wait: object.server_wait,
        revealed_by: match object.discovery {
            Discovery::AtStart => None,
            Discovery::InBody { parent, .. } => Some(parent.index()),
        },
        ..ObjectSpan::default()
    }
}

fn critical(wait: &CriticalObject) -> CriticalSpan {
    let from = Instant::ZERO + wait.from;
    CriticalSpan { from, to: from + wait.phases.total() }
}

/// Whether an object waited for its connection to open.
fn has_opening(phases: CriticalPhases) -> bool {
    phases.dns + phases.tcp + phases.tls > Duration::ZERO
}

/// The instant that is so much earlier, or the beginning of the load.
fn instant_before(at: Instant, earlier: Duration) -> Instant {
    Instant::ZERO + at.saturating_since(Instant::ZERO).saturating_sub(earlier)
}

/// Times of a connection's handshakes; `None` if it was open before the load.
fn opening(recording: &LoadRecording, connection: &ConnectionRecord) -> Option<OpeningView> {
    let shift = |at| report_instant(recording, at);
    (connection.opened >= recording.start).then(|| OpeningView {
        lookup: connection.lookup.map(shift),
        opened: shift(connection.opened),
        connected: connection.connected.map(shift),
        ready: connection.ready.map(shift),
    })
}

/// An instant of the simulation on the report's clock, which starts with the load.
pub(super) fn report_instant(recording: &LoadRecording, at: Instant) -> Instant {
    Instant::ZERO + recording.since_start(at)
}
