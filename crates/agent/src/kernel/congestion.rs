//! Our congestion controls: the kernel's one on which each is built, and the choice for a
//! connection.

use super::assumptions::Part;
use super::facts::{BBR_MODULE, CUBIC_MODULE, Facts, Types};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A congestion control of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HsControl {
    /// The kernel's CUBIC with a warm start.
    Cubic,
    /// The kernel's BBR with a warm start.
    Bbr,
    /// One window for all connections to a host, with a warm start.
    Session,
}

/// Congestion control that hooked connections get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ControlChoice {
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

impl HsControl {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Cubic, Self::Bbr, Self::Session];

    /// Returns its name in the kernel, where routes (`congctl`) and sockets may ask for it; its map
    /// in the object has the same, and its programs' names begin with it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "hs_cubic",
            Self::Bbr => "hs_bbr",
            Self::Session => "hs_session",
        }
    }

    /// Returns the names of all that it has in the kernel: another one may be for its start alone.
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Cubic => &["hs_cubic", "hs_cubic_start"],
            Self::Bbr => &["hs_bbr"],
            Self::Session => &["hs_session"],
        }
    }

    /// Returns the congestion control of a program, by the program's name.
    pub(crate) fn of_program(program: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| program.starts_with(scheme.name()))
    }

    /// Returns the part of the agent that it is.
    const fn part(self) -> Part {
        match self {
            Self::Cubic => Part::Cubic,
            Self::Bbr => Part::Bbr,
            Self::Session => Part::Session,
        }
    }

    /// Returns a function of the kernel's whose existence shows the basis.
    const fn shown_by(self) -> &'static str {
        match self {
            Self::Cubic => "cubictcp_init",
            Self::Bbr => "bbr_init",
            Self::Session => "tcp_reno_ssthresh",
        }
    }

    /// Returns the module which that may be in; `None`: it is a part of TCP itself.
    const fn module(self) -> Option<&'static str> {
        match self {
            Self::Cubic => Some(CUBIC_MODULE),
            Self::Bbr => Some(BBR_MODULE),
            Self::Session => None,
        }
    }

    /// Looks for the basis in the running kernel; returns where it is: built in, or a module.
    ///
    /// # Errors
    /// Fails as [`Self::found_in`] does.
    pub fn found(self) -> Result<String, Absence> {
        self.found_in(&Facts::running())
    }

    /// Looks for the basis in a kernel; returns where it is: built in, or a module.
    ///
    /// # Errors
    /// If it cannot be built on that kernel's; the error has the reason.
    pub fn found_in(self, facts: &Facts) -> Result<String, Absence> {
        let types = facts.types.as_ref().map_err(|why| Absence::Differs(why.clone()))?;
        let function = self.shown_by();
        match self.module() {
            Some(module)
                if !types.all.has_function(function) && !types.modules.contains(&module) =>
            {
                return Err(Absence::NotLoaded { module });
            }
            _ => {}
        }
        if let Some(module) = self.module().filter(|module| types.apart.contains(module)) {
            return Err(Absence::Differs(format!(
                "{} has module {module} with types (BTF) of sockets of its own, so that programs cannot call it",
                facts.kernel()
            )));
        }
        if self == Self::Bbr && types.has_newer_bbr() {
            return Err(Absence::Differs(format!(
                "{} has BBR in version 2 or 3, whose state hs_bbr does not know",
                facts.kernel()
            )));
        }
        self.complete_in(facts, types)?;
        let in_module = self.module().filter(|_| !types.built_in.has_function(function));
        if let Some(module) = in_module.filter(|_| !facts.shows_modules) {
            return Err(Absence::Hidden { module });
        }
        Ok(match in_module {
            None => "built in".to_owned(),
            Some(module) => format!("in module {module}"),
        })
    }

    /// Checks that the types have all that this part of the agent needs.
    fn complete_in(self, facts: &Facts, types: &Types) -> Result<(), Absence> {
        let missing = types.missing_needs(self.part());
        match missing.as_slice() {
            [] => Ok(()),
            names => {
                let kernel = facts.kernel();
                Err(Absence::Differs(format!("{kernel} has no {}", names.join(", no "))))
            }
        }
    }
}

/// Reason why one of ours is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absence {
    /// Its basis is in a module that is not loaded, or nowhere.
    NotLoaded {
        /// The module of the basis.
        module: &'static str,
    },
    /// It is in a module whose types the kernel does not show to this process.
    Hidden {
        /// The module.
        module: &'static str,
    },
    /// Its basis differs from what the agent knows. The text names the difference.
    Differs(String),
}

impl Display for Absence {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded { module } => {
                write!(f, "it is in a module that is not loaded (modprobe {module}), or not there")
            }
            Self::Hidden { module } => write!(
                f,
                "it is in module {module}, whose types (BTF) the kernel shows only to CAP_SYS_ADMIN; add that to \
                 CapabilityBoundingSet= of the unit, or use a kernel that has it built in"
            ),
            Self::Differs(how) => f.write_str(how),
        }
    }
}

impl ControlChoice {
    /// Returns its number in the programs.
    pub(crate) const fn to_u32(self) -> u32 {
        match self {
            Self::Auto => 0,
            Self::Cubic => 1,
            Self::Bbr => 2,
            Self::Session => 3,
        }
    }

    /// Returns the congestion control that has to be available for it.
    pub const fn required_control(self) -> HsControl {
        match self {
            // BBR is not needed here: connections with BBR keep it where ours is not available.
            Self::Auto | Self::Cubic => HsControl::Cubic,
            Self::Bbr => HsControl::Bbr,
            Self::Session => HsControl::Session,
        }
    }
}

impl Display for ControlChoice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Session => "session",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::listing::Listing;

    fn facts(all: Listing, modules: &[&'static str]) -> Facts {
        let built_in = all.clone();
        let types = Types { all, built_in, modules: modules.to_vec(), apart: Vec::new() };
        let (release, lockdown) = ("9.9".to_owned(), "none".to_owned());
        Facts { release, lockdown, shows_modules: true, types: Ok(types) }
    }

    #[test]
    fn each_is_there_where_all_is_that_it_calls() {
        let all = facts(Listing::complete(), &[]);
        for scheme in HsControl::ALL {
            assert_eq!(scheme.found_in(&all).as_deref(), Ok("built in"), "{}", scheme.name());
        }
    }

    #[test]
    fn a_function_under_another_name_takes_one_along_and_leaves_the_others() {
        let mut renamed = Listing::complete();
        renamed.rename_function("cubictcp_acked", "cubictcp_pkts_acked");
        let renamed = facts(renamed, &[]);
        let why = HsControl::Cubic.found_in(&renamed).unwrap_err().to_string();
        assert_eq!(why, "this kernel (9.9) has no function cubictcp_acked");
        assert!(HsControl::Bbr.found_in(&renamed).is_ok());
        assert!(HsControl::Session.found_in(&renamed).is_ok());
    }

    #[test]
    fn a_module_that_is_not_loaded_is_named() {
        let mut without = Listing::complete();
        without.rename_function("bbr_init", "nothing");
        let absence = HsControl::Bbr.found_in(&facts(without.clone(), &[])).unwrap_err();
        assert_eq!(absence, Absence::NotLoaded { module: BBR_MODULE });
        // Loaded, and without the function: it is no more a matter of loading it.
        let absence = HsControl::Bbr.found_in(&facts(without, &[BBR_MODULE])).unwrap_err();
        assert_eq!(absence.to_string(), "this kernel (9.9) has no function bbr_init");
    }

    /// The shipped unit has three capabilities, and `CAP_SYS_ADMIN` is none of them.
    #[test]
    fn a_module_needs_a_right_that_the_unit_does_not_have() {
        let mut in_modules = facts(Listing::complete(), &[CUBIC_MODULE, BBR_MODULE]);
        let types = in_modules.types.as_mut().unwrap();
        types.built_in.rename_function("bbr_init", "nothing");
        types.built_in.rename_function("cubictcp_init", "nothing");
        for (scheme, module) in [(HsControl::Cubic, CUBIC_MODULE), (HsControl::Bbr, BBR_MODULE)] {
            in_modules.shows_modules = true;
            assert_eq!(scheme.found_in(&in_modules), Ok(format!("in module {module}")));
            in_modules.shows_modules = false;
            let absence = scheme.found_in(&in_modules).unwrap_err();
            assert_eq!(absence, Absence::Hidden { module });
            let why = absence.to_string();
            assert!(
                why.contains("CAP_SYS_ADMIN") && why.contains("CapabilityBoundingSet"),
                "{why}"
            );
        }
        // A part of the kernel itself needs no such right.
        let mut built_in = facts(Listing::complete(), &[]);
        built_in.shows_modules = false;
        assert_eq!(HsControl::Bbr.found_in(&built_in).as_deref(), Ok("built in"));
    }

    /// As in Debian's Linux 6.18.15 and 7.2.12: the verifier takes a socket for another type than
    /// the module's.
    #[test]
    fn a_module_with_types_apart_cannot_be_called() {
        let mut apart = facts(Listing::complete(), &[BBR_MODULE]);
        apart.types.as_mut().unwrap().apart.push(BBR_MODULE);
        let why = HsControl::Bbr.found_in(&apart).unwrap_err().to_string();
        assert!(why.starts_with("this kernel (9.9) has module tcp_bbr with types (BTF)"), "{why}");
        assert!(HsControl::Cubic.found_in(&apart).is_ok());
    }

    /// Members of `struct bbr` in BBRv3 (google/bbr, branch v3, net/ipv4/tcp_bbr.c).
    #[test]
    fn a_newer_bbr_is_left_alone() {
        let mut newer = Listing::complete();
        newer.insert(crate::kernel::assumptions::Sort::Member("bbr"), "inflight_hi");
        let why = HsControl::Bbr.found_in(&facts(newer, &[])).unwrap_err().to_string();
        assert!(why.starts_with("this kernel (9.9) has BBR in version 2 or 3"), "{why}");
    }
}
