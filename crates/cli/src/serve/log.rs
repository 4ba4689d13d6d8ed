//! What a server says while it runs: lines for people on standard error, or JSON lines.

use super::args::Args;
use crate::failure::{Failure, remark};
use serde_json::{Value, json};
use server::{Ended, Told};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Where it goes.
pub(super) enum Log {
    Nowhere,
    People,
    Machines(Mutex<Box<dyn Write + Send>>),
}

impl Log {
    pub(super) fn new(args: &Args) -> Result<Self, Failure> {
        match &args.json {
            _ if args.quiet => Ok(Self::Nowhere),
            None => Ok(Self::People),
            Some(None) => Ok(Self::Machines(Mutex::new(Box::new(io::stdout())))),
            Some(Some(path)) => {
                let file = File::create(path);
                let file =
                    file.map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
                Ok(Self::Machines(Mutex::new(Box::new(file))))
            }
        }
    }

    /// The server answers at these URLs.
    pub(super) fn listening(&self, root: &str, urls: &[String], device: Option<&str>) {
        let on = device.map_or(String::new(), |device| format!(" on {device}"));
        let status = "status at /.headstart/";
        let text = || format!("serving {root} at {}{on}, {status}", urls.join(" and "));
        let object = || json!({"event": "listening", "root": root, "urls": urls, "device": device});
        self.say(text, object);
    }

    /// A response is over.
    pub(super) fn response(&self, told: &Told) {
        let object = || {
            json!({
                "event": "response", "peer": told.peer, "method": told.method.as_str(),
                "path": told.path, "status": told.status.as_u16(), "content": told.content,
                "weight": told.weight, "body_bytes": told.length, "sent_bytes": told.sent,
                "is_complete": told.is_complete(),
            })
        };
        self.say(|| told.to_string(), object);
    }

    /// The weights have changed.
    pub(super) fn weights(&self, weights: &str) {
        self.say(
            || format!("weights are {weights}"),
            || json!({"event": "weights", "weights": weights}),
        );
    }

    /// The server has been asked to end.
    pub(super) fn ending(&self, grace: units::Duration) {
        let text = || format!("ending: transfers may take {grace} more; once more to end at once");
        self.say(text, || json!({"event": "ending"}));
    }

    /// It has ended.
    pub(super) fn ended(&self, ended: Ended) {
        let text = || match ended.reset {
            0 => "ended; all transfers were finished".to_owned(),
            n => format!("ended; connections that took too long and were reset: {n}"),
        };
        self.say(text, || json!({"event": "ended", "reset": ended.reset}));
    }

    fn say(&self, text: impl FnOnce() -> String, object: impl FnOnce() -> Value) {
        match self {
            Self::Nowhere => {}
            Self::People => remark(&text()),
            Self::Machines(to) => {
                let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
                // Who does not read any more is not served any worse.
                let _ = writeln!(to, "{}", object()).and_then(|()| to.flush());
            }
        }
    }
}
