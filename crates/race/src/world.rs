//! Worlds in which a page is loaded: simulated, or over real hosts and an emulated link. The race
//! is one in all of them; this crate runs the simulated one, and crates with real hosts add theirs.

use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// World in which a page is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum World {
    /// In the simulator, in virtual time.
    Sim,
    /// By our endpoint to a Linux client, over an emulated link.
    Wire,
    /// By Linux to a Linux client, over an emulated link.
    Kernel,
}

impl World {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sim, Self::Wire, Self::Kernel];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Wire => "wire",
            Self::Kernel => "kernel",
        }
    }

    /// True if it takes real time, privileges and TUN devices.
    pub const fn is_real(self) -> bool {
        !matches!(self, Self::Sim)
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for World {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|world| world.name() == name);
        known.ok_or_else(|| format!("{name:?} is no world: use sim, wire or kernel"))
    }
}

impl Serialize for World {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
