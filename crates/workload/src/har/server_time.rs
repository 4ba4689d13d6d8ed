//! The servers' times: between the bounds that the recording's line leaves, those of responses that
//! did not wait for it.

use super::line::ServerTimeBounds;
use crate::page::ServerTimeConfidence;
use units::Duration;

/// The servers' times of a recording, by fetch.
#[derive(Clone, Debug)]
pub(super) struct ServerTimes {
    pub(super) times: Vec<Duration>,
    pub(super) confidence: ServerTimeConfidence,
}

/// One response, as far as its server's time is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) bounds: ServerTimeBounds,
    pub(super) host: usize,
    /// Documents are made and files are read: their servers' times have little in common.
    pub(super) is_document: bool,
    /// Its `wait` began before its request was sent, by an unknown time.
    pub(super) began_early: bool,
}

/// Bounds this much apart are one measurement: an eighth of the time or of a round trip, and at
/// least five milliseconds.
const ONE_MEASUREMENT: u64 = 8;
const SAME_TIME: Duration = Duration::from_millis(5);

/// Loads differ by this much, and by half a round trip, for other reasons.
const NOTICED: Duration = Duration::from_millis(10);

/// Chooses a time between the bounds of each response. `rtt` is the recording's round trip.
pub(super) fn server_times(responses: &[Response], rtt: Duration) -> ServerTimes {
    let estimator = Estimator { responses, rtt };
    let unnoticed = NOTICED.max(Duration::from_nanos(rtt.as_nanos() / 2));
    let waited = |response: &&Response| {
        let ServerTimeBounds { least, most } = response.bounds;
        !estimator.is_measured(response) && most.saturating_sub(least) > unnoticed
    };
    let waited: Vec<&Response> = responses.iter().filter(waited).collect();
    let alone = |response: &&&Response| estimator.measured_beside(response).is_none();
    let confidence = match (waited.len(), waited.iter().filter(alone).count()) {
        (0, _) => ServerTimeConfidence::Measured,
        (responses, 0) => ServerTimeConfidence::Estimated { responses },
        (responses, _) => ServerTimeConfidence::Assumed { responses },
    };
    let times = responses.iter().map(|response| estimator.time(response)).collect();
    ServerTimes { times, confidence }
}

struct Estimator<'a> {
    responses: &'a [Response],
    rtt: Duration,
}

impl Estimator<'_> {
    fn is_measured(&self, response: &Response) -> bool {
        let ServerTimeBounds { least, most } = response.bounds;
        let share = Duration::from_nanos(most.max(self.rtt).as_nanos() / ONE_MEASUREMENT);
        response.began_early || most.saturating_sub(least) <= share.max(SAME_TIME)
    }

    /// Responses of the same host and sort.
    fn beside(&self, response: &Response) -> impl Iterator<Item = &Response> {
        let Response { host, is_document, .. } = *response;
        self.responses.iter().filter(move |r| r.host == host && r.is_document == is_document)
    }

    /// The median of the measured times of the same host and sort.
    fn measured_beside(&self, response: &Response) -> Option<Duration> {
        let measured = self.beside(response).filter(|one| self.is_measured(one));
        let mut times: Vec<Duration> = measured.map(|one| one.bounds.most).collect();
        times.sort_unstable();
        times.get(times.len().saturating_sub(1) / 2).copied()
    }

    /// The measured time, or what is usual beside it: the median of measured times, else the time
    /// of the response that can have waited least.
    fn time(&self, response: &Response) -> Duration {
        let ServerTimeBounds { least, most } = response.bounds;
        if self.is_measured(response) {
            return most;
        }
        let shortest = || self.beside(response).map(|one| one.bounds.most).min();
        let usual = self.measured_beside(response).or_else(shortest).unwrap_or(most);
        usual.max(least).min(most)
    }
}
