//! A JSON object per line, by the keys that servers use: nginx, Apache, Caddy, Traefik, HAProxy, and load balancers.

use super::fault::LogFault;
use super::{LogRequest, asks_for_image, client, is_host_name, time};
use serde_json::Value;

const CLIENT: &[&str] = &[
    "remote_addr",
    "remote_ip",
    "client_ip",
    "clientip",
    "client",
    "remoteIp",
    "ClientHost",
    "remoteAddr",
    "ip",
];
const TIME: &[&str] =
    &["time", "@timestamp", "timestamp", "ts", "time_iso8601", "time_local", "msec", "StartUTC"];
/// Not `hostname`, which most servers call themselves.
const NAME: &[&str] = &["remote_host", "client_name", "remote_name", "rdns"];
const REQUEST: &[&str] = &["request", "uri", "request_uri", "path", "url", "RequestPath"];
/// Objects within the object that have these keys, too.
const WITHIN: &[&str] = &["request", "httpRequest", "http"];

pub(crate) fn parse(line: &str) -> Result<LogRequest<'_>, LogFault> {
    let object: Value =
        serde_json::from_str(line).map_err(|why| LogFault::NotJson(why.to_string()))?;
    let who = text(&object, CLIENT).ok_or(LogFault::NoKey { what: "a client", keys: CLIENT })?;
    let when = find(&object, TIME).ok_or(LogFault::NoKey { what: "a time", keys: TIME })?;
    let at = match when {
        Value::String(text) => time::of_text(text)?,
        Value::Number(number) => number
            .as_f64()
            .and_then(time::of_number)
            .ok_or_else(|| LogFault::NoTime(number.to_string()))?,
        other => return Err(LogFault::NoTime(other.to_string())),
    };
    Ok(LogRequest {
        at,
        client: client::of_text(who)?,
        name: text(&object, NAME)
            .filter(|name| is_host_name(name))
            .map(|name| name.to_owned().into()),
        is_image: text(&object, REQUEST).is_some_and(asks_for_image),
    })
}

/// The value of the first of these keys that is there and not null.
fn find<'a>(object: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    let within = WITHIN.iter().filter_map(|key| object.get(key));
    [object]
        .into_iter()
        .chain(within)
        .find_map(|object| keys.iter().find_map(|key| object.get(key).filter(|it| !it.is_null())))
}

/// The same of keys that are texts.
fn text<'a>(object: &'a Value, keys: &[&str]) -> Option<&'a str> {
    let within = WITHIN.iter().filter_map(|key| object.get(key));
    let objects = [object].into_iter().chain(within);
    objects.flat_map(|object| keys.iter().filter_map(|key| object.get(key)?.as_str())).next()
}
