//! Counts of what was read, and of what is in no result.

use capture::Tally;
use trace::ProfileSurvey;

/// Counts of the captures, beside the findings.
#[derive(Default)]
pub(super) struct ReadCapture<'a> {
    pub(super) tally: Tally,
    pub(super) survey: Option<&'a ProfileSurvey>,
    pub(super) left_out: LeftOut,
}

/// Counts of what is in no result, because it was not named or chosen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftOut {
    /// Connections that named servers opened themselves.
    pub(super) opened_by_servers: u64,
    /// Connections of named servers with clients that were not named.
    pub(super) of_other_clients: u64,
    /// Segments beside `--from` and `--to`.
    pub(super) segments_by_time: u64,
    /// Segments of clients that were not named.
    pub(super) segments_by_client: u64,
}

impl LeftOut {
    /// Connections.
    pub(super) const fn connections(&self) -> u64 {
        self.opened_by_servers + self.of_other_clients
    }
}
