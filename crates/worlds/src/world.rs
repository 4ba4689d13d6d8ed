//! Where a page is loaded.

use crate::contender::Contender;
use crate::kernel::{Control, Stock};
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

    /// What it takes there in real time; `None` if it is simulated, or cannot be run.
    pub(crate) fn real(self, contender: &Contender) -> Option<Real<'_>> {
        match (self, contender) {
            (Self::Sim, _) | (Self::Wire, Contender::Agent(_)) => None,
            (Self::Wire, Contender::Core(scheme)) => Some(Real::Wire(scheme)),
            (Self::Kernel, Contender::Core(scheme)) => {
                Stock::modelled_by(scheme).map(|stock| Real::Kernel(Control::Stock(stock)))
            }
            (Self::Kernel, Contender::Agent(scheme)) => {
                Some(Real::Kernel(Control::Attended(scheme)))
            }
        }
    }

    /// True if it takes real time, privileges and TUN devices.
    pub const fn is_real(self) -> bool {
        !matches!(self, Self::Sim)
    }
}

/// What serves a page in real time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Real<'a> {
    /// Our endpoint, under this scheme.
    Wire(&'a Scheme),
    /// Linux.
    Kernel(Control<'a>),
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
