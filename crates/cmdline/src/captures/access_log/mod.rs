//! Access logs of web servers: their lines, and how often networks ask again.

mod lines;

pub use lines::{LineCounts, read as read_lines};

use crate::failure::Failure;
use findings::access_log::{DomainFindings, DomainWatch, LogReader, LogRequest};
use findings::{RequestWatch, SharingFindings};
use std::path::Path;
use units::Instant;

/// Watches the requests of a log.
#[derive(Default)]
pub struct LogWatch {
    /// Requests of networks and hosts, without those of images.
    pub requests: RequestWatch,
    /// Names of clients.
    pub domains: DomainWatch,
    /// Requests of images, which are left out as in the paper.
    pub images: u64,
    /// First and last request.
    pub span: Option<(Instant, Instant)>,
}

impl LogWatch {
    /// Counts a request.
    pub fn take(&mut self, request: &LogRequest<'_>) {
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

/// Reads how often networks of a log ask again, whose names they have, and what could not be read.
///
/// # Errors
/// If no line can be read.
pub fn read(
    path: &Path,
) -> Result<(SharingFindings, DomainFindings, Result<(), Failure>), Failure> {
    read_each(path, |_| {})
}

/// The same, and hands each request that is of no image to `take`.
///
/// # Errors
/// If no line can be read.
pub fn read_each(
    path: &Path,
    mut take: impl FnMut(&LogRequest<'_>),
) -> Result<(SharingFindings, DomainFindings, Result<(), Failure>), Failure> {
    let mut watch = LogWatch::default();
    let (counts, mut verdict) = read_lines(path, LogReader::default(), |request| {
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
