//! A recording and its derived values, of which a page and its notes are made.

use super::discovery::{self, Discovered};
use super::events::Events;
use super::fetch::Fetch;
use super::hosts::Hosts;
use super::line::{RecordedLine, ServerTimeBounds};
use super::recording::{Recording, Skipped};
use super::server_time::{Response, ServerTimes, server_times};
use crate::page::{
    HostId, LeftOut, Object, ObjectId, ObjectKind, PageHost, RecordedFetch, RecordedLoad,
};

/// A recording and its derived values.
pub(super) struct Reading {
    pub(super) recording: Recording,
    pub(super) discovered: Discovered,
    pub(super) hosts: Hosts,
    pub(super) line: RecordedLine,
    pub(super) server_times: ServerTimes,
    bounds: Vec<ServerTimeBounds>,
}

impl Reading {
    pub(super) fn of(recording: Recording) -> Self {
        let fetches = &recording.fetches;
        let discovered = discovery::infer_discoveries(fetches);
        let hosts = Hosts::of(fetches);
        let line = RecordedLine::new(fetches, |fetch| hosts.of_fetch(fetch));
        let bounds = line.bounds();
        let overlapping: Vec<bool> = hosts.overlap_flags(fetches).collect();
        let response = |(index, fetch): (usize, &Fetch)| Response {
            bounds: bounds[index],
            host: hosts.index_of[index],
            is_document: matches!(fetch.kind, ObjectKind::Html | ObjectKind::Redirect),
            began_early: overlapping[hosts.index_of[index]],
        };
        let responses: Vec<Response> = fetches.iter().enumerate().map(response).collect();
        let server_times = server_times(&responses, hosts.rtt.unwrap_or_default());
        Self { recording, discovered, hosts, line, server_times, bounds }
    }

    /// The document, or the last redirect of those that lead to none.
    pub(super) fn document(&self) -> &Fetch {
        &self.recording.fetches[self.discovered.document]
    }

    /// The browser's events that can be believed.
    pub(super) fn events(&self) -> Events {
        self.recording.events.events_after(self.document())
    }

    pub(super) fn page_hosts(&self) -> Vec<PageHost> {
        self.hosts.list.iter().map(|server| server.host.clone()).collect()
    }

    pub(super) fn objects(&self) -> Vec<Object> {
        let object = |(index, fetch): (usize, &Fetch)| Object {
            label: fetch.label.clone(),
            host: self.host(index),
            kind: if index == self.discovered.document { ObjectKind::Html } else { fetch.kind },
            request_bytes: fetch.request_bytes,
            response_header_bytes: fetch.sizes.header,
            body_bytes: fetch.sizes.body,
            server_wait: self.server_times.times[index],
            discovery: self.discovered.discoveries[index].discovery,
        };
        self.recording.fetches.iter().enumerate().map(object).collect()
    }

    pub(super) fn recorded(&self) -> RecordedLoad {
        let fetch = |(index, fetch): (usize, &Fetch)| RecordedFetch {
            host: self.host(index),
            connection: fetch.connection.clone(),
            started: fetch.started,
            first_byte: fetch.first_byte,
            finished: fetch.finished,
            wait: fetch.wait,
            least_server_time: self.bounds[index].least,
            most_server_time: self.bounds[index].most,
            revealed_by: self.discovered.discoveries[index].evidence,
        };
        let left_out = |(why, requests): (&Skipped, &usize)| LeftOut {
            reason: why.reason(),
            requests: *requests,
        };
        let redirects = self.discovered.redirects.iter();
        RecordedLoad {
            rate: self.line.rate(),
            rtt: self.hosts.rtt,
            load_event: self.events().load(),
            server_times: self.server_times.confidence,
            redirects: redirects.map(|index| ObjectId(*index as u32)).collect(),
            hosts: self.hosts.list.iter().map(|server| server.recorded.clone()).collect(),
            fetches: self.recording.fetches.iter().enumerate().map(fetch).collect(),
            left_out: self.recording.skipped.iter().map(left_out).collect(),
        }
    }

    fn host(&self, fetch: usize) -> HostId {
        HostId(self.hosts.index_of[fetch] as u32)
    }
}
