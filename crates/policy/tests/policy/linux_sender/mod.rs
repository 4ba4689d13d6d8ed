//! The smallest driver of the policy of Linux' recovery: segments of 1000 bytes numbered from 0.
//! The window is reduced to seven tenths on congestion and grows only where a table says so.

pub(crate) use Sending::{Again, New};
use policy::ack::{AckInfo, AckProgress, RepeatedSegments, Scoreboard};
use policy::recovery::rack::RackTlp;
use policy::recovery::{
    LossRecovery, RecoveryContext, RecoveryEvent, Reduction, Report, SentInfo, TimerAction,
};
use units::{Duration, Instant};

pub(crate) const MSS: u64 = 1000;

/// SACKed segments, `[from, to)` each.
pub(crate) type Ranges = &'static [(u64, u64)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    New(u64),
    Again(u64),
}

pub(crate) struct Sender {
    pub(crate) rack: RackTlp,
    pub(crate) board: Scoreboard,
    pub(crate) cwnd: u64,
    pub(crate) ssthresh: u64,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// Segments the application has.
    pub(crate) supply: u64,
    pub(crate) before: (u64, u64),
    pub(crate) grows: bool,
}

pub(crate) fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// An ACK up to segment `una` with SACKed segment ranges.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ack {
    pub(crate) una: u64,
    pub(crate) sack: Ranges,
    pub(crate) dsack: Option<(u64, u64)>,
    pub(crate) echoes_original: bool,
}

pub(crate) fn ack(una: u64) -> Ack {
    Ack { una, ..Ack::default() }
}

pub(crate) fn sack(una: u64, sack: Ranges) -> Ack {
    Ack { una, sack, ..Ack::default() }
}

/// Returns a context with these values of the path: smallest and smoothed round trip 100 ms,
/// timeout 300 ms.
pub(crate) fn context(board: &mut Scoreboard) -> RecoveryContext<'_> {
    RecoveryContext {
        board,
        cwnd: 0,
        ssthresh: u64::MAX,
        mss: MSS,
        srtt: ms(100),
        min_rtt: ms(100),
        rto: ms(300),
        snd_nxt: 0,
        new_data: false,
        shared: false,
    }
}

impl Sender {
    /// A window of `cwnd` segments, `supply` segments to send.
    pub(crate) fn new(cwnd: u64, supply: u64) -> Self {
        Self {
            rack: RackTlp::new(ms(200)),
            board: Scoreboard::default(),
            cwnd: cwnd * MSS,
            ssthresh: u64::MAX,
            una: 0,
            nxt: 0,
            supply,
            before: (0, 0),
            grows: false,
        }
    }

    pub(crate) fn parts(&mut self) -> (&mut RackTlp, RecoveryContext<'_>) {
        let context = RecoveryContext {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            snd_nxt: self.nxt,
            new_data: self.nxt < self.supply * MSS,
            ..context(&mut self.board)
        };
        (&mut self.rack, context)
    }

    /// Sends what may be sent.
    pub(crate) fn send(&mut self, now: Instant) -> Vec<Sending> {
        let mut sent = Vec::new();
        loop {
            let (rack, mut cx) = self.parts();
            if rack.allowance(&cx) < MSS {
                return sent;
            }
            match rack.next_retransmission(&mut cx) {
                Some(index) => sent.push(self.send_again(index, now)),
                None if self.nxt < self.supply * MSS => sent.push(self.send_new(now)),
                None => return sent,
            }
        }
    }

    pub(crate) fn send_new(&mut self, now: Instant) -> Sending {
        self.board.push(self.nxt, MSS as u32, now, 0);
        self.nxt += MSS;
        self.report_sent(now, self.nxt, false);
        New(self.nxt / MSS - 1)
    }

    pub(crate) fn send_again(&mut self, index: usize, now: Instant) -> Sending {
        self.board.retransmit(index, now, 0);
        let end = self.board.segment(index).unwrap().end();
        self.report_sent(now, end, true);
        Again(end / MSS - 1)
    }

    pub(crate) fn report_sent(&mut self, now: Instant, end: u64, retransmission: bool) {
        let (srtt, rto) = (ms(100), ms(300));
        self.rack.on_sent(&SentInfo { now, segments: 1, len: MSS, end, retransmission, srtt, rto });
    }

    pub(crate) fn ack(&mut self, now: Instant, ack: Ack) -> Report {
        let mut progress = AckProgress::default();
        let una_before = self.una;
        self.una = ack.una * MSS;
        self.board.acknowledge(self.una, &mut progress);
        for &(left, right) in ack.sack {
            self.board.sack(left * MSS, right * MSS, &mut progress);
        }
        let info = AckInfo {
            now,
            una_before,
            una: self.una,
            snd_nxt: self.nxt,
            duplicate: progress.sacked > 0,
            repeats: self.una == una_before,
            progress,
            dsack: ack.dsack.map(|(left, right)| (left * MSS, right * MSS)),
            repeated: RepeatedSegments::default(),
            echoes_original: ack.echoes_original,
        };
        let (rack, mut cx) = self.parts();
        let report = rack.on_ack(&mut cx, &info);
        self.apply(&report);
        if report.grow && self.grows {
            self.cwnd += progress.acked;
        }
        report
    }

    pub(crate) fn timeout(&mut self, now: Instant) -> Report {
        assert_eq!(self.rack.state().timeout, Some(now), "the timer is due now");
        let (rack, mut cx) = self.parts();
        let report = rack.on_event(&mut cx, RecoveryEvent::Timeout { now });
        self.apply(&report);
        report
    }

    pub(crate) fn rto(&mut self, now: Instant) -> Report {
        let (rack, mut cx) = self.parts();
        let event = RecoveryEvent::RetransmissionTimeout { now, is_fallback: false };
        let report = rack.on_event(&mut cx, event);
        self.apply(&report);
        report
    }

    pub(crate) fn apply(&mut self, report: &Report) {
        if report.undo {
            self.cwnd = self.cwnd.max(self.before.0);
            self.ssthresh = self.ssthresh.max(self.before.1);
        }
        if let Some(reduction) = report.congestion {
            self.before = (self.cwnd, self.ssthresh);
            self.ssthresh = (self.cwnd * 7 / 10 / MSS).max(2) * MSS;
            match reduction {
                Reduction::ToSsthresh => self.cwnd = self.ssthresh,
                Reduction::ToOneSegment | Reduction::Again => self.cwnd = MSS,
                Reduction::Gradual => {}
            }
        }
        self.cwnd = report.cwnd.unwrap_or(self.cwnd);
    }

    pub(crate) fn lost(&self) -> Vec<u64> {
        self.board.iter().filter(|s| s.is_lost()).map(|s| s.start / MSS).collect()
    }
}

/// Ten segments sent at 0 ms, segment 0 lost: three SACKs up to 100 ms lead into recovery.
pub(crate) fn into_recovery(supply: u64) -> Sender {
    let mut s = Sender::new(10, supply);
    s.send(at(0));
    s.ack(at(98), sack(0, &[(1, 2)]));
    s.send(at(98));
    s.ack(at(99), sack(0, &[(1, 3)]));
    s.send(at(99));
    let report = s.ack(at(100), sack(0, &[(1, 4)]));
    assert_eq!(report.congestion, Some(Reduction::Gradual));
    assert_eq!(report.timer, TimerAction::Restart);
    s
}
