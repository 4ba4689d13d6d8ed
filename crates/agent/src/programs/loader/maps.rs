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

    /// Returns the run times of the programs and the fill of two maps, for another thread. The maps
    /// are `accounts`, and `hosts` in [`Mode::Wrap`].
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

    /// Returns a handle of the map of remembered paths, by network. Any thread may use it.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn paths(&self) -> Result<MapHandle, String> {
        self.memory_map("paths")
    }

    /// Returns a handle of the map of remembered lines. A line is one subscriber's access: an IPv4
    /// address, or an IPv6 network of 64 bits. Any thread may use the handle.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn lines(&self) -> Result<MapHandle, String> {
        self.memory_map("lines")
    }

    /// Returns a handle of the map `name`, which is a part of the memory of paths.
    fn memory_map(&self, name: &str) -> Result<MapHandle, String> {
        let copy = MapHandle::try_from(&self.map(name));
        copy.map_err(|error| format!("cannot keep hold of the memory of paths: {error}"))
    }

    /// Returns the counters of the TCP option in FINs, one for each fate (`enum reported` in
    /// `report.h`). Returns `None` if the programs were loaded without that option.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn option_counters(&self) -> Result<Option<MapHandle>, String> {
        let copy = self.writes_option.then(|| MapHandle::try_from(&self.map("reported")));
        copy.transpose().map_err(|error| format!("cannot keep hold of a map: {error}"))
    }

    /// Returns the numbers of handshakes whose timer the programs have shortened, one for each
    /// source of the expected time (`enum timed` in `timers.h`).
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub(crate) fn shortened_timers(&self) -> Result<MapHandle, String> {
        let copy = MapHandle::try_from(&self.map("timed"));
        copy.map_err(|error| format!("cannot keep hold of a map: {error}"))
    }

    /// Returns how many events of the kind `what` have found their ring buffer full so far. Returns
    /// 0 if the counter cannot be read.
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
    ///
    /// # Panics
    /// If the object has no map of this name.
    pub(super) fn map(&self, name: &str) -> MapImpl<'_> {
        let mut maps = self.object.maps();
        maps.find(|map| is_named(map.name(), name)).expect("in the object")
    }
}
