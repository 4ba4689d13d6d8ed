//! Connects to a gateway: mutual TLS, and keep-alives that detect a lost gateway within a second.

use crate::certificates::{causes, certificate_fault};
use crate::config::ClientConfig;
use crate::discovery::ResolvedGateway;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Status};

/// Longest time to connect: a site's own gateway answers within a millisecond.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(700);
/// Interval of keep-alives to a silent gateway.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_millis(400);
/// Time within which a gateway must answer a keep-alive.
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_millis(400);

/// The reason for which a gateway cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GatewayFault {
    /// Files are wrong, here or there, so trying again does not help.
    Certificates(String),
    /// It does not answer now.
    Silent(String),
}

impl Display for GatewayFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (Self::Certificates(why) | Self::Silent(why)) = self;
        f.write_str(why)
    }
}

impl GatewayFault {
    /// Explains why `gateway` did not answer a call, or has ended it.
    pub(crate) fn of_status(
        status: &Status,
        config: &ClientConfig,
        gateway: &ResolvedGateway,
    ) -> Self {
        match certificate_fault(status, config) {
            Some(why) => Self::Certificates(format!("{gateway}: {why}")),
            None if status.code() == Code::PermissionDenied => {
                Self::Certificates(format!("{gateway}: {}", told(status)))
            }
            None => Self::Silent(format!("{gateway}: {}", told(status))),
        }
    }
}

/// Connects to a live gateway.
///
/// # Errors
/// If a file cannot be read, or the gateway cannot be connected: the reason.
pub(crate) async fn connect(
    config: &ClientConfig,
    gateway: &ResolvedGateway,
) -> Result<Channel, GatewayFault> {
    let endpoint = endpoint(config, gateway).map_err(GatewayFault::Certificates)?;
    let reached = tokio::time::timeout(CONNECT_TIMEOUT * 2, endpoint.connect()).await;
    let reached =
        reached.map_err(|_| GatewayFault::Silent(format!("{gateway} does not answer")))?;
    reached.map_err(|error| match certificate_fault(&error, config) {
        Some(why) => GatewayFault::Certificates(format!("{gateway}: {why}")),
        None => GatewayFault::Silent(format!("cannot reach {gateway}: {}", causes(&error))),
    })
}

/// Describes how to connect to `gateway`, with mutual TLS.
///
/// # Errors
///
/// If a certificate cannot be read or used; the message names the files.
fn endpoint(config: &ClientConfig, gateway: &ResolvedGateway) -> Result<Endpoint, String> {
    let tls = ClientTlsConfig::new()
        .domain_name(gateway.host.as_str())
        .ca_certificate(Certificate::from_pem(read(&config.ca)?))
        .identity(Identity::from_pem(read(&config.certificate)?, read(&config.key)?));
    let endpoint = Endpoint::from_shared(format!("https://{}", gateway.address))
        .map_err(|error| format!("{gateway} is no address: {error}"))?;
    let endpoint = endpoint.tls_config(tls).map_err(|error| {
        let files = [&config.ca, &config.certificate, &config.key];
        let files = files.map(|file| file.display().to_string()).join(", ");
        certificate_fault(&error, config)
            .unwrap_or_else(|| format!("cannot use the certificates ({files}): {}", causes(&error)))
    })?;
    Ok(endpoint
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .keep_alive_while_idle(true))
}

/// Checks that the files can be read, and that the key is the certificate's.
///
/// # Errors
/// If not: the file, and its fault.
pub(crate) fn check_files(config: &ClientConfig) -> Result<(), String> {
    // The files do not depend on the address.
    let (host, address) = ("localhost".to_owned(), (Ipv4Addr::LOCALHOST, 1).into());
    endpoint(config, &ResolvedGateway { host, address }).map(drop)
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

/// Returns the gateway's message, or how the connection to it has ended.
pub(crate) fn told(status: &Status) -> String {
    if let Some(error) = io_error(status) {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof => "the connection was cut".to_owned(),
            _ => error.to_string(),
        };
    }
    if status.message().is_empty() { causes(status) } else { status.message().to_owned() }
}

/// Returns the I/O error among the causes of `error`, if there is one.
fn io_error(error: &dyn Error) -> Option<&io::Error> {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(found) = inner.downcast_ref() {
            return Some(found);
        }
        cause = inner.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a connection that ends without TLS' close_notify has the address of a manual in
    /// its text.
    #[test]
    fn a_status_says_what_a_person_can_use() {
        let cut = io::Error::new(io::ErrorKind::UnexpectedEof, "see https://docs.rs/rustls");
        assert_eq!(told(&Status::from_error(Box::new(cut))), "the connection was cut");
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert_eq!(told(&Status::from_error(Box::new(reset))), "connection reset");
        assert_eq!(told(&Status::unavailable("the gateway ends")), "the gateway ends");
        // If there is no message, the text has at least the kind of error.
        assert!(told(&Status::internal("")).contains("Internal error"));
    }
}
