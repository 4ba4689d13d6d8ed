//! The congestion controls of ours, upon which of the kernel's each is built, and which of them a connection
//! gets.

use libbpf_rs::btf::{Btf, types};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::Path;

const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

/// One of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The kernel's CUBIC with a warm start.
    Cubic,
    /// The kernel's BBR with a warm start.
    Bbr,
    /// One window for all connections to a host, with a warm start.
    Session,
}

/// What attended connections get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// `hs_cubic` in place of CUBIC, `hs_bbr` in place of BBR; others stay
    #[default]
    Auto,
    /// `hs_cubic`, whatever the host's default
    Cubic,
    /// `hs_bbr`, whatever the host's default
    Bbr,
    /// `hs_session`: one window, as of one CUBIC, for all connections to a host
    Session,
}

impl Scheme {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Cubic, Self::Bbr, Self::Session];

    /// Its name in the kernel, where routes (`congctl`) and sockets may ask for it; its map in the object has the
    /// same, and its programs' names begin with it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "hs_cubic",
            Self::Bbr => "hs_bbr",
            Self::Session => "hs_session",
        }
    }

    /// All that it has in the kernel: another one may be for its start alone.
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Cubic => &["hs_cubic", "hs_cubic_start"],
            Self::Bbr => &["hs_bbr"],
            Self::Session => &["hs_session"],
        }
    }

    /// A function of the kernel's that it cannot be without, and the module which that may be in.
    const fn needs(self) -> (&'static str, &'static str) {
        match self {
            Self::Cubic => ("cubictcp_cong_avoid", "tcp_cubic"),
            Self::Bbr => ("bbr_main", "tcp_bbr"),
            // Part of TCP itself.
            Self::Session => ("tcp_cong_avoid_ai", "vmlinux"),
        }
    }

    /// Where the kernel has what it is built upon; the error says what to do about it.
    ///
    /// # Errors
    /// If it is a module that is not loaded, or not there.
    pub fn found(self) -> Result<String, String> {
        let (function, module) = self.needs();
        let btf = Btf::from_path(VMLINUX).ok();
        if btf.and_then(|btf| btf.type_by_name::<types::Func<'_>>(function).map(|_| ())).is_some() {
            return Ok("built in".to_owned());
        }
        if Path::new("/sys/kernel/btf").join(module).exists() {
            return Ok(format!("in module {module}"));
        }
        Err(format!(
            "{function} cannot be called: it is in a module that is not loaded (modprobe {module}), or not there"
        ))
    }
}

impl Choice {
    /// As the programs have it.
    pub(crate) const fn to_u32(self) -> u32 {
        match self {
            Self::Auto => 0,
            Self::Cubic => 1,
            Self::Bbr => 2,
            Self::Session => 3,
        }
    }

    /// The one that has to be there for it.
    pub const fn needs(self) -> Scheme {
        match self {
            // Not asked for by name: whoever has BBR keeps BBR where ours is not.
            Self::Auto | Self::Cubic => Scheme::Cubic,
            Self::Bbr => Scheme::Bbr,
            Self::Session => Scheme::Session,
        }
    }
}

impl Display for Choice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Session => "session",
        })
    }
}
