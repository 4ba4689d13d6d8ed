//! From fetches to a page: hosts, what they speak and how far they are, objects, and the notes.

use super::discovery;
use super::error::{HarError, Problem};
use super::fetch::Fetch;
use super::recording::Recording;
use super::sizes::{Conflict, Known};
use crate::page::{Discovery, HostId, Object, ObjectKind, Page, PageHost};
use crate::{HTTP11_CONNECTIONS, Http, Tls};
use std::collections::BTreeMap;
use units::{Duration, counted};

/// Connections that a browser opens at once to a server that closes after every response.
const HTTP10_CONNECTIONS: u32 = 6;

pub(super) fn build(recording: Recording, file: &str) -> Result<Page, HarError> {
    let fetches = &recording.fetches;
    let (discoveries, document) = discovery::infer(fetches);
    let hosts = Hosts::of(fetches);
    let mut objects: Vec<Object> = discoveries
        .into_iter()
        .enumerate()
        .map(|(index, discovery)| hosts.object(&fetches[index], hosts.of_fetch[index], discovery))
        .collect();
    objects[document].kind = ObjectKind::Html;
    let events = recording.events.after(&fetches[document]);
    let mut notes = notes(&recording, &hosts);
    notes.extend(events.note(fetches));
    let name = fetches[document].label.clone();
    let page = Page::new(name, hosts.list.into_iter().map(|s| s.host).collect(), objects);
    page.map(|p| events.mark(p, fetches).with_notes(notes))
        .map_err(|e| HarError::new(file, Problem::Page(e)))
}

struct Hosts {
    list: Vec<Server>,
    /// Per fetch, the index of its host.
    of_fetch: Vec<usize>,
    /// The shortest round trip to any host.
    rtt: Option<Duration>,
}

struct Server {
    host: PageHost,
    /// The highest HTTP version seen; `None` if no entry says.
    http: Option<Http>,
    /// The shortest time TCP took to connect, which is one round trip.
    rtt: Option<Duration>,
}

impl Hosts {
    fn of(fetches: &[Fetch]) -> Self {
        let mut hosts = Self { list: Vec::new(), of_fetch: Vec::new(), rtt: None };
        let mut known = BTreeMap::new();
        for fetch in fetches {
            let origin = (fetch.url.scheme(), name(fetch));
            let index = *known.entry(origin).or_insert_with_key(|(scheme, name)| {
                hosts.list.push(Server::new(scheme, name));
                hosts.list.len() - 1
            });
            let server = &mut hosts.list[index];
            server.http = server.http.max_by_age(fetch.http);
            server.rtt = min(server.rtt, fetch.tcp_connect);
            hosts.of_fetch.push(index);
        }
        for server in &mut hosts.list {
            server.host.http = server.http.unwrap_or(Http::Http11);
            hosts.rtt = min(hosts.rtt, server.rtt);
        }
        hosts
    }

    fn object(&self, fetch: &Fetch, host: usize, discovery: Discovery) -> Object {
        let rtt = self.list[host].rtt.or(self.rtt).unwrap_or_default();
        Object {
            label: fetch.label.clone(),
            host: HostId(host as u32),
            kind: fetch.kind,
            request_bytes: fetch.request_bytes,
            response_header_bytes: fetch.sizes.header,
            body_bytes: fetch.sizes.body,
            // A recording's `wait` holds the trips of request and first byte.
            server_wait: fetch.wait.saturating_sub(rtt),
            discovery,
        }
    }

    /// The names of HTTP/1.x hosts of which more responses were arriving at once than they had
    /// connections.
    fn overlapping(&self, fetches: &[Fetch]) -> impl Iterator<Item = &str> {
        let mut changes = vec![Vec::new(); self.list.len()];
        for (fetch, host) in fetches.iter().zip(&self.of_fetch) {
            changes[*host].extend([(fetch.first_byte, 1), (fetch.finished, -1)]);
        }
        let overlaps = |(server, changes): &(&Server, Vec<(Duration, i32)>)| {
            server.host.http != Http::Http2 && most_at_once(changes) > HTTP11_CONNECTIONS as i32
        };
        self.list.iter().zip(changes).filter(overlaps).map(|(s, _)| s.host.name.as_str())
    }
}

impl Server {
    fn new(scheme: &str, name: &str) -> Self {
        let host = PageHost {
            name: name.to_owned(),
            http: Http::Http11,
            tls: if scheme == "https" { Tls::Tls13 } else { Tls::None },
            http10_connections: HTTP10_CONNECTIONS,
        };
        Self { host, http: None, rtt: None }
    }
}

/// The highest sum of changes in order of time; at the same instant ends come before beginnings.
fn most_at_once(changes: &[(Duration, i32)]) -> i32 {
    let mut changes = changes.to_vec();
    changes.sort_unstable();
    let sums = changes.iter().scan(0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.max().unwrap_or(0)
}

trait MaxByAge {
    fn max_by_age(self, other: Self) -> Self;
}

impl MaxByAge for Option<Http> {
    /// The newer of two versions.
    fn max_by_age(self, other: Self) -> Self {
        let age = |http: &Option<Http>| match http {
            None => 0,
            Some(Http::Http10) => 1,
            Some(Http::Http11 | Http::Persistent) => 2,
            Some(Http::Http2) => 3,
        };
        if age(&other) > age(&self) { other } else { self }
    }
}

fn min(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    a.into_iter().chain(b).min()
}

/// Host and, where it is not the scheme's own, port.
fn name(fetch: &Fetch) -> String {
    let host = fetch.url.host_str().unwrap_or_default();
    match fetch.url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn notes(recording: &Recording, hosts: &Hosts) -> Vec<String> {
    let fetches = &recording.fetches;
    let mut notes: Vec<String> = recording
        .skipped
        .iter()
        .map(|(skipped, count)| format!("skipped {} {}", counted(*count, "request"), skipped.why()))
        .collect();
    notes.extend(recording.of_several.clone());
    let mut note = |count: usize, text: &str| {
        if count > 0 {
            notes.push(format!("{}{text}", counted(count, "request")));
        }
    };
    let known = |known: Known| fetches.iter().filter(|f| f.sizes.known == known).count();
    note(known(Known::FromContent), ": size taken from the content, not counted on the wire");
    note(
        known(Known::FromContentCompressed),
        ": size taken from the content although it was compressed, so it is too large",
    );
    note(known(Known::Not), ": size unknown, body counted as empty");
    let contradicted =
        |how: Conflict| fetches.iter().filter(|f| f.sizes.conflict == Some(how)).count();
    note(
        contradicted(Conflict::TooLarge),
        ": more bytes were transferred than the content has; the transferred bytes are loaded",
    );
    note(
        contradicted(Conflict::TooSmall),
        ": fewer bytes were transferred than the content has, although it was not compressed; the transferred bytes \
         are loaded",
    );
    note(fetches.iter().filter(|f| f.http3).count(), " over HTTP/3, loaded by HTTP/2's rules");
    notes.extend(host_notes(hosts));
    notes.extend(hosts.overlapping(fetches).map(|name| {
        format!(
            "{name}: more responses overlap than {HTTP11_CONNECTIONS} connections carry, so the \
             recorded waits hold queueing that counts as server time"
        )
    }));
    let dns = fetches.iter().fold(Duration::ZERO, |sum, f| sum + f.dns);
    if dns >= Duration::from_micros(100) {
        let millis = dns.as_micros() as f64 / 1e3;
        notes.push(format!("name lookups ({millis:.1} ms in all) are not part of the load"));
    }
    notes
}

fn host_notes(hosts: &Hosts) -> Vec<String> {
    let mut notes = Vec::new();
    for server in hosts.list.iter().filter(|s| s.http.is_none()) {
        notes.push(format!("{}: HTTP version unknown, taken as 1.1", server.host.name));
    }
    match hosts.rtt {
        Some(rtt) => notes.push(format!(
            "server time is the recorded wait less the round trip of the recording, {:.1} ms or \
             more by host",
            rtt.as_micros() as f64 / 1e3
        )),
        None => notes.push(
            "no time of a TCP handshake is in the recording, so its round trip is unknown and part of \
             the server time"
                .to_owned(),
        ),
    }
    notes
}
