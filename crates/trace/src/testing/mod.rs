//! Captures for tests.
//!
//! - Captures from arbitrary bytes, for fuzzing and property tests: whatever they contain, the
//!   engine goes on and its numbers are sound.
//! - Endless captures of a busy server ([`BusyServer`]).
//! - Scenarios written packet by packet ([`wire`]).
//! - [`without_fast_path`] disables the fast path.

mod busy;
pub mod merged;
pub mod wire;

pub use crate::slow_path::{fast_path_segments, without_fast_path};
pub use busy::BusyServer;

use crate::{
    ConnectionTrace, EngineConfig, SenderSnapshot, TimeShare, TraceEngine, TraceSink, TracedSender,
    TransferEnd, TransferReport,
};
use capture::{Observed, TcpEnd};
use segment::{Flags, SackBlocks, TcpOptions, Timestamps};
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant, SeqNum};

/// Number of bytes that encode one segment.
const RECORD: usize = 16;

/// Checks the results that it receives.
#[derive(Default)]
struct Checks {
    connections: u64,
    /// Number of segments of the capture.
    segments: u64,
}

/// Longest gap within a burst of data; the path takes this time.
const BURST: Duration = Duration::from_micros(500);

impl Checks {
    /// Returns the longest time that the path may claim. That is the time of the bytes at the
    /// link's rate, two round trips at most, and the gaps within bursts. All other time has another
    /// cause, or is unexplained.
    fn most_of_path(&self, report: &TransferReport) -> Duration {
        let round_trips = report.srtt * 5 / 4 + report.min_rtt;
        let rate = report.delivery_rate;
        let carried =
            if rate.as_bps() == 0 { Duration::ZERO } else { rate.transmit_time(report.bytes) };
        round_trips + carried + BURST.saturating_mul(self.segments)
    }
}

impl TraceSink for Checks {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.connections += 1;
        assert!(summary.began <= summary.ended, "{summary:?}");
    }

    fn on_transfer(&mut self, _: &TracedSender, report: &TransferReport) {
        assert_eq!(report.shares.total(), report.duration(), "{report:?}");
        assert!(report.link_full <= report.duration(), "{report:?}");
        let has = |share: &TimeShare| !report.shares.of(*share).is_zero();
        assert!(report.timeouts > 0 || !has(&TimeShare::Timeout), "{report:?}");
        let upload = report.upload.map(|shares| shares.total());
        assert!(upload.is_none_or(|time| time == report.shares.of(TimeShare::Request)));
        // Without ACKs nothing shows the cause of a response's waits.
        let behind = TimeShare::ALL.into_iter().filter(|share| *share > TimeShare::Think);
        let mut claimed = behind.filter(|share| *share != TimeShare::Unexplained).filter(has);
        let is_silent = !report.has_acks || report.outcome == TransferEnd::Unanswered;
        assert!(!is_silent || claimed.next().is_none(), "{report:?}");
        assert_eq!(report.answered.is_none(), report.outcome == TransferEnd::Unanswered);
        assert!(report.shares.of(TimeShare::Path) <= self.most_of_path(report), "{report:?}");
    }

    fn wants_windows(&self) -> bool {
        true
    }

    fn on_window(&mut self, _: &TracedSender, point: &SenderSnapshot) {
        assert!(point.una <= point.nxt, "{point:?}");
        assert!(point.in_flight <= (point.nxt - point.una) * 2, "{point:?}");
        assert!(point.cwnd > 0, "{point:?}");
    }
}

/// Plays bytes as a capture, observed and inferred, with few connections at once. The sink must
/// receive every connection once.
pub fn play_capture(bytes: &[u8]) {
    for acks_only in [false, true] {
        let config = EngineConfig { acks_only, max_connections: 3, ..EngineConfig::default() };
        let checks = Checks { segments: segments_of(bytes).count() as u64, ..Checks::default() };
        let mut engine = TraceEngine::new(config, checks);
        segments_of(bytes).for_each(|segment| engine.on_segment(&segment));
        let (checks, counters) = engine.finish_all();
        assert_eq!(checks.connections, counters.connections);
    }
}

/// Returns the segments that bytes encode.
pub fn segments_of(bytes: &[u8]) -> impl Iterator<Item = Observed> {
    let mut now = Instant::ZERO + Duration::from_secs(1);
    bytes.chunks_exact(RECORD).map(move |record| segment_of(record, &mut now))
}

/// Returns one segment from 16 bytes: close numbers and far ones, times that stand, run and jump.
fn segment_of(record: &[u8], now: &mut Instant) -> Observed {
    let word = |at: usize| {
        u32::from_be_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let half = |at: usize| u16::from_be_bytes([record[at], record[at + 1]]);
    let (kind, flags) = (record[0], record[1]);
    let step = u64::from(half(2)) << ((record[0] & 7) * 2);
    *now = match kind & 0x38 {
        0x38 => Instant::from_nanos(now.as_nanos() / 2 + step),
        _ => *now + Duration::from_micros(step),
    };
    let near = |number: u32| if kind & 0x40 == 0 { number % 20_000 } else { number };
    let end = |host: u8, port: u16| TcpEnd { ip: IpAddr::V4(Ipv4Addr::new(192, 0, 2, host)), port };
    let (client, server) = (end(9, 40_000 + u16::from(flags >> 6)), end(1, 80));
    let (source, destination) = if kind & 0x80 == 0 { (server, client) } else { (client, server) };
    let mut sack = SackBlocks::default();
    if flags & 0x20 != 0 {
        let [left, right] = [(4, 500), (8, 1_500)].map(|(at, by)| near(word(at)).wrapping_add(by));
        sack.push(SeqNum(left), SeqNum(right));
    }
    let options = TcpOptions {
        mss: (flags & 2 != 0).then_some(half(12)),
        window_scale: (flags & 2 != 0).then_some(record[14] & 15),
        sack_permitted: flags & 2 != 0,
        timestamps: (record[15] & 1 != 0).then(|| Timestamps { value: word(4), echo: word(8) }),
        sack,
        ..TcpOptions::default()
    };
    Observed {
        at: *now,
        source,
        destination,
        seq: SeqNum(near(word(4))),
        ack: SeqNum(near(word(8))),
        payload: u32::from(half(12)) % 3_000,
        window: half(14),
        flags: Flags(u16::from((flags & 0x17) | (0x10 * ((record[15] >> 1) & 1)))),
        ip_id: half(2).into(),
        options: (&options).into(),
        ..Observed::default()
    }
}
