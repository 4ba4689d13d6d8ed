//! Notes for the reader of a recording: parts left out, estimates and inferences.

use super::fetch::{Fetch, Version};
use super::hosts::{Hosts, RecordedServer};
use super::reading::Reading;
use super::sizes::{Conflict, SizeSource};
use crate::page::{ObjectKind, ServerTimeConfidence, VersionEvidence};
use crate::{HTTP11_CONNECTIONS, Http, Tls};
use units::{Duration, counted};

/// The notes of a recording, the costly first.
pub(super) fn notes(reading: &Reading) -> Vec<String> {
    let recording = &reading.recording;
    let fetches = &recording.fetches;
    let mut notes: Vec<String> = redirect_note(reading).into_iter().collect();
    notes.extend(recording.pauses.clone());
    notes.extend(recording.skipped.iter().map(|(skipped, count)| {
        format!("skipped {} {}", counted(*count, "request"), skipped.reason())
    }));
    notes.extend(recording.of_several.clone());
    notes.extend(size_notes(fetches));
    let over_spdy = fetches.iter().filter(|f| f.version.stands_for() == Some("SPDY")).count();
    notes.extend(requests(over_spdy, " over SPDY, loaded by HTTP/2's rules"));
    notes.extend(reading.events().load_event_note(fetches));
    notes.extend(version_note(&reading.hosts, fetches));
    notes.extend(tls_notes(&reading.hosts));
    notes.extend(server_time_notes(reading));
    let hosts = reading.hosts.list.iter().zip(reading.hosts.overlap_flags(fetches));
    notes.extend(hosts.filter(|(_, overlaps)| *overlaps).map(|(server, _)| {
        let name = &server.host.name;
        format!(
            "{name}: more responses overlap than {HTTP11_CONNECTIONS} connections carry, so the \
             recorded waits hold queueing that counts as server time"
        )
    }));
    notes
}

/// A note on some requests; none if there are none.
fn requests(count: usize, text: &str) -> Option<String> {
    (count > 0).then(|| format!("{}{text}", counted(count, "request")))
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_nanos() as f64 / 1e6)
}

/// The cost of redirects before the document, or that they lead to none.
fn redirect_note(reading: &Reading) -> Option<String> {
    let fetches = &reading.recording.fetches;
    let chain = &reading.discovered.redirects;
    let document = reading.document();
    if document.kind == ObjectKind::Redirect {
        let target = document.redirect.as_ref()?;
        let visited = |index: &usize| fetches[*index].url == *target;
        let is_loop = *target == document.url || chain.iter().any(visited);
        let count = counted(chain.len() + 1, "redirect");
        return Some(match is_loop {
            true => format!(
                "a redirect loop without a document: {count}, the last back to {target}; a browser gives up there, so \
                 mend the redirects, or record again with the cookies that end them"
            ),
            false => format!(
                "{count} without a document: the last leads to {target}, which is not in the file"
            ),
        });
    }
    let first = fetches.get(*chain.first()?)?;
    // Connections to the document's own host would have to be opened without redirects, too.
    let own =
        |f: &Fetch| f.url.host() == document.url.host() && f.url.scheme() == document.url.scheme();
    let opening = chain.iter().map(|index| &fetches[*index]).filter(|f| own(f));
    let opening = opening.fold(Duration::ZERO, |sum, f| {
        sum + f.first_byte.saturating_sub(f.wait).saturating_sub(f.started)
    });
    let cost = document.started.saturating_sub(first.started).saturating_sub(opening);
    Some(format!(
        "{} before the document cost {} of the recording; link to {} itself",
        counted(chain.len(), "redirect"),
        millis(cost),
        document.label
    ))
}

fn size_notes(fetches: &[Fetch]) -> impl Iterator<Item = String> {
    let known = |known: SizeSource| fetches.iter().filter(|f| f.sizes.known == known).count();
    let contradicted =
        |how: Conflict| fetches.iter().filter(|f| f.sizes.conflict == Some(how)).count();
    [
        (known(SizeSource::FromContent), ": size taken from the content, not measured on the wire"),
        (
            known(SizeSource::FromContentCompressed),
            ": size taken from the content although it was compressed, so it is too large",
        ),
        (known(SizeSource::Not), ": size unknown, body taken as empty"),
        (
            contradicted(Conflict::TooLarge),
            ": more bytes were transferred than the content has; the transferred bytes are loaded",
        ),
        (
            contradicted(Conflict::TooSmall),
            ": fewer bytes were transferred than the content has, although it was not compressed; the transferred bytes \
             are loaded",
        ),
    ]
    .into_iter()
    .filter_map(|(count, text)| requests(count, text))
}

/// One note on all hosts whose HTTP version no entry names.
fn version_note(hosts: &Hosts, fetches: &[Fetch]) -> Option<String> {
    let by = |evidence: VersionEvidence| {
        hosts.list.iter().filter(|server| server.recorded.version_by == evidence).count()
    };
    let found = [
        (VersionEvidence::PseudoHeaders, "taken as HTTP/2 by headers that only it has"),
        (VersionEvidence::Overlap, "taken as HTTP/2, because their responses overlap"),
        (VersionEvidence::Nothing, "taken as HTTP/1.1, for want of evidence"),
    ];
    let found: Vec<String> = found
        .into_iter()
        .filter(|(evidence, _)| by(*evidence) > 0)
        .map(|(evidence, text)| format!("{} {text}", counted(by(evidence), "host")))
        .collect();
    let named = fetches.iter().find_map(|f| match &f.version {
        Version::Unnamed { text, .. } if !text.is_empty() => Some(format!(" ({text:?})")),
        _ => None,
    });
    let named = named.unwrap_or_default();
    (!found.is_empty()).then(|| format!("HTTP version unknown{named}: {}", found.join("; ")))
}

fn tls_notes(hosts: &Hosts) -> Vec<String> {
    let secure = hosts.list.iter().filter(|server| server.host.tls != Tls::None).count();
    let older: Vec<&RecordedServer> =
        hosts.list.iter().filter(|s| s.host.tls == Tls::Tls12).collect();
    let is_unknown = |server: &&RecordedServer| {
        // QUIC has TLS 1.3 (RFC 9001), and its handshake is no TCP handshake.
        server.host.tls != Tls::None
            && server.host.http != Http::Http3
            && server.recorded.tls_round_trips.is_none()
    };
    let unknown = hosts.list.iter().filter(is_unknown).count();
    let mut notes = Vec::new();
    if !older.is_empty() {
        notes.push(format!(
            "{} of {secure}: the TLS handshake took two round trips, so TLS 1.2 is loaded",
            counted(older.len(), "host")
        ));
    }
    if unknown > 0 {
        notes.push(format!(
            "{} of {secure}: the recorded handshakes do not show the TLS version, taken as 1.3",
            counted(unknown, "host")
        ));
    }
    notes
}

fn server_time_notes(reading: &Reading) -> Vec<String> {
    let mut notes = vec![match reading.hosts.rtt {
        Some(rtt) => format!(
            "server time is the recorded wait less the round trip of the recording, {} or more by host",
            millis(rtt)
        ),
        None => "no time of a TCP handshake is in the recording, so its round trip is unknown and part of \
                 the server time"
            .to_owned(),
    }];
    let rate = reading.line.rate().map_or(0.0, |rate| rate.as_bps() as f64 / 1e6);
    let (responses, taken) = match reading.server_times.confidence {
        ServerTimeConfidence::Measured => return notes,
        ServerTimeConfidence::Estimated { responses } => {
            (responses, "those of the same host's files that did not wait")
        }
        ServerTimeConfidence::Assumed { responses } => {
            (responses, "where all files of a host waited, that of the one that waited least")
        }
    };
    notes.push(format!(
        "{} waited behind others on the recording's line ({rate:.1} Mbit/s), so their server times are estimates: {taken}. \
         The limit is that of this recording",
        counted(responses, "response")
    ));
    notes
}
