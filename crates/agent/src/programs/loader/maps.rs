//! The maps of loaded programs, as other threads read and write them.

use super::{Loaded, SETTINGS, is_named};
use crate::contract::{ConnectionSummary, PathInquiry, StartDecision};
use crate::programs::load_options::Mode;
use crate::programs::settings::ProgramSettings;
use crate::programs::telemetry::events::{self, EventHandlers, Lost};
use crate::programs::telemetry::gauges::KernelGauges;
use libbpf_rs::{MapCore, MapHandle, MapImpl, RingBuffer};

impl Loaded {
    /// Returns the maps of the settings, which can be changed while the programs run.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn program_settings(&self) -> libbpf_rs::Result<ProgramSettings> {
        Ok(ProgramSettings {
            settings: MapHandle::try_from(&self.map(SETTINGS))?,
            overrides: MapHandle::try_from(&self.map("overrides"))?,
            ports: MapHandle::try_from(&self.map("ports"))?,
            stopped_networks: MapHandle::try_from(&self.map("stopped_networks"))?,
        })
    }

    /// Returns the gauges of programs and maps, for another thread.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn gauges(&self) -> libbpf_rs::Result<KernelGauges> {
        // In other modes sessions share no window, and the programs record no handshake.
        let names: &[&str] =
            if self.mode() == Mode::Wrap { &["accounts", "hosts"] } else { &["accounts"] };
        let handle = |name: &&str| Ok(((*name).to_owned(), MapHandle::try_from(&self.map(name))?));
        let maps = names.iter().map(handle).collect::<libbpf_rs::Result<_>>()?;
        Ok(KernelGauges::new(maps, self.program_files()))
    }

    /// Returns the map of remembered paths by network, also for another thread.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn paths(&self) -> Result<MapHandle, String> {
        self.memory("paths")
    }

    /// Returns the map of remembered lines, for another thread.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn lines(&self) -> Result<MapHandle, String> {
        self.memory("lines")
    }

    fn memory(&self, name: &str) -> Result<MapHandle, String> {
        let copy = MapHandle::try_from(&self.map(name));
        copy.map_err(|error| format!("cannot keep hold of the memory of paths: {error}"))
    }

    /// Returns the counters of TCP options; `None` if the programs write none.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn reported(&self) -> Result<Option<MapHandle>, String> {
        let copy = self.writes_option.then(|| MapHandle::try_from(&self.map("reported")));
        copy.transpose().map_err(|error| format!("cannot keep hold of a map: {error}"))
    }

    /// Returns the counters of handshakes whose timer the programs have shortened.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn timed(&self) -> Result<MapHandle, String> {
        let copy = MapHandle::try_from(&self.map("timed"));
        copy.map_err(|error| format!("cannot keep hold of a map: {error}"))
    }

    /// Counts events that found their ring buffer full.
    pub(crate) fn lost_events(&self, what: Lost) -> u64 {
        events::lost_events(&self.map("lost"), what)
    }

    /// Calls `handlers`, when polled: for each closed connection, for each start if the settings
    /// ask for that, and for each path of which the agent asks a gateway.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn read_events<'a>(
        &self,
        handlers: EventHandlers<
            impl FnMut(ConnectionSummary) + 'a,
            impl FnMut(StartDecision) + 'a,
            impl FnMut(PathInquiry) + 'a,
        >,
    ) -> Result<RingBuffer<'a>, String> {
        events::subscribe(|name| self.map(name), handlers)
    }

    /// Returns a map by its name in the object.
    pub(super) fn map(&self, name: &str) -> MapImpl<'_> {
        let mut maps = self.object.maps();
        maps.find(|map| is_named(map.name(), name)).expect("in the object")
    }
}
