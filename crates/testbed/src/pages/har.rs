//! A HAR file from events of the DevTools protocol, as Chromium's network panel exports it.
//!
//! The panel computes the timings of an entry from `ResourceTiming`, whose times are milliseconds
//! after `requestTime` (`har/Log.ts` of Chrome's developer tools). Its times of day are whole
//! milliseconds.

use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The id of the file's only page.
const PAGE: &str = "page_1";

/// A HAR file and the time of the load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecordedHar {
    pub(super) har: Value,
    /// Time from the first request to the event `load`, seconds.
    pub(super) load_s: f64,
}

/// One request, as far as events have reported it.
#[derive(Clone, Debug, Default)]
struct Request {
    /// `Network.requestWillBeSent`.
    sent: Value,
    /// `Network.Response`.
    response: Value,
    /// Time of the last byte, in the browser's clock, seconds.
    finished: Option<f64>,
    /// Bytes of the response on the wire, with its header.
    transferred: f64,
    /// Bytes of the body.
    body: f64,
}

impl RecordedHar {
    /// The load that these events report.
    ///
    /// # Errors
    /// If a request failed or has no end, or the page has not loaded; the error names the request.
    pub(super) fn of(events: &[Value]) -> Result<Self, String> {
        let requests = requests(events)?;
        let first = requests.first().ok_or("the browser has requested nothing")?;
        let start = number_of(&first.sent["timestamp"]);
        let since_start = |event: &str| {
            let fired = events.iter().find(|entry| entry["method"] == event);
            let fired = fired.ok_or_else(|| format!("the browser has not reported {event}"))?;
            Ok::<f64, String>(number_of(&fired["params"]["timestamp"]) - start)
        };
        let load_s = since_start("Page.loadEventFired")?;
        let content_s = since_start("Page.domContentEventFired")?;
        let entries = requests.iter().map(Request::har_entry).collect::<Result<Vec<_>, _>>()?;
        let page = json!({
            "id": PAGE,
            "title": first.sent["request"]["url"],
            "startedDateTime": first.start_time()?,
            "pageTimings": { "onContentLoad": content_s * 1e3, "onLoad": load_s * 1e3 },
        });
        let har = json!({ "log": {
            "version": "1.2",
            "creator": { "name": "WebInspector", "version": "537.36" },
            "pages": [page],
            "entries": entries,
        } });
        Ok(Self { har, load_s })
    }
}

/// The requests in their order. A redirect is one, and the request that follows it is another.
fn requests(events: &[Value]) -> Result<Vec<Request>, String> {
    let mut all: Vec<Request> = Vec::new();
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        let params = &event["params"];
        let Some(id) = params["requestId"].as_str() else { continue };
        let at = last.get(id).copied();
        let known = at.and_then(|at| all.get_mut(at));
        match (event["method"].as_str().unwrap_or_default(), known) {
            ("Network.requestWillBeSent", known) => {
                if let Some(redirect) = known {
                    redirect.response = params["redirectResponse"].clone();
                    redirect.transferred = number_of(&redirect.response["encodedDataLength"]);
                    redirect.finished = params["timestamp"].as_f64();
                }
                // An address of `data:` crosses no network.
                if !url(params).starts_with("data:") {
                    last.insert(id, all.len());
                    all.push(Request { sent: params.clone(), ..Request::default() });
                }
            }
            ("Network.responseReceived", Some(request)) => {
                request.response = params["response"].clone();
            }
            ("Network.dataReceived", Some(request)) => {
                request.body += number_of(&params["dataLength"]);
            }
            ("Network.loadingFinished", Some(request)) => {
                request.transferred = number_of(&params["encodedDataLength"]);
                request.finished = params["timestamp"].as_f64();
            }
            ("Network.loadingFailed", Some(request)) => {
                let why = params["errorText"].as_str().unwrap_or("no reason is given");
                return Err(format!("{} failed: {why}", url(&request.sent)));
            }
            _ => {}
        }
    }
    Ok(all)
}

impl Request {
    fn har_entry(&self) -> Result<Value, String> {
        let (sent, response) = (&self.sent, &self.response);
        let status = number_of(&response["status"]);
        if !(200.0..400.0).contains(&status) {
            return Err(format!("{} was answered with status {status}", url(sent)));
        }
        let kind = sent["type"].as_str().unwrap_or_default().to_lowercase();
        let connection = number_of(&response["connectionId"]).to_string();
        Ok(json!({
            "pageref": PAGE,
            "startedDateTime": self.start_time()?,
            "request": {
                "method": sent["request"]["method"],
                "url": url(sent),
                "httpVersion": response["protocol"],
                "headers": headers(&sent["request"]["headers"]),
                "headersSize": -1,
                "bodySize": 0,
            },
            "response": {
                "status": status,
                "httpVersion": response["protocol"],
                "headers": headers(&response["headers"]),
                "content": { "size": self.body, "mimeType": response["mimeType"] },
                "redirectURL": location(&response["headers"]),
                "headersSize": -1,
                "bodySize": -1,
                "_transferSize": self.transferred,
            },
            "timings": self.timings()?,
            "cache": {},
            "connection": connection,
            "_initiator": sent["initiator"],
            "_resourceType": kind,
        }))
    }

    fn start_time(&self) -> Result<String, String> {
        let nanos = (number_of(&self.sent["wallTime"]) * 1e9) as i128;
        let at = Timestamp::from_nanosecond(nanos).map_err(|error| error.to_string())?;
        Ok(at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
    }

    /// Milliseconds of each step, -1 where there was none.
    fn timings(&self) -> Result<Value, String> {
        let timing = &self.response["timing"];
        let finished = self.finished.ok_or_else(|| format!("{} has no end", url(&self.sent)))?;
        let at = |name: &str| timing[name].as_f64().filter(|at| *at >= 0.0);
        let between = |from: Option<f64>, to: Option<f64>| from.zip(to).map(|(from, to)| to - from);
        let missing = |name| format!("{}: the browser reports no {name}", url(&self.sent));
        let requested = number_of(&timing["requestTime"]);
        let queued = ((requested - number_of(&self.sent["timestamp"])) * 1e3).max(0.0);
        let send_start = at("sendStart").ok_or_else(|| missing("sendStart"))?;
        let send_end = at("sendEnd").ok_or_else(|| missing("sendEnd"))?;
        let headers_end = at("receiveHeadersEnd").ok_or_else(|| missing("receiveHeadersEnd"))?;
        let first_step = [at("dnsStart"), at("connectStart")].into_iter().flatten();
        let blocked = queued + first_step.fold(send_start, f64::min);
        let sending_from = at("connectEnd").or(at("dnsEnd")).unwrap_or(send_start);
        let received = ((finished - requested) * 1e3 - headers_end).max(0.0);
        let or_none = |time: Option<f64>| time.unwrap_or(-1.0);
        Ok(json!({
            "blocked": blocked,
            "dns": or_none(between(at("dnsStart"), at("dnsEnd"))),
            "connect": or_none(between(at("connectStart"), at("connectEnd"))),
            "ssl": or_none(between(at("sslStart"), at("sslEnd"))),
            "send": (send_end - sending_from).max(0.0),
            "wait": headers_end - send_end,
            "receive": received,
        }))
    }
}

fn url(sent: &Value) -> &str {
    sent["request"]["url"].as_str().unwrap_or_default()
}

/// A number of an event; 0 if there is none.
fn number_of(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// The address of a redirect; empty if there is none. Names of headers differ in case by server and
/// HTTP version (RFC 9110 §5.1, RFC 9113 §8.2.1).
fn location(headers: &Value) -> &str {
    let mut all = headers.as_object().into_iter().flatten();
    let found = all.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    found.and_then(|(_, value)| value.as_str()).unwrap_or_default()
}

/// Headers as a list of names and values.
fn headers(map: &Value) -> Vec<Value> {
    let all = map.as_object().into_iter().flatten();
    all.map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

#[cfg(test)]
mod tests;
