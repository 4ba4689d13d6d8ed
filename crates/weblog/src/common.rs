//! The common log format, the combined one, and what servers put before them.
//!
//! `ADDRESS IDENT USER [TIME] "REQUEST" STATUS BYTES`, and behind it whatever they like. A name in the place of
//! IDENT, which hardly anybody has used since 1993, is the client's (Apache: `%a %h %u …`). Before the address there may
//! be the name of the virtual host (`vhost_combined`).

use crate::fault::LogFault;
use crate::{LogRequest, asks_for_image, is_host_name, time};
use std::net::IpAddr;

pub(crate) fn parse(line: &str) -> Result<LogRequest<'_>, LogFault> {
    let (who, rest) = line.split_once(" [").ok_or(LogFault::UnknownFormat)?;
    let (when, rest) = rest.split_once(']').ok_or(LogFault::UnknownFormat)?;
    let (client, name) = client(who)?;
    let request = rest.split('"').nth(1).ok_or(LogFault::UnknownFormat)?;
    Ok(LogRequest {
        at: time::of_text(when)?,
        client,
        name: name.map(Into::into),
        is_image: asks_for_image(request),
    })
}

/// The client's address among the words before the time, and its name.
fn client(words: &str) -> Result<(IpAddr, Option<&str>), LogFault> {
    let mut words = words.split(' ');
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    match (first.parse::<IpAddr>(), second.parse::<IpAddr>()) {
        (Ok(client), _) => Ok((client, Some(second).filter(|name| is_host_name(name)))),
        (Err(_), Ok(client)) => Ok((client, None)),
        _ if is_host_name(first) => Err(LogFault::NameOnly(first.to_owned())),
        _ => Err(LogFault::NoAddress(first.to_owned())),
    }
}
