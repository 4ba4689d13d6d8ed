//! The log of a running server: lines for people on standard error, or JSON lines.

use super::args::ServeArgs;
use super::sink::Sink;
use cmdline::{Failure, harmless};
use serde_json::{Value, json};
use server::{Ended, EndedResponse};
use std::fs::File;
use std::io::{self, Write};

/// Destination of the log.
pub(super) enum Log {
    Nowhere,
    People(Sink),
    Machines(Sink),
}

impl Log {
    pub(super) fn new(args: &ServeArgs) -> Result<Self, Failure> {
        match &args.json {
            None | Some(None) if args.quiet => Ok(Self::Nowhere),
            None => Ok(Self::People(Sink::new(Box::new(io::stderr()), |n| {
                format!("lines left out, for want of a reader: {n}")
            }))),
            Some(None) => Ok(machines(Box::new(io::stdout()))),
            Some(Some(path)) => {
                let file = File::create(path);
                let file =
                    file.map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
                Ok(machines(Box::new(file)))
            }
        }
    }

    /// The server answers at these URLs.
    pub(super) fn listening(&self, root: &str, urls: &[String], device: Option<&str>) {
        let on = device.map_or(String::new(), |device| format!(" on {device}"));
        let status = "status at /.headstart/";
        let text = || format!("serving {root} at {}{on}, {status}", urls.join(" and "));
        let object = || json!({"event": "listening", "root": root, "urls": urls, "device": device});
        self.log(text, object);
    }

    /// A response is over.
    pub(super) fn response(&self, response: &EndedResponse) {
        let object = || {
            json!({
                "event": "response", "peer": response.peer, "method": response.method.as_str(),
                "path": response.path, "status": response.status.as_u16(), "content": response.content,
                "weight": response.weight, "body_bytes": response.length, "sent_bytes": response.sent,
                "is_complete": response.is_complete(),
            })
        };
        self.log(|| response.to_string(), object);
    }

    /// The weights have changed.
    pub(super) fn weights(&self, weights: &str) {
        self.log(
            || format!("weights are {weights}"),
            || json!({"event": "weights", "weights": weights}),
        );
    }

    /// The server has been asked to end.
    pub(super) fn ending(&self, grace: units::Duration) {
        let text = || format!("ending: transfers may take {grace} more; once more to end at once");
        self.log(text, || json!({"event": "ending"}));
    }

    /// It has ended.
    pub(super) fn log_ended(&self, ended: Ended) {
        let text = || match ended.reset {
            0 => "ended; all transfers were finished".to_owned(),
            n => format!("ended; connections that took too long and were reset: {n}"),
        };
        self.log(text, || json!({"event": "ended", "reset": ended.reset}));
    }

    /// Waits until the log is written, if it is read.
    pub(super) fn finish(&self) {
        match self {
            Self::Nowhere => {}
            Self::People(to) | Self::Machines(to) => to.finish(),
        }
    }

    fn log(&self, text: impl FnOnce() -> String, object: impl FnOnce() -> Value) {
        match self {
            Self::Nowhere => {}
            Self::People(to) => to.line(harmless(&text())),
            Self::Machines(to) => to.line(object().to_string()),
        }
    }
}

fn machines(to: Box<dyn Write + Send>) -> Log {
    Log::Machines(Sink::new(to, |n| json!({"event": "left_out", "lines": n}).to_string()))
}
