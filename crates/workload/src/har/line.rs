//! The line of the recording: how fast it delivered, and which part of each `wait` may have been
//! spent behind it.
//!
//! `wait` is a round trip, the server's time, and the time behind other responses. A server sends
//! responses one after another on one connection, and responses of several connections share the
//! line. Three bounds hold for the server's time:
//!
//! - At most it is `wait` less the round trip.
//! - A line that had nothing to deliver would have delivered the response. So the server was not
//!   ready before the busy period that ends with the first byte. It is busy while it delivers at
//!   least four fifths of its rate.
//! - A line is first in, first out, between connections. If a response of another connection came
//!   first although it was requested later, this one was not ready when the other was on the line.
//!
//! Between the bounds nothing in the recording separates the two.

use super::curve::{Curve, Delivery};
use super::fetch::Fetch;
use std::collections::BTreeMap;
use units::{Duration, Rate};

/// A line is busy above this share of its rate; headers of packets and pauses of the sender take
/// the rest.
const BUSY_SHARE: f64 = 0.8;

/// Ten segments of 1460 bytes, the first flight of a connection (RFC 6928). Fewer bytes show no
/// rate, and this is also the resolution of the order of bytes within a response.
const FLIGHT_BYTES: f64 = 14_600.0;

/// Ten gigabits a second in bytes a millisecond. Faster ones were rounded to no time.
const UNTIMED_BYTES_PER_MS: f64 = 1.25e6;

/// A full packet's bytes.
const PACKET_BYTES: f64 = 1_460.0;

/// The share of all bytes that were delivered at no more than the line's rate. The rest was read
/// late, and therefore at once.
const RATE_QUANTILE: f64 = 0.9;

/// Bounds of the server's time of one response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ServerTimeBounds {
    pub(super) least: Duration,
    pub(super) most: Duration,
}

/// One response on the line.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// Connection, by number, if the file names it.
    connection: Option<usize>,
    host: usize,
    /// Whether responses of its connection may have overtaken it.
    is_multiplexed: bool,
    /// Time of sending the request.
    sent_ms: f64,
    rtt_ms: f64,
    /// The server's time if nothing else was in `wait`.
    most: Duration,
    delivery: Delivery,
}

/// All deliveries, and the highest rate.
#[derive(Clone, Debug)]
pub(super) struct RecordedLine {
    answers: Vec<Answer>,
    curve: Curve,
    /// `None` if the page has too few bytes, or no times.
    bytes_per_ms: Option<f64>,
}

/// Facts about the host of a fetch.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostOfFetch {
    pub(super) index: usize,
    pub(super) rtt: Duration,
    pub(super) is_multiplexed: bool,
}

impl RecordedLine {
    pub(super) fn new(fetches: &[Fetch], hosts: impl Fn(usize) -> HostOfFetch) -> Self {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for fetch in fetches.iter().filter(|fetch| !fetch.connection.is_empty()) {
            let number = names.len();
            names.entry(&fetch.connection).or_insert(number);
        }
        let answer = |(index, fetch): (usize, &Fetch)| {
            let host = hosts(index);
            Answer {
                connection: names.get(fetch.connection.as_str()).copied(),
                host: host.index,
                is_multiplexed: host.is_multiplexed,
                sent_ms: ms(fetch.first_byte.saturating_sub(fetch.wait)),
                rtt_ms: ms(host.rtt),
                most: fetch.wait.saturating_sub(host.rtt),
                delivery: Delivery {
                    from_ms: ms(fetch.first_byte),
                    to_ms: ms(fetch.finished),
                    bytes: (fetch.sizes.header + fetch.sizes.body) as f64,
                },
            }
        };
        let answers: Vec<Answer> = fetches.iter().enumerate().map(answer).collect();
        let deliveries: Vec<Delivery> = answers.iter().map(|a| a.delivery).collect();
        let bytes_per_ms = highest_rate(&Curve::new(&deliveries), &deliveries);
        let parts: Vec<Delivery> =
            answers.iter().flat_map(|answer| answer.response_parts(bytes_per_ms)).collect();
        Self { answers, curve: Curve::new(&parts), bytes_per_ms }
    }

    /// The highest rate at which the recording delivered; the line may have been faster.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.bytes_per_ms.map(|rate| Rate::from_bps((rate * 8e3).round() as u64))
    }

    /// The bounds of each server's time.
    pub(super) fn bounds(&self) -> Vec<ServerTimeBounds> {
        let mut order: Vec<usize> = (0..self.answers.len()).collect();
        order.sort_by(|a, b| {
            self.answers[*a].delivery.from_ms.total_cmp(&self.answers[*b].delivery.from_ms)
        });
        let mut least_ms = vec![0.0; self.answers.len()];
        for (place, index) in order.iter().enumerate() {
            let answer = &self.answers[*index];
            let most_ms = ms(answer.most);
            let mut bound_ms: f64 = most_ms - self.longest_queue_ms(answer).min(most_ms);
            if self.waits_for_the_line_alone(answer) {
                for other in &order[..place] {
                    let at_line_ms = self.answers[*other].at_line_ms(least_ms[*other]);
                    bound_ms = bound_ms.max(at_line_ms - answer.at_line_ms(0.0));
                }
            }
            least_ms[*index] = bound_ms.min(most_ms);
        }
        // Files have microseconds at best.
        let duration = |ms: f64| Duration::from_micros((ms * 1e3).round() as u64);
        let bound = |(answer, least_ms): (&Answer, f64)| ServerTimeBounds {
            least: duration(least_ms).min(answer.most),
            most: answer.most,
        };
        self.answers.iter().zip(least_ms).map(bound).collect()
    }

    /// The longest time that the response may have spent behind others.
    fn longest_queue_ms(&self, answer: &Answer) -> f64 {
        let Some(bytes_per_ms) = self.bytes_per_ms else { return 0.0 };
        let busy_bytes_per_ms = bytes_per_ms * BUSY_SHARE;
        let (ready_ms, first_ms) = (answer.sent_ms + answer.rtt_ms, answer.delivery.from_ms);
        let queued = self.curve.bytes_at(first_ms) - self.curve.bytes_at(ready_ms);
        let busy_ms = first_ms - self.busy_since_ms(ready_ms, first_ms, busy_bytes_per_ms);
        (queued / busy_bytes_per_ms).min(busy_ms).max(0.0)
    }

    /// The beginning of the busy period that ends at `until_ms`, not before `from_ms`.
    fn busy_since_ms(&self, from_ms: f64, until_ms: f64, busy_bytes_per_ms: f64) -> f64 {
        let delivered = self.curve.bytes_at(until_ms);
        let surplus = |at_ms: f64, bytes: f64| {
            delivered - bytes + FLIGHT_BYTES - busy_bytes_per_ms * (until_ms - at_ms)
        };
        let (mut since_ms, mut before) = (until_ms, FLIGHT_BYTES);
        for (at_ms, bytes) in self.curve.points_back(from_ms, until_ms) {
            let here = surplus(at_ms, bytes);
            if here < 0.0 {
                return since_ms - (since_ms - at_ms) * before / (before - here);
            }
            (since_ms, before) = (at_ms, here);
        }
        since_ms
    }

    /// Whether nothing else was delivered on its connection while it waited.
    fn waits_for_the_line_alone(&self, answer: &Answer) -> bool {
        let is_before = |other: &&Answer| {
            other.shares_connection(answer)
                && other.delivery.to_ms > answer.sent_ms + answer.rtt_ms
                && other.delivery.from_ms < answer.delivery.from_ms
        };
        !answer.is_multiplexed || !self.answers.iter().any(|other| is_before(&other))
    }
}

impl Answer {
    /// The response as it crossed the line. Alone on its connection, its first flight and its last
    /// crossed at the line's rate, and between them it waited for acknowledgements and for others.
    /// Beside others, only the first packet did.
    fn response_parts(&self, bytes_per_ms: Option<f64>) -> Vec<Delivery> {
        let Delivery { from_ms, to_ms, bytes } = self.delivery;
        let (first, last) =
            if self.is_multiplexed { (PACKET_BYTES, 0.0) } else { (FLIGHT_BYTES, FLIGHT_BYTES) };
        let first = bytes.min(first);
        let last = (bytes - first).min(last);
        let slower = bytes_per_ms.filter(|rate| (first + last) / rate < to_ms - from_ms);
        let Some(bytes_per_ms) = slower else { return vec![self.delivery] };
        let (sent_ms, rest_ms) = (from_ms + first / bytes_per_ms, to_ms - last / bytes_per_ms);
        let middle = bytes - first - last;
        vec![
            Delivery { from_ms, to_ms: sent_ms, bytes: first },
            Delivery { from_ms: sent_ms, to_ms: rest_ms, bytes: middle },
            Delivery { from_ms: rest_ms, to_ms, bytes: last },
        ]
    }

    /// The time at which it was on the line, for a server's time.
    fn at_line_ms(&self, server_time_ms: f64) -> f64 {
        self.sent_ms + self.rtt_ms / 2.0 + server_time_ms
    }

    /// Whether both came on one connection. If the file names none, a multiplexed host has one.
    fn shares_connection(&self, other: &Self) -> bool {
        match (self.connection, other.connection) {
            (Some(a), Some(b)) => a == b,
            _ => self.host == other.host && self.is_multiplexed,
        }
    }
}

/// The rate that nine tenths of the bytes did not exceed, bytes a millisecond. Each response is
/// measured from its first byte until it has ended, and until a flight and an eighth of the page
/// have been delivered. A line that had nothing to deliver for most of that time does not show its
/// rate.
fn highest_rate(curve: &Curve, deliveries: &[Delivery]) -> Option<f64> {
    let window = deliveries.iter().map(|one| one.bytes).sum::<f64>() / 8.0;
    let rate = |one: &Delivery| {
        let before = curve.bytes_at(one.from_ms);
        let until_ms = curve.time_ms_of(before + window.max(FLIGHT_BYTES))?.max(one.to_ms);
        let idle_ms = curve.idle_ms(one.from_ms, until_ms);
        (2.0 * idle_ms <= until_ms - one.from_ms).then_some(())?;
        Some(((curve.bytes_at(until_ms) - before) / (until_ms - one.from_ms), one.bytes))
    };
    let mut rates: Vec<(f64, f64)> = deliveries
        .iter()
        .filter_map(rate)
        .filter(|(rate, _)| rate.is_finite() && *rate > 0.0)
        .collect();
    rates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = rates.iter().map(|(_, bytes)| bytes).sum();
    let mut sum = 0.0;
    let highest = rates.into_iter().find_map(|(rate, bytes)| {
        sum += bytes;
        (sum >= RATE_QUANTILE * all).then_some(rate)
    });
    highest.filter(|rate| *rate < UNTIMED_BYTES_PER_MS)
}

/// Milliseconds.
fn ms(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}
