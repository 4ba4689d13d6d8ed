//! A JSON object per line, with the keys of nginx, Apache, Caddy, Traefik, HAProxy, and load
//! balancers.

use super::fault::LogFault;
use super::{LogRequest, asks_for_image, client, is_host_name, time};
use serde_json::Value;

/// Keys in lower case and only with letters and digits.
const CLIENT: &[&str] = &[
    "remoteaddr",
    "remoteip",
    "clientip",
    "clientaddress",
    "client",
    "clienthost",
    "sourceip",
    "ip",
];
const TIME: &[&str] = &[
    "time",
    "timestamp",
    "ts",
    "timeiso8601",
    "timelocal",
    "msec",
    "startutc",
    "starttime",
    "datetime",
    "edgestarttimestamp",
];
/// `hostname` is left out, since most servers log their own name under it.
const NAME: &[&str] = &["remotehost", "clientname", "remotename", "rdns"];
const REQUEST: &[&str] = &[
    "request",
    "uri",
    "requesturi",
    "path",
    "url",
    "requestpath",
    "uripath",
    "requesturl",
    "clientrequesturi",
];
/// Nested objects that may have these keys, too.
const WITHIN: &[&str] = &["request", "httpRequest", "http"];

/// Parses a line that is a JSON object. Several names are known for each of its keys.
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

/// Returns the value of the first of these keys that is present and not null.
fn find<'a>(object: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    values_of_keys(object, keys).find(|value| !value.is_null())
}

/// Returns the first value of these keys that is a text.
fn text<'a>(object: &'a Value, keys: &[&str]) -> Option<&'a str> {
    values_of_keys(object, keys).find_map(Value::as_str)
}

/// Returns the values of these keys, in their order, of the object and of nested ones.
fn values_of_keys<'a>(object: &'a Value, keys: &[&str]) -> impl Iterator<Item = &'a Value> {
    let within = WITHIN.iter().filter_map(|key| object.get(key));
    let objects = [object].into_iter().chain(within).filter_map(Value::as_object);
    objects.flat_map(move |object| {
        keys.iter().filter_map(|key| {
            let is_it = |(name, _): &(&String, &Value)| is_key(name, key);
            object.iter().find(is_it).map(|(_, value)| value)
        })
    })
}

/// Returns true if the key of an object is this one, in any case and with any signs.
fn is_key(name: &str, key: &str) -> bool {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|byte| byte.to_ascii_lowercase()).eq(key.bytes())
}
