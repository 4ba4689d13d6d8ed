//! Which gateways there are, and who we are to them.

use gateway_proto::v1::Collector;
use std::net::IpAddr;
use std::path::PathBuf;

/// What a client has to know. Files are read anew at each connection: a renewed certificate counts from the next one on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// `HOST:PORT` of the gateways, the preferred one first. The others are asked when it does not answer.
    pub gateways: Vec<String>,
    /// The authority that signs the gateways' certificates, PEM.
    pub ca: PathBuf,
    /// Our certificate, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// How what we report was collected.
    pub collector: Collector,
    /// Of the program that reports.
    pub version: String,
    /// Addresses at which this host serves: gateways that see packets tell it of visitors who come there.
    pub addresses: Vec<IpAddr>,
}

impl ClientConfig {
    /// Whether an entry of [`Self::gateways`] can be one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check_address(text: &str) -> Result<(), String> {
        let host_and_port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let port = host_and_port.and_then(|(_, port)| port.parse::<u16>().ok());
        match port {
            Some(port) if port > 0 => Ok(()),
            _ => Err(format!("{text:?} is no address of a gateway, like gateway.example:9466")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for good in ["127.0.0.1:9466", "[::1]:9466", "gateway.example:1"] {
            assert_eq!(ClientConfig::check_address(good), Ok(()), "{good}");
        }
        for bad in ["", "9466", ":9466", "host", "host:", "host:0", "host:65536", "host:x"] {
            assert!(ClientConfig::check_address(bad).is_err(), "{bad}");
        }
    }
}
