//! The configuration of a client: its gateways, and its own certificate.

use crate::discovery::{NameService, SystemNames, host_and_port, is_service};
use gateway_proto::v1::Collector;
use serde::Deserialize;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::errors::Fault;

/// The configuration of a client. Files are read every three seconds. If one was renewed, a new
/// connection replaces the old one.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Gateways, the preferred one first: `HOST:PORT`, or a service of DNS
    /// (`_headstart._tcp.DOMAIN`). The others are asked if it does not answer.
    pub gateways: Vec<String>,
    /// The authority that signs the gateways' certificates, PEM.
    pub ca: PathBuf,
    /// Our certificate, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// The way in which our reports were collected.
    pub collector: Collector,
    /// Version of the program that reports.
    pub version: String,
    /// Lists the addresses at which this host serves; called as each session opens. Gateways that
    /// see packets notify the host of visitors to these addresses.
    pub addresses: fn() -> Vec<IpAddr>,
    /// Looks up the gateways' names.
    pub names: Arc<dyn NameService>,
}

/// Keys of an agent's configuration that concern its gateways.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct AgentFile {
    #[serde(default)]
    gateway: Vec<String>,
    gateway_ca: Option<PathBuf>,
    gateway_certificate: Option<PathBuf>,
    gateway_key: Option<PathBuf>,
}

/// Compares all keys except the functions of the system, which are no configuration.
impl PartialEq for ClientConfig {
    fn eq(&self, other: &Self) -> bool {
        let Self { gateways, ca, certificate, key, collector, version, addresses: _, names: _ } =
            self;
        (gateways, ca, certificate) == (&other.gateways, &other.ca, &other.certificate)
            && (key, collector, version) == (&other.key, &other.collector, &other.version)
    }
}

impl Eq for ClientConfig {}

impl ClientConfig {
    /// Reads the configuration from these bytes of an agent's `file`, for reports that `collector`
    /// collects.
    ///
    /// # Errors
    /// If the file is wrong, or a key is missing.
    pub fn of_agent(file: &Path, bytes: &[u8], collector: Collector) -> Result<Self, String> {
        let shown = file.display();
        let text = String::from_utf8_lossy(bytes);
        let read: AgentFile = toml::from_str(&text)
            .map_err(|error| Fault::from(error).of_file(&shown.to_string(), &text).to_string())?;
        let missing = |key: &str| {
            format!("{shown}: {key} is missing; `headstart gateway init` writes a file that has it")
        };
        if read.gateway.is_empty() {
            return Err(missing("gateway"));
        }
        for address in &read.gateway {
            Self::check_address(address).map_err(|why| format!("{shown}: gateway: {why}"))?;
        }
        Ok(Self {
            gateways: read.gateway,
            ca: read.gateway_ca.ok_or_else(|| missing("gateway-ca"))?,
            certificate: read.gateway_certificate.ok_or_else(|| missing("gateway-certificate"))?,
            key: read.gateway_key.ok_or_else(|| missing("gateway-key"))?,
            collector,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            addresses: Vec::new,
            names: SystemNames::shared(),
        })
    }

    /// Checks that an entry of [`Self::gateways`] is valid.
    ///
    /// # Errors
    /// If it is not: the fault.
    pub fn check_address(text: &str) -> Result<(), String> {
        match is_service(text) || host_and_port(text).is_some() {
            true => Ok(()),
            false => Err(format!(
                "{text:?} is no address of a gateway, like gateway.example:9466 or _headstart._tcp.example"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(addresses: fn() -> Vec<IpAddr>) -> ClientConfig {
        ClientConfig {
            gateways: vec!["127.0.0.1:9466".to_owned()],
            ca: "ca".into(),
            certificate: "certificate".into(),
            key: "key".into(),
            collector: Collector::Agent,
            version: "1".to_owned(),
            addresses,
            names: SystemNames::shared(),
        }
    }

    #[test]
    fn a_host_that_moves_has_the_same_configuration() {
        let here = config(Vec::new);
        assert_eq!(here, config(|| vec![IpAddr::from([192, 0, 2, 1])]));
        assert_ne!(here, ClientConfig { key: "other".into(), ..here.clone() });
    }

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in ["127.0.0.1:9466", "[::1]:9466", "gateway.example:1", "_headstart._tcp.example"]
        {
            assert_eq!(ClientConfig::check_address(good), Ok(()), "{good}");
        }
        let others = ["_headstart._tcp.", "_http._tcp.example"];
        let bad = ["", "9466", ":9466", "host", "host:", "host:0", "host:65536", "host:x"];
        for bad in bad.into_iter().chain(others) {
            assert!(ClientConfig::check_address(bad).is_err(), "{bad}");
        }
    }
}
