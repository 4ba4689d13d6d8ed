//! The common log format, the combined one, and prefixes that servers add.
//!
//! `ADDRESS IDENT USER [TIME] "REQUEST" STATUS BYTES`, and any columns after it.
//!
//! - A name in place of IDENT, which is hardly in use since 1993, is the client's (Apache:
//!   `%a %h %u …`).
//! - Before the address there may be the name of the virtual host (`vhost_combined`).
//! - In place of the address there may be a list with commas (`%{X-Forwarded-For}i`): its first
//!   address is the client's, and the others are those of proxies.
//! - The head of syslog may precede all of it, as in HAProxy's format (`option httplog`), where the
//!   time follows the client's address and port.

use super::columns::columns;
use super::fault::LogFault;
use super::{LogRequest, asks_for_image, client, is_host_name, time};
use std::net::{IpAddr, SocketAddr};

/// Parses a line of the Common or Combined Log Format; a virtual host with its port may precede it.
pub(crate) fn parse(line: &str) -> Result<LogRequest<'_>, LogFault> {
    let (who, rest) = line.split_once(" [").ok_or(LogFault::UnknownFormat)?;
    let who = who.rsplit_once(": ").map_or(who, |(_, who)| who);
    let (when, rest) = rest.split_once(']').ok_or(LogFault::UnknownFormat)?;
    let (client, name) = client_and_name(who)?;
    let request = rest.split('"').nth(1).ok_or(LogFault::UnknownFormat)?;
    Ok(LogRequest {
        at: time::of_text(when)?,
        client,
        name: name.map(Into::into),
        is_image: asks_for_image(request),
    })
}

/// Returns the client's address among the words before the time, and its name.
fn client_and_name(words: &str) -> Result<(IpAddr, Option<&str>), LogFault> {
    let mut words = columns(words).map(|column| column.text);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let is_list = first.contains(',');
    // The name of a virtual host may be an address. A client's address has no port if another
    // address follows.
    if first.parse::<SocketAddr>().is_ok()
        && let Ok(client) = client::of_text(second)
    {
        return Ok((client, None));
    }
    match client::of_text(first) {
        // A name beside a list is the last proxy's.
        Ok(client) => Ok((client, Some(second).filter(|name| !is_list && is_host_name(name)))),
        // The first entry of a list is the client, even if it is "unknown": a proxy does not
        // replace it.
        Err(why) if is_list => Err(why),
        Err(why) => client::of_text(second).map(|client| (client, None)).map_err(|_| why),
    }
}
