//! Sums of transfers.

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use trace::{TimeShare, TlsReport, TransferEnd, TransferReport};
use units::Rate;

/// Sums of a group of transfers. They serialize as they are; `shown` has seconds for readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSums {
    /// Number of transfers.
    pub transfers: u64,
    /// Number of transfers of which everything was acknowledged.
    pub complete: u64,
    /// Transfers that fit into their first window: no larger one could have made them faster.
    pub fit_first_window: u64,
    /// Payload of the responses, bytes.
    pub bytes: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Timeouts among these retransmissions.
    pub timeouts: u64,
    /// Requests that got no answer while their clients waited.
    pub unanswered: u64,
    /// Responses that a reset of the connection cut off.
    pub cut_off: u64,
    /// Times of full links.
    pub full: FullLinks,
    /// TLS handshakes.
    pub tls: TlsSums,
    /// Nanoseconds, in the order of [`TimeShare::ALL`]. The type is wide because a damaged capture
    /// has absurd times.
    nanos: [u128; TimeShare::COUNT],
    /// Nanoseconds of large requests, in the order of [`TimeShare::ALL`].
    request_nanos: [u128; TimeShare::COUNT],
}

/// Times of full links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FullLinks {
    nanos: u128,
    /// Sum of nanoseconds times bits per second of IP packets.
    weighted: u128,
}

/// Size of the headers of a full segment, bytes: IPv4 and TCP with timestamps.
const HEADER_BYTES: u64 = 52;

impl FullLinks {
    /// Adds the time in which the link was full, and weights its rate by that time.
    fn add(&mut self, report: &TransferReport) {
        let nanos = u128::from(report.link_full.as_nanos());
        let packet = u128::from(report.mss + HEADER_BYTES);
        let rate =
            u128::from(report.delivery_rate.as_bps()) * packet / u128::from(report.mss.max(1));
        self.nanos += nanos;
        self.weighted += nanos * rate;
    }

    fn merge(&mut self, other: &Self) {
        self.nanos += other.nanos;
        self.weighted += other.weighted;
    }

    /// Returns the time, seconds.
    pub fn seconds(&self) -> f64 {
        self.nanos as f64 / 1e9
    }

    /// Returns the mean rate of full links, of IP packets, weighted by time; `None` if no link was
    /// full.
    pub fn mean_rate(&self) -> Option<Rate> {
        let bps = self.weighted.checked_div(self.nanos)?;
        Some(Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX)))
    }
}

/// TLS handshakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsSums {
    /// Handshakes.
    pub handshakes: u64,
    /// Their round trips.
    pub round_trips: u64,
    /// Handshakes that resumed a session.
    pub resumed: u64,
    /// Handshakes that did not resume a session.
    pub full: u64,
    /// The largest payload of a server's flights, bytes.
    pub most_server_bytes: u64,
    /// The largest certificates, bytes; zero if none was visible.
    pub most_certificate_bytes: u32,
}

impl TlsSums {
    fn add(&mut self, tls: &TlsReport) {
        self.handshakes += 1;
        self.round_trips += u64::from(tls.round_trips);
        self.resumed += u64::from(tls.resumed == Some(true));
        self.full += u64::from(tls.resumed == Some(false));
        self.most_server_bytes = self.most_server_bytes.max(tls.server_bytes);
        let certificate = tls.certificate_bytes.unwrap_or_default();
        self.most_certificate_bytes = self.most_certificate_bytes.max(certificate);
    }

    fn merge(&mut self, other: &Self) {
        self.handshakes += other.handshakes;
        self.round_trips += other.round_trips;
        self.resumed += other.resumed;
        self.full += other.full;
        self.most_server_bytes = self.most_server_bytes.max(other.most_server_bytes);
        self.most_certificate_bytes = self.most_certificate_bytes.max(other.most_certificate_bytes);
    }
}

/// If a link was full for this part of the time, it is a cause of its own.
const FULL_PART: f64 = 0.3;

/// Returns true if another sender could change the time of this class.
pub const fn is_changeable(share: TimeShare) -> bool {
    !matches!(share, TimeShare::Handshake | TimeShare::Request | TimeShare::Path)
}

/// Returns the classes of time that a sender can change, in the order of [`TimeShare::ALL`].
pub fn changeable() -> impl Iterator<Item = TimeShare> {
    TimeShare::ALL.into_iter().filter(|share| is_changeable(*share))
}

/// A cause and its share of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeCause {
    /// The cause.
    pub share: TimeShare,
    /// Seconds, of all transfers together.
    pub seconds: f64,
    /// The part of all the time, in `0..=1`.
    pub part: f64,
    /// Seconds per transfer.
    pub mean: f64,
}

impl TimeSums {
    /// Adds a transfer.
    pub fn add(&mut self, report: &TransferReport) {
        self.transfers += 1;
        self.complete += u64::from(report.is_complete());
        self.fit_first_window += u64::from(report.fits_first_window());
        self.bytes += report.bytes;
        self.retransmissions += u64::from(report.retransmissions);
        self.timeouts += u64::from(report.timeouts);
        for (sum, share) in self.nanos.iter_mut().zip(TimeShare::ALL) {
            *sum += u128::from(report.shares.of(share).as_nanos());
        }
        if let Some(upload) = &report.upload {
            for (sum, share) in self.request_nanos.iter_mut().zip(TimeShare::ALL) {
                *sum += u128::from(upload.of(share).as_nanos());
            }
        }
        self.unanswered += u64::from(report.outcome == TransferEnd::Unanswered);
        self.cut_off += u64::from(report.outcome.is_cut_off());
        self.full.add(report);
        if let Some(tls) = &report.tls {
            self.tls.add(tls);
        }
    }

    /// Adds the sums of another group.
    pub fn merge(&mut self, other: &Self) {
        self.transfers += other.transfers;
        self.complete += other.complete;
        self.fit_first_window += other.fit_first_window;
        self.bytes += other.bytes;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        for (sum, more) in self.nanos.iter_mut().zip(other.nanos) {
            *sum += more;
        }
        for (sum, more) in self.request_nanos.iter_mut().zip(other.request_nanos) {
            *sum += more;
        }
        self.unanswered += other.unanswered;
        self.cut_off += other.cut_off;
        self.full.merge(&other.full);
        self.tls.merge(&other.tls);
    }

    /// Returns the seconds spent on this cause.
    pub fn seconds(&self, share: TimeShare) -> f64 {
        self.nanos[share as usize] as f64 / 1e9
    }

    /// Returns the nanoseconds of all transfers together.
    pub fn total_nanos(&self) -> u128 {
        self.nanos.iter().sum()
    }

    /// Returns the nanoseconds lost to causes that a sender can change ([`crate::is_changeable`]).
    pub fn lost_nanos(&self) -> u128 {
        changeable().map(|share| self.nanos[share as usize]).sum()
    }

    /// Returns true if a link was full for long enough to be a cause of its own.
    pub fn is_link_full(&self) -> bool {
        self.full.seconds() > FULL_PART * self.total_nanos() as f64 / 1e9
    }

    /// Returns the cause with the most time. The path is one if its link was full, or if there is
    /// no other. `None` if no time passed.
    pub fn main_cause(&self) -> Option<TimeCause> {
        let causes = self.causes();
        let is_cause = |cause: &&TimeCause| cause.share != TimeShare::Path || self.is_link_full();
        causes.iter().find(is_cause).or(causes.first()).copied()
    }

    /// Returns the seconds of large requests spent on this cause; all together they are part of
    /// [`TimeShare::Request`].
    pub fn request_seconds(&self, share: TimeShare) -> f64 {
        self.request_nanos[share as usize] as f64 / 1e9
    }

    /// Returns all causes, the one with the most time first. They include the path, which no sender
    /// can avoid.
    pub fn causes(&self) -> Vec<TimeCause> {
        let total = self.total_nanos() as f64 / 1e9;
        let cause = |share| {
            let seconds = self.seconds(share);
            let mean = seconds / self.transfers.max(1) as f64;
            TimeCause { share, seconds, part: seconds / total, mean }
        };
        let mut causes: Vec<TimeCause> = TimeShare::ALL.into_iter().map(cause).collect();
        causes.retain(|cause| cause.seconds > 0.0);
        causes.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        causes
    }
}

/// Serializes sums for a reader: the fields, and `seconds` by the names of shares.
pub(super) fn serialize_for_reader<S: Serializer>(
    sums: &TimeSums,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("transfers", &sums.transfers)?;
    map.serialize_entry("complete", &sums.complete)?;
    map.serialize_entry("fit_first_window", &sums.fit_first_window)?;
    map.serialize_entry("bytes", &sums.bytes)?;
    map.serialize_entry("retransmissions", &sums.retransmissions)?;
    map.serialize_entry("timeouts", &sums.timeouts)?;
    map.serialize_entry("unanswered", &sums.unanswered)?;
    map.serialize_entry("cut_off", &sums.cut_off)?;
    map.serialize_entry("link_full_seconds", &sums.full.seconds())?;
    map.serialize_entry("link_full_bps", &sums.full.mean_rate().map(|rate| rate.as_bps()))?;
    map.serialize_entry("tls", &sums.tls)?;
    map.serialize_entry("seconds", &Seconds(&sums.nanos))?;
    map.serialize_entry("request_seconds", &Seconds(&sums.request_nanos))?;
    map.end()
}

struct Seconds<'a>(&'a [u128; TimeShare::COUNT]);

impl Serialize for Seconds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shares = TimeShare::ALL.into_iter();
        let seconds = |share: TimeShare| (share.name(), self.0[share as usize] as f64 / 1e9);
        serializer.collect_map(shares.map(seconds))
    }
}
