//! The critical path of a race in names and seconds: that of the first load by `linux`.

use super::Race;
use super::contestant::{ClientTurn, Contestant, MeasuredLoad};
use super::critical::{CriticalCause, CriticalObject};
use super::world::World;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use units::Duration;
use workload::RevealEvidence;

/// A critical path, and the load that it is of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticalPath {
    /// The scheme.
    pub scheme: String,
    /// Its world.
    pub on: World,
    /// The objects; each but the first waits for the one before it.
    pub objects: Vec<CriticalWait>,
}

/// An object on the critical path.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalWait {
    /// Its address or label; raw text of the input, not escaped.
    pub label: String,
    /// Its host.
    pub host: String,
    /// Bytes of its response.
    pub bytes: u64,
    /// The time for which its server thinks.
    pub server_wait: Duration,
    /// The part of its trip above the round trip of its host: waits behind other data, and
    /// transmission.
    pub queued: Duration,
    /// Evidence for the object that revealed it; `None` if the page is not recorded, and known.
    pub evidence: Option<RevealEvidence>,
    /// The time that the load would save without the object, by [`workload::Page::without`]; `None`
    /// of the main document, and if that was not simulated.
    pub saved_without: Option<Duration>,
    /// The load's wait for it.
    pub wait: CriticalObject,
}

impl CriticalPath {
    /// The path of a contestant's first load; `None` if the load has none.
    pub(super) fn of(race: &Race, contestant: &Contestant) -> Option<Self> {
        let page = &*race.page;
        let load = contestant.first().and_then(|turn: &ClientTurn| turn.visits.first());
        let path: &[CriticalObject] = load.map_or(&[], |load: &MeasuredLoad| &load.critical);
        let object = |wait: &CriticalObject| {
            let object = page.object(wait.object);
            let rtt = page.host(object.host).rtt.unwrap_or(race.path.rtt());
            let fetch = page.recorded().map(|load| &load.fetches[wait.object.index()]);
            CriticalWait {
                label: object.label.clone(),
                host: page.host(object.host).name.clone(),
                bytes: object.response_bytes(),
                server_wait: object.server_wait,
                queued: wait.phases.trip.saturating_sub(rtt),
                evidence: fetch.map(|fetch| fetch.revealed_by),
                saved_without: None,
                wait: wait.clone(),
            }
        };
        (!path.is_empty()).then(|| Self {
            scheme: contestant.name.clone(),
            on: contestant.world,
            objects: path.iter().map(object).collect(),
        })
    }

    /// The time of the load.
    pub fn total(&self) -> Duration {
        let times = self.objects.iter().map(|object| object.wait.phases.total());
        times.fold(Duration::ZERO, |sum, time| sum + time)
    }
}

impl Serialize for CriticalWait {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wait = &self.wait;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("object", &wait.object.0)?;
        map.serialize_entry("label", &self.label)?;
        map.serialize_entry("host", &self.host)?;
        map.serialize_entry("connection", &wait.connection.0)?;
        map.serialize_entry("bytes", &self.bytes)?;
        map.serialize_entry("server_wait_s", &self.server_wait.as_secs_f64())?;
        map.serialize_entry::<_, CriticalCause>("after", &wait.after)?;
        map.serialize_entry("from_s", &wait.from.as_secs_f64())?;
        for (name, phase) in wait.phases.named() {
            map.serialize_entry(&format!("{name}_s"), &phase.as_secs_f64())?;
        }
        map.serialize_entry("queued_s", &self.queued.as_secs_f64())?;
        map.serialize_entry("revealed_by", &self.evidence.map(RevealEvidence::key))?;
        let saved = self.saved_without.map(Duration::as_secs_f64);
        map.serialize_entry("saved_without_s", &saved)?;
        map.end()
    }
}
