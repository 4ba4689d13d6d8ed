//! Where a page is loaded.

use crate::kernel::congestion_control;
use std::fmt;
use std::str::FromStr;
use tcp::Scheme;

/// Where a page is loaded.
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

    /// True if servers can run `scheme` there.
    pub fn has(self, scheme: &Scheme) -> bool {
        !self.is_real() || self.real(scheme).is_some()
    }

    /// What it takes there in real time; `None` if it is simulated, or cannot be run.
    pub(crate) fn real(self, scheme: &Scheme) -> Option<Real> {
        match self {
            Self::Sim => None,
            Self::Wire => Some(Real::Wire),
            Self::Kernel => congestion_control(scheme.name()).map(Real::Kernel),
        }
    }

    /// True if it takes real time, privileges and TUN devices.
    pub const fn is_real(self) -> bool {
        !matches!(self, Self::Sim)
    }
}

/// What serves a page in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Real {
    /// Our endpoint.
    Wire,
    /// Linux, with this congestion control.
    Kernel(&'static str),
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
