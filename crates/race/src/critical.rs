//! The critical path of a load: the chain of objects whose waits add up to its time.
//!
//! It is found backwards. The last object of the load waited for its bytes, its server, its request
//! and its connection, and before that for the object that revealed it or held the connection. The
//! same is true of that object, up to the instant at which the next one could go on. Each moment of
//! the load is in one phase of one object, so the phases add up to the time of the load.

use crate::record::LoadRecording;
use serde::Serialize;
use units::{Duration, Instant};
use workload::{ConnectionRecord, Discovery, LoadConnId, Milestones, ObjectId, Page};

/// An object on the critical path, and the time for which the load waited for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalObject {
    /// The object.
    pub object: ObjectId,
    /// The connection that carried it.
    pub connection: LoadConnId,
    /// The reason why it could not begin before the object ahead of it on the path.
    pub after: CriticalCause,
    /// From the start of the load to the end of the wait for the object ahead.
    pub from: Duration,
    /// Its phases, in the order in which they follow one another.
    pub phases: CriticalPhases,
}

/// The reason why an object waited for the object ahead of it on the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CriticalCause {
    /// It waited for none: the load began with it.
    Start,
    /// The object's parent revealed it.
    Discovery,
    /// The object held the connection.
    Connection,
}

/// The time that a load waits for an object, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CriticalPhases {
    /// The browser works out the request.
    pub client: Duration,
    /// No connection is free.
    pub waiting: Duration,
    /// The name of its host is looked up.
    pub dns: Duration,
    /// TCP's handshake.
    pub tcp: Duration,
    /// TLS's handshake.
    pub tls: Duration,
    /// Request and first byte are on their way, or in a queue.
    pub trip: Duration,
    /// The server thinks.
    pub server: Duration,
    /// The response is on its way, up to its last byte or the byte that reveals the next object.
    pub receiving: Duration,
}

impl CriticalPhases {
    /// Each phase with its name, in order.
    pub const fn named(&self) -> [(&'static str, Duration); 8] {
        [
            ("client", self.client),
            ("waiting", self.waiting),
            ("dns", self.dns),
            ("tcp", self.tcp),
            ("tls", self.tls),
            ("trip", self.trip),
            ("server", self.server),
            ("receiving", self.receiving),
        ]
    }

    /// All of them.
    pub fn total(&self) -> Duration {
        self.named().into_iter().fold(Duration::ZERO, |sum, (_, phase)| sum + phase)
    }
}

/// The critical path of a load that ended with all objects that its end waits for, first object
/// first. Empty if a time is missing.
pub(crate) fn critical_path(page: &Page, recording: &LoadRecording) -> Vec<CriticalObject> {
    let done = |id: &ObjectId| recording.milestones[id.index()].done;
    let last = page.ids().filter(|id| page.awaits(page.until(), *id)).max_by_key(done);
    let mut path = Vec::new();
    let mut next = last.and_then(|id| Some((id, done(&id)?)));
    while let Some((id, end)) = next.take() {
        // An object comes once: each is revealed, or let onto its connection, by an earlier one.
        if path.len() == page.objects().len() {
            return Vec::new();
        }
        let Some((object, ahead)) = (Walk { page, recording }).step_back(id, end) else {
            return Vec::new();
        };
        path.push(object);
        next = ahead;
    }
    path.reverse();
    path
}

/// Phases of an object, from the byte that revealed it to its last; `None` if it was not delivered,
/// or not watched.
pub(super) fn phases(
    page: &Page,
    recording: &LoadRecording,
    id: ObjectId,
) -> Option<CriticalPhases> {
    let done = recording.milestones[id.index()].done?;
    Walk { page, recording }.phases_since_revealed(id, done).map(|(phases, _)| phases)
}

struct Walk<'a> {
    page: &'a Page,
    recording: &'a LoadRecording,
}

/// The object ahead on the path, if there is one, and why and until when an object waited for it.
struct Cause {
    after: CriticalCause,
    until: Instant,
    ahead: Option<EarlierObject>,
}

/// An object, and the instant at which the next one no longer waited for it.
type EarlierObject = (ObjectId, Instant);

impl Walk<'_> {
    /// The phases of an object up to `end`, and the object that it waited for.
    fn step_back(
        &self,
        id: ObjectId,
        end: Instant,
    ) -> Option<(CriticalObject, Option<EarlierObject>)> {
        let milestones = &self.recording.milestones[id.index()];
        let requested = milestones.requested?;
        let (phases, cause) = match self.held_by(id, milestones) {
            Some((holder, freed)) => {
                let waiting = requested.saturating_since(freed);
                let ahead = Some((holder, freed));
                let cause = Cause { after: CriticalCause::Connection, until: freed, ahead };
                (CriticalPhases { waiting, ..self.phases_since_request(id, end)? }, cause)
            }
            None => self.phases_since_revealed(id, end)?,
        };
        let from = self.recording.since_start(cause.until);
        let connection = milestones.connection?;
        let object = CriticalObject { object: id, connection, after: cause.after, from, phases };
        Some((object, cause.ahead))
    }

    /// The phases of an object since it was revealed.
    fn phases_since_revealed(&self, id: ObjectId, end: Instant) -> Option<(CriticalPhases, Cause)> {
        let milestones = &self.recording.milestones[id.index()];
        let discovered = milestones.discovered?;
        let mut phases = self.phases_since_request(id, end)?;
        match self.held_by(id, milestones) {
            // The handshakes are part of the object that held the connection.
            Some(_) => phases.waiting = milestones.requested?.saturating_since(discovered),
            None => self.open(milestones, &mut phases)?,
        }
        let cause = self.revealed(id, discovered);
        phases.client = discovered.saturating_since(cause.until);
        Some((phases, cause))
    }

    /// The phases of an object from its request on.
    fn phases_since_request(&self, id: ObjectId, end: Instant) -> Option<CriticalPhases> {
        let milestones = &self.recording.milestones[id.index()];
        let first_byte = milestones.first_byte?.min(end);
        let answer = first_byte.saturating_since(milestones.requested?);
        let server = answer.min(self.page.object(id).server_wait);
        Some(CriticalPhases {
            receiving: end.saturating_since(first_byte),
            server,
            trip: answer.saturating_sub(server),
            ..CriticalPhases::default()
        })
    }

    /// The object that had the connection when this one wanted it, and when it was complete.
    fn held_by(&self, id: ObjectId, own: &Milestones) -> Option<EarlierObject> {
        let (discovered, requested) = (own.discovered?, own.requested?);
        let ready = self.connection(own)?.ready?;
        let others = self.page.ids().filter(|other| *other != id);
        let ended = others.filter_map(|other| {
            let milestones = &self.recording.milestones[other.index()];
            let done = milestones.done.filter(|_| milestones.connection == own.connection)?;
            (done > discovered.max(ready) && done <= requested).then_some((other, done))
        });
        ended.max_by_key(|(_, done)| *done)
    }

    fn connection(&self, milestones: &Milestones) -> Option<&ConnectionRecord> {
        let transfer = self.recording.transfers.get(milestones.connection?.index())?;
        Some(&transfer.connection)
    }

    /// Divides the time from discovery to request: waiting, and the opening of the connection.
    fn open(&self, milestones: &Milestones, phases: &mut CriticalPhases) -> Option<()> {
        let (discovered, requested) = (milestones.discovered?, milestones.requested?);
        let connection = self.connection(milestones)?;
        let within = |at: Instant| at.max(discovered).min(requested);
        let opened = within(connection.opened);
        let sought = within(connection.lookup.unwrap_or(connection.opened));
        let connected = within(connection.connected.unwrap_or(opened));
        let ready = within(connection.ready.unwrap_or(connected)).max(connected);
        phases.tcp = connected.saturating_since(opened);
        phases.tls = ready.saturating_since(connected);
        phases.dns = opened.saturating_since(sought);
        let opening = phases.dns + phases.tcp + phases.tls;
        phases.waiting = requested.saturating_since(discovered).saturating_sub(opening);
        Some(())
    }

    /// The object that revealed this one, and when its bytes did.
    fn revealed(&self, id: ObjectId, discovered: Instant) -> Cause {
        match self.page.object(id).discovery {
            Discovery::AtStart => {
                Cause { after: CriticalCause::Start, until: self.recording.start, ahead: None }
            }
            Discovery::InBody { parent, delay, .. } => {
                let work = self.recording.client.work_on(self.page.object(parent).kind) + delay;
                let since = self.recording.since_start(discovered).saturating_sub(work);
                let until = self.recording.start + since;
                let ahead = Some((parent, until));
                Cause { after: CriticalCause::Discovery, until, ahead }
            }
        }
    }
}
