//! The TCP that a sender runs: a scheme of the catalogue under the name that reports use.

use policy::config::ConnectionConfig;
use policy::recovery::rack::RACK_TLP;
use rustc_hash::FxHashMap;
use std::fmt;
use std::net::IpAddr;
use tcp::{Scheme, SchemeError};

/// A kind of sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SenderProfile {
    /// Reno with BSD's timer of 500 ms, one segment timed per round trip (Balakrishnan et al.
    /// 1998).
    Reno,
    /// NewReno with a fine timer (RFC 6582, RFC 6298).
    NewReno,
    /// A Linux 6.x server: CUBIC, RACK-TLP, PRR.
    Linux,
    /// A Linux server before 2013: CUBIC, recovery by SACK (RFC 6675), no tail-loss probes.
    LinuxSack,
    /// A Linux 6.x server with BBR v1.
    Bbr,
}

impl SenderProfile {
    /// All profiles, the likeliest first.
    pub const ALL: [Self; 5] = [Self::Linux, Self::LinuxSack, Self::NewReno, Self::Reno, Self::Bbr];

    /// Returns the profile's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::NewReno => "newreno",
            Self::Linux => "linux",
            Self::LinuxSack => "linux-sack",
            Self::Bbr => "bbr",
        }
    }

    /// Returns the profile of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Returns the scheme that the profile stands for.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Reno => "reno+tick=500ms",
            Self::NewReno => "newreno",
            Self::Linux => "linux",
            Self::LinuxSack => "linux+recovery=sack",
            Self::Bbr => "linux-bbr",
        }
    }
}

impl fmt::Display for SenderProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The model from which senders are rebuilt.
#[derive(Clone, Debug)]
pub struct SenderModel {
    scheme: Scheme,
}

impl SenderModel {
    /// Creates the model of a profile's senders.
    ///
    /// Today's web servers switch Nagle's algorithm off.
    pub fn of(profile: SenderProfile) -> Self {
        let model =
            Self::of_scheme(profile.scheme()).expect("profiles are schemes of the catalogue");
        match profile {
            SenderProfile::Linux | SenderProfile::LinuxSack | SenderProfile::Bbr => {
                model.without_nagle()
            }
            SenderProfile::Reno | SenderProfile::NewReno => model,
        }
    }

    /// Creates the model of the senders of any scheme, as `headstart schemes` lists them.
    ///
    /// # Errors
    /// If there is no such scheme.
    pub fn of_scheme(text: &str) -> Result<Self, SchemeError> {
        Ok(Self { scheme: Scheme::parse(text)? })
    }

    /// Returns the model for servers that switch Nagle's algorithm off (`TCP_NODELAY`).
    #[must_use]
    pub fn without_nagle(self) -> Self {
        Self { scheme: self.scheme.without_nagle() }
    }

    /// Returns the scheme.
    pub const fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Returns the options of its senders.
    pub fn config(&self) -> &ConnectionConfig {
        self.scheme.config()
    }

    /// Returns true if its senders send tail-loss probes.
    pub fn has_probes(&self) -> bool {
        std::ptr::eq(self.scheme.recovery_descriptor(), &RACK_TLP)
    }
}

/// The models of the senders, by host.
#[derive(Clone, Debug)]
pub struct SenderModels {
    usual: SenderModel,
    by_host: FxHashMap<IpAddr, SenderModel>,
}

impl SenderModels {
    /// Uses the same model for all hosts.
    pub fn all(model: SenderModel) -> Self {
        Self { usual: model, by_host: FxHashMap::default() }
    }

    /// Sets the model of one server.
    pub fn set(&mut self, host: IpAddr, model: SenderModel) {
        self.by_host.insert(host, model);
    }

    /// Returns the model for connections of a server.
    pub fn of(&self, server: IpAddr) -> &SenderModel {
        if self.by_host.is_empty() {
            return &self.usual;
        }
        self.by_host.get(&server).unwrap_or(&self.usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_a_scheme_and_has_its_own_name() {
        for profile in SenderProfile::ALL {
            assert_eq!(SenderModel::of(profile).scheme().name(), profile.scheme());
            assert_eq!(SenderProfile::named(profile.name()), Some(profile));
        }
        assert_eq!(SenderProfile::named("tahoe"), None);
    }
}
