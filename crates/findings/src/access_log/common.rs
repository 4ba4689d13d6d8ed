//! The common log format, the combined one, and what servers put before them.
//!
//! `ADDRESS IDENT USER [TIME] "REQUEST" STATUS BYTES`, and behind it any columns. A name in the
//! place of IDENT, which hardly anybody has used since 1993, is the client's (Apache: `%a %h %u …`).
//! Before the address there may be the name of the virtual host (`vhost_combined`). In the place of
//! the address there may be a list with commas (`%{X-Forwarded-For}i`): its first address is the
//! client's, and the others are those of proxies. The head of syslog may come before all of it, as
//! in HAProxy's format (`option httplog`), where the time follows the client's address and port.

use super::columns::columns;
use super::fault::LogFault;
use super::{LogRequest, asks_for_image, client, is_host_name, time};
use std::net::{IpAddr, SocketAddr};

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

/// The client's address among the words before the time, and its name.
fn client_and_name(words: &str) -> Result<(IpAddr, Option<&str>), LogFault> {
    let mut words = columns(words).map(|column| column.text);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let is_list = first.contains(',');
    // A virtual host may be called by its address; a client's has no port where another address follows.
    if first.parse::<SocketAddr>().is_ok()
        && let Ok(client) = client::of_text(second)
    {
        return Ok((client, None));
    }
    match client::of_text(first) {
        // Beside a list is what the last proxy is called.
        Ok(client) => Ok((client, Some(second).filter(|name| !is_list && is_host_name(name)))),
        // What is in a list's first place is the client, also if it is "unknown": a proxy is not taken in its place.
        Err(why) if is_list => Err(why),
        Err(why) => client::of_text(second).map(|client| (client, None)).map_err(|_| why),
    }
}
