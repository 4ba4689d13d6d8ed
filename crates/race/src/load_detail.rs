//! The objects and connections of one load, with their times.

use super::critical::{CriticalPhases, phases};
use super::record::LoadRecording;
use link::path::PathSpec;
use serde::ser::{Serialize, SerializeMap, Serializer};
use units::{Duration, Instant};
use workload::{ConnectionRecord, Discovery, LoadConnId, Milestones, Object, ObjectId, Page};

/// The objects and connections of one load. Durations count from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadDetail {
    /// The objects, by [`ObjectId`].
    pub objects: Vec<LoadedObject>,
    /// The connections, by [`LoadConnId`].
    pub connections: Vec<LoadedConnection>,
}

/// The times of an object; `None` for events that did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedObject {
    /// The connection that carried it.
    pub connection: Option<LoadConnId>,
    /// The browser knew that it needs the object.
    pub discovered: Option<Duration>,
    /// Its request was written.
    pub requested: Option<Duration>,
    /// Its first byte was at the client.
    pub first_byte: Option<Duration>,
    /// Its last byte was at the client.
    pub done: Option<Duration>,
    /// Its phases, from the byte that revealed it to its last byte; `None` if it did not come.
    pub phases: Option<CriticalPhases>,
}

/// The times of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedConnection {
    /// Name of its host.
    pub host: String,
    /// The browser began to look up its host's name; `None` if it waited for no lookup.
    pub lookup: Option<Duration>,
    /// The browser wanted it; `None` if it was open before the load.
    pub opened: Option<Duration>,
    /// TCP was established; `None` if it was before the load, or never.
    pub connected: Option<Duration>,
    /// Requests could be sent; `None` if they could before the load, or never.
    pub ready: Option<Duration>,
}

impl LoadDetail {
    /// The detail of a load that has ended.
    pub(super) fn of(page: &Page, recording: &LoadRecording) -> Self {
        let object = |(id, milestones): (ObjectId, &Milestones)| {
            let since = |at: Option<Instant>| at.map(|at| recording.since_start(at));
            LoadedObject {
                connection: milestones.connection,
                discovered: since(milestones.discovered),
                requested: since(milestones.requested),
                first_byte: since(milestones.first_byte),
                done: since(milestones.done),
                phases: phases(page, recording, id),
            }
        };
        let connection = |record: &ConnectionRecord| {
            let within = |at: Option<Instant>| {
                at.filter(|at| *at >= recording.start).map(|at| recording.since_start(at))
            };
            LoadedConnection {
                host: page.host(record.host).name.clone(),
                lookup: within(record.lookup),
                opened: within(Some(record.opened)),
                connected: within(record.connected),
                ready: within(record.ready),
            }
        };
        let connections = recording.transfers.iter().map(|transfer| &transfer.connection);
        Self {
            objects: page.ids().zip(&recording.milestones).map(object).collect(),
            connections: connections.map(connection).collect(),
        }
    }
}

impl Serialize for LoadDetail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("connections", &self.connections)?;
        map.serialize_entry("objects", &self.objects)?;
        map.end()
    }
}

impl Serialize for LoadedObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("connection", &self.connection.map(|conn| conn.0))?;
        let times = [
            ("discovered_s", self.discovered),
            ("requested_s", self.requested),
            ("first_byte_s", self.first_byte),
            ("done_s", self.done),
        ];
        for (key, time) in times {
            map.serialize_entry(key, &time.map(Duration::as_secs_f64))?;
        }
        let names = CriticalPhases::default().named().map(|(name, _)| name);
        let phases = self.phases.map(|phases| phases.named().map(|(_, phase)| phase));
        for (n, name) in names.into_iter().enumerate() {
            let seconds = phases.map(|phases| phases[n].as_secs_f64());
            map.serialize_entry(&format!("{name}_s"), &seconds)?;
        }
        map.end()
    }
}

impl Serialize for LoadedConnection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("host", &self.host)?;
        let times = [
            ("lookup_s", self.lookup),
            ("opened_s", self.opened),
            ("connected_s", self.connected),
            ("ready_s", self.ready),
        ];
        for (key, time) in times {
            map.serialize_entry(key, &time.map(Duration::as_secs_f64))?;
        }
        map.end()
    }
}

/// The hosts of a page, in the order of [`workload::HostId`].
pub(super) struct HostsJson<'a> {
    pub(super) page: &'a Page,
    pub(super) path: &'a PathSpec,
}

impl Serialize for HostsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hosts = self.page.hosts().iter();
        serializer.collect_seq(hosts.map(|host| HostJson {
            name: &host.name,
            rtt_s: host.rtt.unwrap_or(self.path.rtt()).as_secs_f64(),
            lookup_s: host.lookup.map(Duration::as_secs_f64),
        }))
    }
}

#[derive(serde::Serialize)]
struct HostJson<'a> {
    name: &'a str,
    rtt_s: f64,
    lookup_s: Option<f64>,
}

/// The objects of a page, in the order of [`ObjectId`], with their parents.
pub(super) struct ObjectsJson<'a>(pub(super) &'a Page);

impl Serialize for ObjectsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let objects = self.0.objects().iter();
        serializer.collect_seq(objects.map(|object| ObjectJson { object, page: self.0 }))
    }
}

struct ObjectJson<'a> {
    object: &'a Object,
    page: &'a Page,
}

impl Serialize for ObjectJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { object, page } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("label", &object.label)?;
        map.serialize_entry("host", &page.host(object.host).name)?;
        map.serialize_entry("kind", object.kind.name())?;
        let revealed = match object.discovery {
            Discovery::AtStart => None,
            Discovery::InBody { parent, offset, delay } => Some((parent.0, offset, delay)),
        };
        map.serialize_entry("parent", &revealed.map(|(parent, _, _)| parent))?;
        map.serialize_entry("offset", &revealed.map(|(_, offset, _)| offset))?;
        map.serialize_entry("delay_s", &revealed.map(|(_, _, delay)| delay.as_secs_f64()))?;
        map.serialize_entry("request_bytes", &object.request_bytes)?;
        map.serialize_entry("response_header_bytes", &object.response_header_bytes)?;
        map.serialize_entry("body_bytes", &object.body_bytes)?;
        map.serialize_entry("server_wait_s", &object.server_wait.as_secs_f64())?;
        map.end()
    }
}
