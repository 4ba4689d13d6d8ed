//! A page as JSON. Keys are those of `docs/pages-schema.json`.

use serde::Serialize;
use workload::{
    Discovery, Object, ObjectId, Page, PageHost, RecordedFetch, RecordedHost, RecordedLoad,
    ServerTimeConfidence, VersionEvidence,
};

#[derive(Debug, Serialize)]
pub(super) struct PageJson<'a> {
    version: &'static str,
    format: u32,
    name: &'a str,
    hosts: Vec<HostJson<'a>>,
    objects: Vec<ObjectJson<'a>>,
    /// Null if the page was not recorded.
    recording: Option<RecordingJson>,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct RecordingJson {
    rate_bps: Option<u64>,
    rtt_s: Option<f64>,
    load_event_s: Option<f64>,
    server_times: &'static str,
    delayed_responses: usize,
    limit_mark: Option<&'static str>,
    redirects: Vec<u32>,
    left_out: Vec<LeftOutJson>,
}

#[derive(Debug, Serialize)]
struct LeftOutJson {
    reason: &'static str,
    requests: usize,
}

#[derive(Debug, Serialize)]
struct HostJson<'a> {
    name: &'a str,
    http: String,
    tls: String,
    recorded: Option<RecordedHostJson>,
}

#[derive(Debug, Serialize)]
struct RecordedHostJson {
    rtt_s: Option<f64>,
    connections: usize,
    http_by: &'static str,
    tls_round_trips: Option<u32>,
}

#[derive(Debug, Serialize)]
struct ObjectJson<'a> {
    id: usize,
    url: &'a str,
    host: u32,
    kind: &'static str,
    discovery: Option<DiscoveryJson>,
    request_bytes: u64,
    response_header_bytes: u64,
    body_bytes: u64,
    server_time_s: f64,
    recorded: Option<FetchJson<'a>>,
}

#[derive(Debug, Serialize)]
struct DiscoveryJson {
    parent: u32,
    offset: u64,
    delay_s: f64,
}

#[derive(Debug, Serialize)]
struct FetchJson<'a> {
    connection: &'a str,
    started_s: f64,
    first_byte_s: f64,
    finished_s: f64,
    wait_s: f64,
    least_server_time_s: f64,
    most_server_time_s: f64,
    revealed_by: &'static str,
}

impl<'a> PageJson<'a> {
    pub(super) fn of(page: &'a Page) -> Self {
        let recorded = page.recorded();
        let host = |(index, host): (usize, &'a PageHost)| {
            HostJson::of(host, recorded.map(|recorded| &recorded.hosts[index]))
        };
        let object = |id: ObjectId| {
            let fetch = recorded.map(|recorded| &recorded.fetches[id.index()]);
            ObjectJson::of(id, page.object(id), fetch)
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            format: 1,
            name: page.name(),
            hosts: page.hosts().iter().enumerate().map(host).collect(),
            objects: page.ids().map(object).collect(),
            recording: recorded.map(RecordingJson::of),
            notes: page.notes(),
        }
    }
}

impl RecordingJson {
    fn of(recorded: &RecordedLoad) -> Self {
        let (server_times, delayed_responses) = match recorded.server_times {
            ServerTimeConfidence::Measured => ("measured", 0),
            ServerTimeConfidence::Estimated { responses } => ("estimated", responses),
            ServerTimeConfidence::Assumed { responses } => ("assumed", responses),
        };
        let left_out = recorded.left_out.iter();
        Self {
            rate_bps: recorded.rate.map(units::Rate::as_bps),
            rtt_s: recorded.rtt.map(units::Duration::as_secs_f64),
            load_event_s: recorded.load_event.map(units::Duration::as_secs_f64),
            server_times,
            delayed_responses,
            limit_mark: recorded.limit_mark(),
            redirects: recorded.redirects.iter().map(|id| id.0).collect(),
            left_out: left_out
                .map(|one| LeftOutJson { reason: one.reason, requests: one.requests })
                .collect(),
        }
    }
}

impl<'a> HostJson<'a> {
    fn of(host: &'a PageHost, recorded: Option<&RecordedHost>) -> Self {
        let recorded = recorded.map(|recorded| RecordedHostJson {
            rtt_s: recorded.rtt.map(units::Duration::as_secs_f64),
            connections: recorded.connections,
            http_by: match recorded.version_by {
                VersionEvidence::Named => "named",
                VersionEvidence::PseudoHeaders => "pseudo-headers",
                VersionEvidence::Overlap => "overlap",
                VersionEvidence::Nothing => "nothing",
            },
            tls_round_trips: recorded.tls_round_trips,
        });
        Self { name: &host.name, http: host.http.to_string(), tls: host.tls.to_string(), recorded }
    }
}

impl<'a> ObjectJson<'a> {
    fn of(id: ObjectId, object: &'a Object, fetch: Option<&'a RecordedFetch>) -> Self {
        Self {
            id: id.index(),
            url: &object.label,
            host: object.host.0,
            kind: object.kind.name(),
            discovery: match object.discovery {
                Discovery::AtStart => None,
                Discovery::InBody { parent, offset, delay } => {
                    Some(DiscoveryJson { parent: parent.0, offset, delay_s: delay.as_secs_f64() })
                }
            },
            request_bytes: object.request_bytes,
            response_header_bytes: object.response_header_bytes,
            body_bytes: object.body_bytes,
            server_time_s: object.server_wait.as_secs_f64(),
            recorded: fetch.map(|fetch| FetchJson {
                connection: &fetch.connection,
                started_s: fetch.started.as_secs_f64(),
                first_byte_s: fetch.first_byte.as_secs_f64(),
                finished_s: fetch.finished.as_secs_f64(),
                wait_s: fetch.wait.as_secs_f64(),
                least_server_time_s: fetch.least_server_time.as_secs_f64(),
                most_server_time_s: fetch.most_server_time.as_secs_f64(),
                revealed_by: fetch.revealed_by.key(),
            }),
        }
    }
}
