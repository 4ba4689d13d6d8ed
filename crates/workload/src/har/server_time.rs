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

/// True if two bounds of a time that is about `scale` are one measurement.
pub(super) fn is_one_measurement(least: Duration, most: Duration, scale: Duration) -> bool {
    let share = Duration::from_nanos(scale.as_nanos() / ONE_MEASUREMENT);
    most.saturating_sub(least) <= share.max(SAME_TIME)
}

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
        response.began_early || is_one_measurement(least, most, most.max(self.rtt))
    }

    /// Responses of the same host and sort.
    fn similar_responses(&self, response: &Response) -> impl Iterator<Item = &Response> {
        let Response { host, is_document, .. } = *response;
        self.responses.iter().filter(move |r| r.host == host && r.is_document == is_document)
    }

    /// The median of the measured times of the same host and sort.
    fn measured_beside(&self, response: &Response) -> Option<Duration> {
        let measured = self.similar_responses(response).filter(|one| self.is_measured(one));
        let mut times: Vec<Duration> = measured.map(|one| one.bounds.most).collect();
        times.sort_unstable();
        times.get(times.len().saturating_sub(1) / 2).copied()
    }

    /// The measured time, or the usual one beside it: the median of measured times, else the time
    /// of the response that can have waited least.
    fn time(&self, response: &Response) -> Duration {
        let ServerTimeBounds { least, most } = response.bounds;
        if self.is_measured(response) {
            return most;
        }
        let shortest = || self.similar_responses(response).map(|one| one.bounds.most).min();
        let usual = self.measured_beside(response).or_else(shortest).unwrap_or(most);
        usual.max(least).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::{Response, ServerTimes, server_times};
    use crate::har::line::ServerTimeBounds;
    use crate::page::ServerTimeConfidence;
    use units::Duration;

    /// A file of a host whose server took between two times, in milliseconds.
    fn file(host: usize, least: u64, most: u64) -> Response {
        let bounds = ServerTimeBounds {
            least: Duration::from_millis(least),
            most: Duration::from_millis(most),
        };
        Response { bounds, host, is_document: false, began_early: false }
    }

    fn of(responses: &[Response]) -> (Vec<u64>, ServerTimeConfidence) {
        let ServerTimes { times, confidence } = server_times(responses, Duration::from_millis(20));
        (times.iter().map(|time| time.as_millis()).collect(), confidence)
    }

    #[test]
    fn the_usual_time_of_the_host_is_moved_between_the_bounds() {
        // Times of 30 and 34 ms are measured, and their lower median is 30.
        let files =
            [file(0, 30, 30), file(0, 32, 34), file(0, 0, 900), file(0, 50, 900), file(0, 0, 20)];
        let estimated = ServerTimeConfidence::Estimated { responses: 3 };
        assert_eq!(of(&files), (vec![30, 34, 30, 50, 20], estimated));
    }

    #[test]
    fn a_host_whose_files_all_waited_has_the_time_of_the_shortest_wait() {
        let files = [file(0, 5, 5), file(1, 0, 300), file(1, 0, 120), file(1, 200, 500)];
        let assumed = ServerTimeConfidence::Assumed { responses: 3 };
        assert_eq!(of(&files), (vec![5, 120, 120, 200], assumed));
    }

    #[test]
    fn documents_and_waits_of_unknown_beginning_are_apart() {
        let document = Response { is_document: true, ..file(0, 200, 200) };
        let early = Response { began_early: true, ..file(0, 0, 700) };
        assert_eq!(of(&[document, file(0, 4, 4), file(0, 0, 900)]).0, [200, 4, 4]);
        assert_eq!(of(&[document, early]), (vec![200, 700], ServerTimeConfidence::Measured));
    }

    /// Ten milliseconds, half of the round trip, are of no note.
    #[test]
    fn a_short_wait_leaves_the_times_measured() {
        let confidence = |most| of(&[file(0, 2, 2), file(0, 2, most)]).1;
        assert_eq!(confidence(12), ServerTimeConfidence::Measured);
        assert_eq!(confidence(13), ServerTimeConfidence::Estimated { responses: 1 });
    }
}
