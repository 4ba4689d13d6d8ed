//! A row: a path, connections over it, and the causes that are known by construction.

use super::script::{ConnectionScript, ScriptStep, seconds};
use super::secured::TlsSetup;
use super::sockets::TruthSocket;
use link::path::PathSpec;
use link::{Duplex, LinkConfig, LinkError, Reordering};
use serde::{Serialize, Serializer};
use std::fmt;
use trace::TimeShare;
use units::Duration;

/// The effect of the way back on ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckWay {
    /// The path does not change ACKs.
    #[default]
    Plain,
    /// Each takes longer by a random time up to this, and may overtake others.
    Jitter(#[serde(serialize_with = "seconds")] Duration),
    /// They arrive in bursts, one in each interval.
    Aggregate(#[serde(serialize_with = "seconds")] Duration),
}

/// A path, and the treatment of ACKs on its way back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruthPath {
    /// Rates, round trip, queues and random loss.
    pub spec: PathSpec,
    /// The effect of the way back on ACKs.
    pub acks: AckWay,
}

impl TruthPath {
    /// Both links.
    ///
    /// # Errors
    /// If they cannot be.
    pub(super) fn links(&self) -> Result<Duplex<LinkConfig>, LinkError> {
        let Duplex { forward, reverse } = self.spec.links();
        let reverse = match self.acks {
            AckWay::Plain => reverse,
            AckWay::Jitter(most) => reverse.with_reordering(Reordering::Jitter(most))?,
            AckWay::Aggregate(interval) => reverse.with_aggregation(interval),
        };
        Ok(Duplex { forward, reverse })
    }
}

impl fmt::Display for TruthPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.spec)?;
        match self.acks {
            AckWay::Plain => Ok(()),
            AckWay::Jitter(most) => write!(f, ", ACKs jitter={most}"),
            AckWay::Aggregate(interval) => write!(f, ", ACKs aggregate={interval}"),
        }
    }
}

impl Serialize for TruthPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A condition on the kernel's counters, which a row meets if its conditions were as planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelEvidence {
    /// No segment was retransmitted, at either end.
    NoRetransmission,
    /// A segment was retransmitted.
    Retransmission,
    /// At least half of the time was limited by the receiver's window.
    ReceiverWindow,
    /// At least half of the time was limited by the send buffer.
    SendBuffer,
    /// Neither window nor buffer limited more than a tenth of the time.
    NoLimit,
}

/// One row of the test bed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TruthRow {
    /// The name, in a few words.
    pub name: String,
    /// The path.
    pub path: TruthPath,
    /// The connections, which may overlap.
    pub connections: Vec<ConnectionScript>,
    /// TLS of each connection.
    pub tls: Option<TlsSetup>,
    /// Sysctls of the server's namespace.
    pub server_sysctls: Vec<NamespaceSysctl>,
    /// The first cause; any of these where construction does not decide between them.
    #[serde(serialize_with = "super::cause::serialize_causes")]
    pub first: Vec<TimeShare>,
    /// Causes whose shares are known.
    #[serde(serialize_with = "super::cause::serialize_causes")]
    pub claims: Vec<TimeShare>,
    /// Conditions on the kernel's counters.
    pub evidence: Vec<KernelEvidence>,
    /// True in the quick subset.
    pub quick: bool,
}

/// A kernel parameter and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NamespaceSysctl {
    /// Its name with points.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
}

impl TruthRow {
    /// A row without connections over this path.
    ///
    /// # Panics
    /// If the path cannot be read: rows are written in this crate alone.
    pub(super) fn over(path: &str, name: impl Into<String>) -> Self {
        let spec = path.parse().expect("rows have paths that can be");
        Self {
            name: name.into(),
            path: TruthPath { spec, acks: AckWay::Plain },
            connections: Vec::new(),
            tls: None,
            server_sysctls: Vec::new(),
            first: Vec::new(),
            claims: Vec::new(),
            evidence: Vec::new(),
            quick: false,
        }
    }

    /// Adds a connection.
    pub(super) fn with(mut self, connection: ConnectionScript) -> Self {
        self.connections.push(connection);
        self
    }

    /// Adds a connection with a request and a response of `bytes`.
    pub(super) fn fetching(self, bytes: u64) -> Self {
        self.with(ConnectionScript::fetch(bytes))
    }

    /// Sets the options of all servers' sockets.
    pub(super) fn server_socket(mut self, socket: TruthSocket) -> Self {
        self.connections.iter_mut().for_each(|connection| connection.server.socket = socket);
        self
    }

    /// Sets the options of all clients' sockets.
    pub(super) fn client_socket(mut self, socket: TruthSocket) -> Self {
        self.connections.iter_mut().for_each(|connection| connection.client.socket = socket);
        self
    }

    /// Sets the steps of all clients.
    pub(super) fn client_does(mut self, steps: impl Into<Vec<ScriptStep>>) -> Self {
        let steps = steps.into();
        for connection in &mut self.connections {
            connection.client.steps.clone_from(&steps);
        }
        self
    }

    /// Sets the effect of the way back on ACKs.
    pub(super) fn acks(mut self, acks: AckWay) -> Self {
        self.path.acks = acks;
        self
    }

    /// Sets the TLS of all connections.
    pub(super) fn tls(self, tls: TlsSetup) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// Sets a sysctl of the server's namespace.
    pub(super) fn server_sysctl(mut self, name: &'static str, value: &'static str) -> Self {
        self.server_sysctls.push(NamespaceSysctl { name, value });
        self
    }

    /// Sets the first cause, or causes.
    pub(super) fn with_first_cause(mut self, first: impl Into<Vec<TimeShare>>) -> Self {
        self.first = first.into();
        self
    }

    /// Sets the causes whose shares are known.
    pub(super) fn with_claims(mut self, claims: impl Into<Vec<TimeShare>>) -> Self {
        self.claims = claims.into();
        self
    }

    /// Sets the conditions on the kernel's counters.
    pub(super) fn proved_by(mut self, evidence: impl Into<Vec<KernelEvidence>>) -> Self {
        self.evidence = evidence.into();
        self
    }

    /// Puts it into the quick subset.
    pub(super) fn in_quick_set(self) -> Self {
        Self { quick: true, ..self }
    }

    /// The congestion controls that its ends need.
    pub(super) fn needed_controls(&self) -> impl Iterator<Item = &'static str> {
        let ends = self.connections.iter().flat_map(|c| [&c.client, &c.server]);
        ends.filter_map(|end| end.socket.control)
    }

    /// Its name as that of a folder.
    pub fn folder(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.name.chars().map(plain).collect();
        name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn acks_are_disturbed_on_the_way_back_alone() {
        let links = |acks| TruthRow::over("20mbit,40ms,60p", "a row").acks(acks).path.links();
        let jitter = links(AckWay::Jitter(MS)).expect("links");
        assert_eq!(jitter.reverse.reordering(), Some(Reordering::Jitter(MS)));
        let bursts = links(AckWay::Aggregate(MS)).expect("links");
        assert_eq!(bursts.reverse.aggregation(), Some(MS));
        for links in [jitter, bursts] {
            let forward = links.forward;
            assert_eq!((forward.reordering(), forward.aggregation()), (None, None));
        }
    }

    #[test]
    fn a_folder_has_letters_digits_and_hyphens() {
        let row = TruthRow::over("20mbit,40ms,60p", "slow start 300 kB, 200 Mbit/s");
        assert_eq!(row.folder(), "slow-start-300-kb-200-mbit-s");
    }
}
