//! The truth of a row: the time of its transfers and their causes, as construction and kernel
//! prove them.

use super::crossing::Crossing;
use super::exchange::{self, ServerExchange};
use super::played::{Played, PlayedConnection};
use super::row::{KernelEvidence, TruthRow};
use serde::Serialize;
use trace::TimeShare;
use units::{Duration, Instant};

/// The known times and causes of a row's transfers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowTruth {
    /// Causes, one of which is the first.
    #[serde(serialize_with = "super::cause::serialize_causes")]
    pub first: Vec<TimeShare>,
    /// Time of all transfers together, as the server saw it, seconds.
    pub total_s: f64,
    /// Transfers.
    pub transfers: usize,
    /// Shares of that time that are known.
    pub shares: Vec<TrueShare>,
    /// Retransmitted segments, by the counters of both kernels.
    pub retransmissions: u64,
    /// Time limited by the receiver's window (`tcpi_rwnd_limited` of the servers), seconds.
    pub rwnd_limited_s: f64,
    /// Time limited by the send buffer (`tcpi_sndbuf_limited` of the servers), seconds. Linux adds
    /// to it only if the last packet was sent after a write found the buffer full.
    pub sndbuf_limited_s: f64,
    /// Time within writes in which everything in the buffer is sent and the congestion window has
    /// room, seconds.
    pub blocked_s: f64,
    /// Time with data outstanding, seconds.
    pub busy_s: f64,
    /// Contradictions to the kernel's counters: the row's conditions were not as planned.
    pub contradictions: Vec<String>,
}

/// A share of the time, in `0..=1`. Where construction proves a range alone, both ends of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrueShare {
    /// The cause.
    #[serde(serialize_with = "super::cause::serialize_cause")]
    pub cause: TimeShare,
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

impl TrueShare {
    /// Returns the distance of a share from the range, in percentage points: negative if the share
    /// is too small.
    pub fn error_points(&self, share: f64) -> f64 {
        100.0 * (share - share.clamp(self.low, self.high))
    }
}

/// Sums of all transfers of a row, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct KnownSums {
    transfers: usize,
    total: f64,
    handshake: f64,
    tls: f64,
    request: f64,
    think: f64,
    slept: f64,
    held: f64,
    blocked: f64,
    /// Time for transmitting the responses, and a round trip for each.
    path: f64,
    busy: f64,
    rwnd_limited: f64,
    sndbuf_limited: f64,
    /// Round trips until the initial window has grown to the segments that pacing lets out in one.
    pacing_ramp: f64,
}

impl RowTruth {
    /// Collects the truth of a row that was played.
    pub(super) fn of(row: &TruthRow, played: &Played) -> Self {
        let mut sums = KnownSums::default();
        let (mut retransmissions, mut crossed_again) = (0, 0);
        for (connection, script) in played.connections.iter().zip(&row.connections) {
            let crossing = Crossing::of(connection.port, &played.recorded.segments);
            for known in exchange::of(connection, &crossing) {
                sums.add(row, &known);
            }
            crossed_again += crossing.retransmissions();
            sums.add_counters(connection);
            sums.pacing_ramp += pacing_ramp(row, script.server.socket.pacing());
            for end in [&connection.client, &connection.server] {
                retransmissions += u64::from(end.kernel.total_retrans);
            }
        }
        let shares = row.claims.iter().filter_map(|cause| sums.share(*cause)).collect::<Vec<_>>();
        let judge = |of: &KernelEvidence| sums.contradiction(*of, retransmissions);
        let mut contradictions: Vec<String> = row.evidence.iter().filter_map(judge).collect();
        if crossed_again != retransmissions {
            contradictions.push(format!(
                "{crossed_again} retransmissions on the link, {retransmissions} in the kernels"
            ));
        }
        contradictions.extend(larger_than_first(&row.first, &shares));
        Self {
            first: row.first.clone(),
            total_s: sums.total,
            transfers: sums.transfers,
            shares,
            retransmissions,
            rwnd_limited_s: sums.rwnd_limited,
            sndbuf_limited_s: sums.sndbuf_limited,
            blocked_s: sums.blocked,
            busy_s: sums.busy,
            contradictions,
        }
    }
}

/// Names a share that is certainly larger than that of every first cause.
fn larger_than_first(first: &[TimeShare], shares: &[TrueShare]) -> Option<String> {
    let is_first = |share: &&TrueShare| first.contains(&share.cause);
    let known = shares.iter().filter(is_first).map(|share| share.high);
    // First causes whose shares are not known have at most the rest.
    let left =
        1.0 - shares.iter().filter(|share| !is_first(share)).map(|share| share.low).sum::<f64>();
    let unknown = first.iter().any(|cause| !shares.iter().any(|share| share.cause == *cause));
    let most = known.fold(if unknown { left } else { 0.0 }, f64::max);
    let larger = shares.iter().filter(|share| !is_first(share)).find(|share| share.low > most)?;
    let (name, percent) = (larger.cause.name(), larger.low * 100.0);
    Some(format!("{name} has {percent:.0} % of the time, more than the first cause"))
}

impl KnownSums {
    fn add(&mut self, row: &TruthRow, known: &ServerExchange) {
        let ServerExchange { began, asked, ended, .. } = *known;
        let seconds = |from: Instant, to: Instant| to.saturating_since(from).as_secs_f64();
        let established = known.established.unwrap_or(began);
        let secured = known.secured.unwrap_or(established);
        self.transfers += 1;
        self.total += seconds(began, ended);
        self.handshake += seconds(began, established);
        self.tls += seconds(established, secured);
        self.request += seconds(secured, asked);
        self.think += seconds(asked, known.answered.unwrap_or(ended));
        self.slept += known.slept.as_secs_f64();
        self.held += known.held.as_secs_f64();
        self.blocked += known.blocked.as_secs_f64();
        if known.answered.is_some() {
            let transmission = row.path.spec.down().transmit_time(known.packet_bytes);
            self.path += (transmission + row.path.spec.rtt()).as_secs_f64();
        }
    }

    fn add_counters(&mut self, connection: &PlayedConnection) {
        let seconds = |micros: u64| Duration::from_micros(micros).as_secs_f64();
        let kernel = &connection.server.kernel;
        self.busy += seconds(kernel.busy_us);
        self.rwnd_limited += seconds(kernel.rwnd_limited_us);
        self.sndbuf_limited += seconds(kernel.sndbuf_limited_us);
    }

    /// Time that is none of the opening's, the request's, the server's and the path's.
    fn unexplained_time(&self) -> f64 {
        self.total - self.handshake - self.tls - self.request - self.think - self.path
    }

    /// The share of a cause; `None` if nothing proves it.
    fn share(&self, cause: TimeShare) -> Option<TrueShare> {
        // A window that is full for as long as the path carries its bytes bounds nothing then.
        let beside_path = |time: f64| (time - self.path, time);
        let (low, high) = match cause {
            TimeShare::Handshake => (self.handshake, self.handshake),
            TimeShare::Tls => (self.tls, self.tls),
            TimeShare::Request => (self.request, self.request),
            TimeShare::Think => (self.think, self.think),
            TimeShare::Path => (self.path, self.path),
            TimeShare::SlowStart => (self.unexplained_time(), self.unexplained_time()),
            TimeShare::Pacing => {
                (self.unexplained_time() - self.pacing_ramp, self.unexplained_time())
            }
            TimeShare::Nagle => (self.held, self.held),
            TimeShare::ReceiverWindow => beside_path(self.rwnd_limited),
            TimeShare::SendBuffer => beside_path(self.blocked),
            // The share is between the time with nothing outstanding and all the time that the
            // application slept.
            TimeShare::Application => {
                let opening = self.handshake + self.tls + self.request + self.think;
                (self.slept.min(self.total - opening - self.busy), self.slept)
            }
            TimeShare::Avoidance
            | TimeShare::Recovery
            | TimeShare::Timeout
            | TimeShare::Unexplained => return None,
        };
        let part = |seconds: f64| (seconds / self.total).clamp(0.0, 1.0);
        Some(TrueShare { cause, low: part(low), high: part(high) })
    }

    fn contradiction(&self, evidence: KernelEvidence, retransmissions: u64) -> Option<String> {
        let (rwnd, sndbuf) = (self.rwnd_limited / self.total, self.blocked / self.total);
        let (is_so, what) = match evidence {
            KernelEvidence::NoRetransmission => {
                (retransmissions == 0, format!("{retransmissions} retransmissions"))
            }
            KernelEvidence::Retransmission => (retransmissions > 0, "no retransmission".to_owned()),
            KernelEvidence::ReceiverWindow => {
                (rwnd >= 0.5, format!("rwnd_limited {:.0} % of the time", rwnd * 100.0))
            }
            KernelEvidence::SendBuffer => (
                sndbuf >= 0.5,
                format!("limited by the buffer {:.0} % of the time", sndbuf * 100.0),
            ),
            KernelEvidence::NoLimit => {
                let percent = (rwnd + sndbuf) * 100.0;
                let what = format!("limited by window or buffer {percent:.0} % of the time");
                (rwnd + sndbuf <= 0.1, what)
            }
        };
        (!is_so).then_some(what)
    }
}

/// Initial window of Linux, segments (RFC 6928).
const INITIAL_WINDOW: u64 = 10;
/// Payload of a segment with timestamps, bytes.
const SEGMENT: u64 = 1448;

/// Round trips, in seconds, until the window equals the segments that the pacing rate lets out in a
/// round trip. It doubles in each.
fn pacing_ramp(row: &TruthRow, pacing: Option<units::Rate>) -> f64 {
    let rtt = row.path.spec.rtt();
    let needed = pacing.map_or(0, |rate| rate.bytes_in(rtt).div_ceil(SEGMENT));
    let doublings = needed.div_ceil(INITIAL_WINDOW).max(1).next_power_of_two().ilog2();
    rtt.as_secs_f64() * f64::from(doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums() -> KnownSums {
        KnownSums {
            transfers: 1,
            total: 2.0,
            handshake: 0.1,
            request: 0.1,
            think: 0.4,
            slept: 0.9,
            path: 0.3,
            busy: 0.6,
            rwnd_limited: 1.2,
            ..KnownSums::default()
        }
    }

    fn share(cause: TimeShare) -> [f64; 2] {
        let TrueShare { low, high, .. } = sums().share(cause).expect("it is known");
        [low, high].map(|part| (part * 1000.0).round() / 1000.0)
    }

    #[test]
    fn shares_are_parts_of_all_the_time() {
        assert_eq!(share(TimeShare::Think), [0.2, 0.2]);
        // 2.0 - 0.1 - 0.1 - 0.4 - 0.3 = 1.1 s.
        assert_eq!(share(TimeShare::SlowStart), [0.55, 0.55]);
        // 1.2 s, or without the path's 0.3 s.
        assert_eq!(share(TimeShare::ReceiverWindow), [0.45, 0.6]);
        // 2.0 - 0.1 - 0.1 - 0.4 - 0.6 = 0.8 s without data outstanding, and 0.9 s slept.
        assert_eq!(share(TimeShare::Application), [0.4, 0.45]);
        assert_eq!(sums().share(TimeShare::Recovery), None);
    }

    /// 2500 bytes take 1 ms at 20 Mbit/s, and the round trip is 40 ms.
    #[test]
    fn an_exchange_is_cut_into_known_times() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let known = ServerExchange {
            began: at(100),
            established: Some(at(140)),
            secured: Some(at(190)),
            asked: at(193),
            answered: Some(at(200)),
            ended: at(300),
            slept: Duration::from_millis(20),
            held: Duration::from_millis(4),
            blocked: Duration::from_millis(5),
            packet_bytes: 2500,
        };
        let row = TruthRow::over("20mbit,40ms,60p", "a row");
        let mut sums = KnownSums::default();
        sums.add(&row, &known);
        sums.add(&row, &ServerExchange { answered: None, ..known });
        let ms = |seconds: f64| (seconds * 1000.0).round() as u64;
        assert_eq!([sums.handshake, sums.tls, sums.request].map(ms), [80, 100, 6]);
        // Without an answer the server thinks to the end, and the path carries nothing.
        assert_eq!([sums.think, sums.path, sums.total].map(ms), [7 + 107, 41, 400]);
        assert_eq!([sums.slept, sums.held, sums.blocked].map(ms), [40, 8, 10]);
    }

    /// 20 kB are 14 segments in a round trip of 40 ms at 4 Mbit/s: ten segments, doubled once.
    #[test]
    fn a_window_doubles_until_pacing_binds() {
        let row = TruthRow::over("20mbit,40ms,60p", "a row");
        let ramp = |bps| pacing_ramp(&row, Some(units::Rate::from_bps(bps)));
        assert_eq!([ramp(1_000_000), ramp(4_000_000), ramp(16_000_000)], [0.0, 0.04, 0.12]);
        assert_eq!(pacing_ramp(&row, None), 0.0);
    }

    #[test]
    fn an_error_is_the_distance_from_the_range() {
        let share = TrueShare { cause: TimeShare::Path, low: 0.25, high: 0.5 };
        assert_eq!(
            [0.125, 0.25, 0.375, 0.75].map(|at| share.error_points(at)),
            [-12.5, 0.0, 0.0, 25.0]
        );
    }

    #[test]
    fn no_known_share_is_larger_than_the_first_causes() {
        let share = |cause, low, high| TrueShare { cause, low, high };
        let shares = [share(TimeShare::Path, 0.4, 0.4), share(TimeShare::Think, 0.2, 0.5)];
        assert_eq!(larger_than_first(&[TimeShare::Path], &shares), None);
        assert_eq!(larger_than_first(&[TimeShare::Think], &shares), None);
        let shares = [share(TimeShare::Path, 0.6, 0.6), share(TimeShare::Think, 0.2, 0.5)];
        assert!(larger_than_first(&[TimeShare::Think], &shares).is_some());
        // Recovery has at most 1 - 0.6 - 0.2.
        assert!(larger_than_first(&[TimeShare::Recovery], &shares).is_some());
    }

    #[test]
    fn counters_that_contradict_a_row_are_named() {
        let of = |evidence, again| sums().contradiction(evidence, again);
        assert_eq!(of(KernelEvidence::ReceiverWindow, 0), None);
        assert!(of(KernelEvidence::SendBuffer, 0).is_some());
        assert!(of(KernelEvidence::NoRetransmission, 1).is_some());
        assert_eq!(of(KernelEvidence::Retransmission, 1), None);
        assert!(of(KernelEvidence::NoLimit, 0).is_some());
    }
}
