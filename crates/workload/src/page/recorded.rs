//! The load that a browser recorded, beside the page that its recording gives.

use super::{HostId, ObjectId};
use units::{Duration, Rate};

/// The load that a page was recorded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLoad {
    /// The highest rate at which responses were delivered. The recording's line may have been
    /// faster.
    pub rate: Option<Rate>,
    /// The shortest round trip to any host; `None` if the recording has no handshake.
    pub rtt: Option<Duration>,
    /// Time of the browser's event `load`; `None` if the file has none that can be believed.
    pub load_event: Option<Duration>,
    /// Confidence in the servers' times.
    pub server_times: ServerTimeConfidence,
    /// The redirects before the document, in order.
    pub redirects: Vec<ObjectId>,
    /// The hosts, in the order of [`HostId`].
    pub hosts: Vec<RecordedHost>,
    /// The requests, in the order of [`ObjectId`].
    pub fetches: Vec<RecordedFetch>,
    /// Requests that are no part of the page.
    pub left_out: Vec<LeftOut>,
}

impl RecordedLoad {
    /// Words beside a limit that holds for this recording alone, because it does not separate the
    /// servers' times from its own line. `None` if it does.
    pub const fn limit_mark(&self) -> Option<&'static str> {
        match self.server_times {
            ServerTimeConfidence::Measured => None,
            _ => Some("limit of this recording"),
        }
    }
}

/// Confidence in the servers' times, which a recording mixes with time behind other responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTimeConfidence {
    /// No response waited for the recording's line by more than half a round trip.
    Measured,
    /// Responses waited. Each of their hosts has other responses that did not, whose times are
    /// taken.
    Estimated {
        /// Responses that waited.
        responses: usize,
    },
    /// All responses of a host waited. The time of the one that waited least is taken.
    Assumed {
        /// Responses that waited.
        responses: usize,
    },
}

/// A host as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedHost {
    /// The round trip to it: the shortest TCP handshake that began with a request. If all began
    /// ahead of their requests, it is the longest rest of one, or a `wait` that is as long.
    /// `None` if there is no handshake.
    pub rtt: Option<Duration>,
    /// The longest lookup of its name, 0 if it was known; `None` if no entry has one.
    pub lookup: Option<Duration>,
    /// Number of its connections, as far as the file numbers them.
    pub connections: usize,
    /// Evidence for its HTTP version.
    pub version_by: VersionEvidence,
    /// Round trips of its TLS handshakes, the median. `None` if the recording does not show them.
    pub tls_round_trips: Option<u32>,
}

/// Evidence for the HTTP version of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionEvidence {
    /// Entries name it.
    Named,
    /// Headers that only HTTP/2 and HTTP/3 have, like `:authority` (RFC 9113 §8.3).
    PseudoHeaders,
    /// More responses overlap than HTTP/1.1 allows.
    Overlap,
    /// No evidence: HTTP/1.1 is assumed.
    Nothing,
}

/// One request as recorded. Times count from the first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFetch {
    /// Its host.
    pub host: HostId,
    /// Its connection, as the file names it; empty if it does not.
    pub connection: String,
    /// Time of the browser's request.
    pub started: Duration,
    /// Time of the response's first byte.
    pub first_byte: Duration,
    /// Time of the response's last byte.
    pub finished: Duration,
    /// Time between the request and the first byte.
    pub wait: Duration,
    /// Lower bound of the server's time.
    pub least_server_time: Duration,
    /// Upper bound of the server's time.
    pub most_server_time: Duration,
    /// Evidence for the request that revealed it.
    pub revealed_by: RevealEvidence,
}

/// Evidence for the object that revealed another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevealEvidence {
    /// The parent redirected to it.
    Redirect,
    /// The browser names that object, as initiator or referrer.
    Named,
    /// Its time alone: that object ended last before the request, or is the document.
    Time,
}

impl RevealEvidence {
    /// Its name in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Named => "named",
            Self::Time => "time",
        }
    }
}

/// Requests that a page leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The reason.
    pub reason: &'static str,
    /// Number of requests.
    pub requests: usize,
}
