//! `headstart analyze --access-log`: reads a server's access log. It shows what a gateway that
//! remembers networks would have to keep for that server, and which visitors it would help (Zhang,
//! Qiu & Keshav 2000 §5.2).

mod page;
mod summary;

use super::args::AnalyzeArgs;
use cmdline::captures::access_log::{LogWatch, read_lines};
use cmdline::{Failure, FirstFailure, stdout};
use findings::SharingFindings;
use findings::access_log::{DomainFindings, LogReader};
use page::LogPage;
use serde::Serialize;
use std::path::Path;

/// Findings of a log.
#[derive(Serialize)]
struct AccessLogFindings {
    /// Lines.
    lines: u64,
    /// Number of those that could not be read.
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

/// Says what a log says, and writes it to a page, too, if one is named.
pub(super) fn run(path: &Path, args: &AnalyzeArgs) -> Result<(), Failure> {
    let json = args.json().is_some();
    let page = args.report.as_deref().map(|page| LogPage::check_path(page, path)).transpose()?;
    let mut watch = LogWatch::default();
    let (counts, verdict) =
        read_lines(path, LogReader::new(args.log_format.clone()), |request| watch.take(request))?;
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
