//! `headstart analyze --access-log`: what a gateway that remembers networks would have to keep for a server, and whom it
//! would help (Zhang, Qiu & Keshav 2000 §5.2), from the server's access log.

mod lines;
mod page;
mod summary;

use crate::failure::{Failure, FirstFailure};
use crate::stdout;
use findings::{RequestWatch, SharingFindings};
use page::LogPage;
use serde::Serialize;
use std::path::Path;
use units::Instant;
use weblog::{DomainFindings, DomainWatch, LogRequest};

/// What a log says.
#[derive(Serialize)]
struct AccessLogFindings {
    /// Lines.
    lines: u64,
    /// Of these, lines that could not be read.
    unread_lines: u64,
    /// Requests of images, which are left out as in the paper.
    images: u64,
    /// First and last request, seconds since 1970.
    begin: Option<f64>,
    end: Option<f64>,
    #[serde(flatten)]
    sharing: SharingFindings,
    domains: DomainFindings,
}

/// Watches the requests of a log.
#[derive(Default)]
struct LogWatch {
    requests: RequestWatch,
    domains: DomainWatch,
    images: u64,
    span: Option<(Instant, Instant)>,
}

impl LogWatch {
    fn take(&mut self, request: &LogRequest<'_>) {
        self.domains.on_request(request.client, request.name.as_deref());
        if request.is_image {
            self.images += 1;
            return;
        }
        let at = request.at;
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
        self.requests.on_request(at, request.client);
    }
}

/// How often networks of a log ask again, whose names they have, and what could not be read.
///
/// # Errors
/// If no line can be read.
pub(crate) fn read(
    path: &Path,
) -> Result<(SharingFindings, DomainFindings, Result<(), Failure>), Failure> {
    read_each(path, |_| {})
}

/// The same, and hands each request that is of no image to `take`.
///
/// # Errors
/// If no line can be read.
pub(crate) fn read_each(
    path: &Path,
    mut take: impl FnMut(&LogRequest<'_>),
) -> Result<(SharingFindings, DomainFindings, Result<(), Failure>), Failure> {
    let mut watch = LogWatch::default();
    let (counts, mut verdict) = lines::read(path, |request| {
        watch.take(request);
        if !request.is_image {
            take(request);
        }
    })?;
    if counts.lines == counts.wrong {
        verdict?;
        verdict = Ok(());
    }
    Ok((watch.requests.findings(), watch.domains.findings(), verdict))
}

/// Says what a log says, and writes it to a page, too, if one is named.
pub(super) fn run(path: &Path, json: bool, report: Option<&Path>) -> Result<(), Failure> {
    let page = report.map(|page| LogPage::begin(page, path)).transpose()?;
    let mut watch = LogWatch::default();
    let (counts, verdict) = lines::read(path, |request| watch.take(request))?;
    let found = AccessLogFindings {
        lines: counts.lines,
        unread_lines: counts.wrong,
        images: watch.images,
        begin: watch.span.map(|(first, _)| first.as_secs_f64()),
        end: watch.span.map(|(_, last)| last.as_secs_f64()),
        sharing: watch.requests.findings(),
        domains: watch.domains.findings(),
    };
    let something = counts.lines > counts.wrong;
    let mut ended = FirstFailure::default();
    ended.note(match json {
        true => stdout::print_json(&found),
        false if something => summary::print(&found),
        false => Ok(()),
    });
    ended.note(page.filter(|_| something).map_or(Ok(()), |page| page.end(&found)));
    ended.note(verdict);
    ended.end()
}
