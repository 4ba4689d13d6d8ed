//! The client's address in a line of a log.

use super::fault::LogFault;
use super::is_host_name;
use std::net::{IpAddr, SocketAddr};

/// Parses an address, perhaps with a port. It takes the first of a list with commas, as in
/// `X-Forwarded-For`: proxies append their own addresses.
pub(crate) fn of_text(text: &str) -> Result<IpAddr, LogFault> {
    let first = text.split(',').next().unwrap_or_default().trim();
    let with_port = || first.parse::<SocketAddr>().map(|end| end.ip());
    first.parse().or_else(|_| with_port()).map_err(|_| match is_host_name(first) {
        true => LogFault::NameOnly(first.to_owned()),
        false => LogFault::NoAddress(first.to_owned()),
    })
}
