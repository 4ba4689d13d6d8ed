//! `--log-format`: the columns or keys of a log that servers do not write by themselves.

use super::columns::columns;
use super::fault::LogFault;
use super::{LogRequest, asks_for_image, client, time};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A value of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LogValue {
    /// A column, from 0.
    Column(usize),
    /// A key of a JSON object, with points between objects.
    Key(String),
}

impl LogValue {
    fn of(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(0) => None,
            Ok(n) => Some(Self::Column(n - 1)),
            Err(_) => (!text.is_empty()).then(|| Self::Key(text.to_owned())),
        }
    }

    /// Returns the value of a line: a column of it, or the value of a key if the line is an object.
    /// The key may have dots in it, or name a path of keys.
    fn find<'a>(&self, line: &'a str, object: Option<&Value>) -> Option<Cow<'a, str>> {
        match (self, object) {
            (Self::Column(n), None) => columns(line).nth(*n).map(|column| column.text.into()),
            (Self::Key(key), Some(object)) => {
                let found = key.split('.').try_fold(object, |object, key| object.get(key));
                match object.get(key).or(found)? {
                    Value::String(text) => Some(text.clone().into()),
                    other => Some(other.to_string().into()),
                }
            }
            _ => None,
        }
    }
}

impl fmt::Display for LogValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(n) => write!(f, "column {}", n + 1),
            Self::Key(key) => write!(f, "key {key}"),
        }
    }
}

/// Where the lines of a log have client, time and request, like `client=1,time=4,request=5` or
/// `client=ip,time=at.utc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLineFormat {
    client: LogValue,
    /// A date and a time of day may stand in two columns.
    time: Vec<LogValue>,
    request: Option<LogValue>,
}

impl LogLineFormat {
    /// Reads a line.
    pub(super) fn parse<'a>(&self, line: &'a str) -> Result<LogRequest<'a>, LogFault> {
        let object: Option<Value> = match line.starts_with('{') {
            true => {
                Some(serde_json::from_str(line).map_err(|why| LogFault::NotJson(why.to_string()))?)
            }
            false => None,
        };
        let value = |of: &LogValue| {
            of.find(line, object.as_ref()).ok_or_else(|| LogFault::NoValue(of.to_string()))
        };
        let time = self.time.iter().map(&value).collect::<Result<Vec<_>, _>>()?.join(" ");
        let request = self.request.as_ref().map(&value).transpose()?;
        Ok(LogRequest {
            at: time::of_text(&time)?,
            client: client::of_text(&value(&self.client)?)?,
            name: None,
            is_image: request.is_some_and(|request| asks_for_image(&request)),
        })
    }
}

impl FromStr for LogLineFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut client, mut time, mut request) = (None, None, None);
        for part in text.split(',') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let values: Option<Vec<_>> = value.split('+').map(LogValue::of).collect();
            let mut values = values.ok_or_else(|| {
                format!("{part:?} names no column (from 1) and no key, like client=1 or client=ip")
            })?;
            match name {
                "client" => client = values.pop(),
                "time" => time = Some(values),
                "request" => request = values.pop(),
                _ => return Err(format!("{name:?} is none of client, time and request")),
            }
        }
        Ok(Self {
            client: client.ok_or("without a client: add client=")?,
            time: time.ok_or("without a time: add time=")?,
            request,
        })
    }
}
