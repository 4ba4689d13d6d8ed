//! The critical path of a race in names and seconds: that of the first load by `linux`.

use super::contestant::{ClientTurn, Contestant, MeasuredLoad};
use super::critical::{CriticalCause, CriticalObject};
use super::world::World;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use units::Duration;
use workload::Page;

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
    /// The load's wait for it.
    pub wait: CriticalObject,
}

impl CriticalPath {
    /// The path of a contestant's first load; `None` if the load has none.
    pub(super) fn of(page: &Page, contestant: &Contestant) -> Option<Self> {
        let load = contestant.first().and_then(|turn: &ClientTurn| turn.visits.first());
        let path: &[CriticalObject] = load.map_or(&[], |load: &MeasuredLoad| &load.critical);
        let object = |wait: &CriticalObject| {
            let object = page.object(wait.object);
            CriticalWait {
                label: object.label.clone(),
                host: page.host(object.host).name.clone(),
                bytes: object.response_bytes(),
                server_wait: object.server_wait,
                wait: wait.clone(),
            }
        };
        (!path.is_empty()).then(|| Self {
            scheme: contestant.name.clone(),
            on: contestant.world,
            objects: path.iter().map(object).collect(),
        })
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
        map.end()
    }
}
