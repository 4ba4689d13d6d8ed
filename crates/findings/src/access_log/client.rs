//! The client's address, as a log has it.

use super::fault::LogFault;
use super::is_host_name;
use std::net::{IpAddr, SocketAddr};

/// An address, perhaps with a port. Of a list with commas, as in `X-Forwarded-For`, the first: proxies add themselves behind the
/// visitor.
pub(crate) fn of_text(text: &str) -> Result<IpAddr, LogFault> {
    let first = text.split(',').next().unwrap_or_default().trim();
    let with_port = || first.parse::<SocketAddr>().map(|end| end.ip());
    first.parse().or_else(|_| with_port()).map_err(|_| match is_host_name(first) {
        true => LogFault::NameOnly(first.to_owned()),
        false => LogFault::NoAddress(first.to_owned()),
    })
}
