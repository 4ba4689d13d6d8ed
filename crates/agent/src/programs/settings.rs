//! The changeable parts of running programs: settings, rules for prefixes, rules for ports. A
//! connection reads them when it opens; open connections keep their values.

use super::load_options::LoadOptions;
use crate::contract::{ConnectionSettings, PrefixKey};
use ipnet::IpNet;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::collections::HashMap;

/// The maps of the changeable parts.
#[derive(Debug)]
pub struct ProgramSettings {
    pub(crate) settings: MapHandle,
    pub(crate) overrides: MapHandle,
    pub(crate) ports: MapHandle,
    pub(crate) stopped_networks: MapHandle,
}

impl ProgramSettings {
    /// Applies `load`. A connection that opens meanwhile may get an old or a new value of each.
    ///
    /// # Errors
    /// If the kernel refuses, for want of memory.
    pub fn apply(&self, load: &LoadOptions) -> libbpf_rs::Result<()> {
        let overrides = load.overrides.iter().map(|said| said.to_bytes());
        let overrides = overrides.map(|(key, value)| (key.to_vec(), value.to_vec()));
        replace(&self.overrides, &overrides.collect())?;
        let ports = load.ports.iter();
        let ports =
            ports.map(|(port, said)| (port.to_bytes().to_vec(), said.to_ne_bytes().to_vec()));
        replace(&self.ports, &ports.collect())?;
        self.set(&load.settings)
    }

    /// Has connections to these networks start cold, and to no others for that reason. It counts
    /// once the settings say that there are some.
    ///
    /// # Errors
    /// If the kernel refuses, for want of memory.
    pub fn stop_networks(&self, networks: impl Iterator<Item = IpNet>) -> libbpf_rs::Result<()> {
        let key = |prefix| PrefixKey { namespace: 0, prefix }.to_bytes().to_vec();
        let keys = networks.map(|network| (key(network), 1_u32.to_ne_bytes().to_vec()));
        replace(&self.stopped_networks, &keys.collect())
    }

    /// Writes the settings alone.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set(&self, settings: &ConnectionSettings) -> libbpf_rs::Result<()> {
        self.settings.update(&0_u32.to_ne_bytes(), &settings.to_bytes(), MapFlags::ANY)
    }
}

fn replace(map: &MapHandle, said: &HashMap<Vec<u8>, Vec<u8>>) -> libbpf_rs::Result<()> {
    let old: Vec<_> = map.keys().filter(|key| !said.contains_key(key)).collect();
    for (key, value) in said {
        map.update(key, value, MapFlags::ANY)?;
    }
    old.iter().try_for_each(|key| map.delete(key))
}
