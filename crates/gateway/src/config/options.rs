//! The keys of `gateway.toml`, a field each. Unknown keys are refused with the line and the nearest
//! name. [`crate::config`] has the defaults.

use crate::os::log::GatewayLogLevel;
use crate::pki::HolderRole;
use ipnet::IpNet;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::net::SocketAddr;
use std::path::PathBuf;
use support::errors::{Fault, FileError};

/// All keys of `gateway.toml`; files are relative to its folder.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct GatewayOptions {
    /// Address for agents, by gRPC and mutual TLS [127.0.0.1:9466].
    pub listen: Option<SocketAddr>,
    /// Address of metrics, health, the JSON API and the dashboard, by plain HTTP [127.0.0.1:9465].
    pub http: Option<SocketAddr>,
    /// Serve HTTP also at an address that other machines can connect to: it names networks and asks
    /// for no password [default: false].
    pub http_for_all: bool,
    /// Certificates of the authority that signs reporters' certificates, PEM [ca.pem].
    pub ca: Option<PathBuf>,
    /// The gateway's own certificate, PEM [server.pem].
    pub certificate: Option<PathBuf>,
    /// The key of `certificate`, PEM [server.key].
    pub key: Option<PathBuf>,
    /// Certificates of the authority by which agents check `certificate`, if it is not `ca`, PEM.
    pub certificate_ca: Option<PathBuf>,
    /// Fingerprints of revoked certificates, one a line; the file is read again when it changes
    /// [revoked.txt].
    pub revoked: Option<PathBuf>,
    /// Seconds for which that list may be unreadable; after that no certificate is accepted until
    /// it can be read [default: 60].
    pub revoked_grace: Option<u32>,
    /// The snapshot of the memory; "none": keep nothing [gateway.redb, or in the service's folder
    /// of state].
    pub state: Option<PathBuf>,
    /// Seconds between two snapshots [default: 30].
    pub save_every: Option<u32>,
    /// Seconds after which a network without reports is forgotten [default: 3600].
    pub retention: Option<u32>,
    /// Maximum number of remembered networks, all tenants together [default: 1000000].
    pub max_networks: Option<usize>,
    /// Longest IPv4 prefix that may be reported: no longer one leaves a host [default: 28].
    pub longest_v4: Option<u8>,
    /// Longest IPv6 prefix that may be reported [default: 64].
    pub longest_v6: Option<u8>,
    /// Accepted ways of collecting: "agent", "application", "option", "passive", "replay" [agent,
    /// application, passive].
    pub collect: Option<Vec<CollectorName>>,
    /// Maximum number of reports in a batch [default: 4096].
    pub max_batch: Option<usize>,
    /// Maximum number of reports of one reporter per second, averaged over ten seconds [default:
    /// 100000].
    pub reports_per_second: Option<u32>,
    /// Maximum number of connections of reporters at a time [default: 4096].
    pub max_connections: Option<usize>,
    /// A Redis or Valkey server that several gateways share: redis://HOST:PORT/DATABASE, or
    /// rediss:// for TLS.
    pub redis: Option<String>,
    /// Some nodes of a cluster of Redis or Valkey servers, in place of `redis`; the client finds
    /// the others.
    pub redis_cluster: Vec<String>,
    /// Certificates of the authority of that server, PEM [those that the system trusts].
    pub redis_ca: Option<PathBuf>,
    /// The gateway's certificate for that server, PEM (default: none).
    pub redis_certificate: Option<PathBuf>,
    /// The key of `redis-certificate`, PEM.
    pub redis_key: Option<PathBuf>,
    /// Verbosity of the log: "notice" or "debug" [default: notice].
    pub log: Option<GatewayLogLevel>,
    /// This table is refused: a separate observer process reads packets.
    #[serde(deserialize_with = "moved_to_observer")]
    pub capture: (),
    /// Forms of URIs that name the holders of certificates [default: those of `headstart gateway
    /// certificate`].
    pub holder: Vec<HolderOptions>,
    /// Tenants, at least one; each shares a memory among its hosts.
    pub tenant: Vec<TenantOptions>,
}

/// A form of URIs that name holders.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HolderOptions {
    /// The URI, with `{name}`, and with `{tenant}` unless `tenant` has it.
    pub uri: String,
    /// Tenant of all these holders, if the URI does not have it.
    pub tenant: Option<String>,
    /// Their role [default: agent].
    #[serde(default, deserialize_with = "role")]
    pub role: Option<HolderRole>,
}

/// A tenant: hosts that share a memory, which no other tenant sees.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TenantOptions {
    /// Name, as in certificates.
    pub name: String,
    /// Networks of which its certificates may report [default: all].
    #[serde(default = "everywhere")]
    pub report: Vec<IpNet>,
    /// Networks for which they may ask [default: all].
    #[serde(default = "everywhere")]
    pub ask: Vec<IpNet>,
    /// Tenants whose estimates of a network answer, as a prior, while this one knows nothing of it
    /// [default: none].
    #[serde(default)]
    pub neighbours: Vec<String>,
    /// Narrower permissions for some of its certificates.
    #[serde(default)]
    pub only: Vec<OnlyOptions>,
}

/// Permissions of one certificate, within those of its tenant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OnlyOptions {
    /// The name in the certificate.
    pub name: String,
    /// Networks of which it may report; empty: none.
    pub report: Vec<IpNet>,
    /// Networks for which it may ask; empty: none.
    pub ask: Vec<IpNet>,
}

/// Returns all networks.
pub(crate) fn everywhere() -> Vec<IpNet> {
    vec![IpNet::V4(ipnet::Ipv4Net::default()), IpNet::V6(ipnet::Ipv6Net::default())]
}

/// Reads a role by its word in certificates.
fn role<'de, D: Deserializer<'de>>(from: D) -> Result<Option<HolderRole>, D::Error> {
    let word = String::deserialize(from)?;
    match HolderRole::ALL.into_iter().find(|role| role.word() == word) {
        Some(role) => Ok(Some(role)),
        None => Err(D::Error::unknown_variant(&word, &["agent", "operator", "observer"])),
    }
}

/// Returns an error that explains the move of `[capture]` to the observer.
fn moved_to_observer<'de, D: Deserializer<'de>>(_: D) -> Result<(), D::Error> {
    let why = "[capture]: the gateway reads no packets, because it holds the site's keys; move these \
        keys to an observe.toml (`headstart gateway init DIR --observe INTERFACE` writes one) and run \
        `headstart gateway observe --config observe.toml`";
    Err(D::Error::custom(why))
}

/// A way of collecting, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectorName {
    /// Summaries of agents.
    Agent,
    /// Applications that read `TCP_INFO`.
    Application,
    /// A TCP option read off the wire.
    Option,
    /// Packets that an observer sees.
    Passive,
    /// Logs and tables of earlier days.
    Replay,
}

impl CollectorName {
    /// All ways of collecting.
    pub const ALL: [Self; 5] =
        [Self::Agent, Self::Application, Self::Option, Self::Passive, Self::Replay];

    /// Returns the word for the configuration and for metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Application => "application",
            Self::Option => "option",
            Self::Passive => "passive",
            Self::Replay => "replay",
        }
    }
}

impl GatewayOptions {
    /// Parses the text of `file`.
    ///
    /// # Errors
    /// With the line and the key that was probably meant.
    pub fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        toml::from_str(text).map_err(|error| Fault::from(error).of_file(file, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_nearest_name() {
        let refused = |text| GatewayOptions::parse(text, "gateway.toml").unwrap_err().to_string();
        let why = refused("listen = \"127.0.0.1:1\"\nretenton = 5\n");
        assert!(
            why.starts_with(
                "gateway.toml:2: unknown key \"retenton\" (did you mean \"retention\"?)"
            ),
            "{why}"
        );
        let why = refused("[[tenant]]\nname = \"a\"\nreports = []\n");
        assert!(
            why.starts_with("gateway.toml:3: unknown key \"reports\" (did you mean \"report\""),
            "{why}"
        );
        let why = refused("retention = 5\n\n[capture]\ninterfaces = [\"eth0\"]\n");
        assert!(
            why.starts_with("gateway.toml:3: [capture]: the gateway reads no packets"),
            "{why}"
        );
        assert!(why.contains("observe.toml") && why.contains("headstart gateway observe"), "{why}");
        let why = refused("collect = [\"agents\"]");
        assert!(why.contains("did you mean \"agent\"?"), "{why}");
    }

    #[test]
    fn a_tenant_may_everything_unless_said_otherwise() {
        let options = GatewayOptions::parse("[[tenant]]\nname = \"a\"", "f").unwrap();
        assert_eq!(options.tenant[0].report, everywhere());
    }
}
