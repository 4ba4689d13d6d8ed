//! Step tables of the Linux recovery: one ACK or timer per step, the expected window, marks and
//! segments worked out by hand from RFC 8985, 6937, 5682 and 3708.
//!
//! The sender here is the least that drives the policy: segments of 1000 bytes numbered from 0, a
//! window that falls to seven tenths on congestion and grows only where a table says so.

use Sending::{Again, New};
use policy::ack::{AckInfo, AckProgress, Scoreboard};
use policy::recovery::rack::RackTlp;
use policy::recovery::{
    LossRecovery, RecoveryContext, Reduction, Report, SentInfo, Stance, TimerAction,
};
use units::{Duration, Instant};

const MSS: u64 = 1000;

/// SACKed segments, `[from, to)` each.
type Ranges = &'static [(u64, u64)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    New(u64),
    Again(u64),
}

struct Sender {
    rack: RackTlp,
    board: Scoreboard,
    cwnd: u64,
    ssthresh: u64,
    una: u64,
    nxt: u64,
    /// Segments the application has.
    supply: u64,
    before: (u64, u64),
    grows: bool,
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// An ACK up to segment `una` with SACKed segment ranges.
#[derive(Clone, Copy, Default)]
struct Ack {
    una: u64,
    sack: Ranges,
    dsack: Option<(u64, u64)>,
    echoes_original: bool,
}

fn ack(una: u64) -> Ack {
    Ack { una, ..Ack::default() }
}

fn sack(una: u64, sack: Ranges) -> Ack {
    Ack { una, sack, ..Ack::default() }
}

/// What the path is worth: smallest and smoothed round trip 100 ms, timeout 300 ms.
fn context(board: &mut Scoreboard) -> RecoveryContext<'_> {
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
        retreat: false,
        shared: false,
    }
}

impl Sender {
    /// A window of `cwnd` segments, `supply` segments to send.
    fn new(cwnd: u64, supply: u64) -> Self {
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

    fn parts(&mut self) -> (&mut RackTlp, RecoveryContext<'_>) {
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
    fn send(&mut self, now: Instant) -> Vec<Sending> {
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

    fn send_new(&mut self, now: Instant) -> Sending {
        self.board.push(self.nxt, MSS as u32, (now, 0));
        self.nxt += MSS;
        self.tell_sent(now, self.nxt, false);
        New(self.nxt / MSS - 1)
    }

    fn send_again(&mut self, index: usize, now: Instant) -> Sending {
        self.board.retransmit(index, (now, 0));
        let end = self.board.segment(index).unwrap().end();
        self.tell_sent(now, end, true);
        Again(end / MSS - 1)
    }

    fn tell_sent(&mut self, now: Instant, end: u64, retransmission: bool) {
        let (srtt, rto) = (ms(100), ms(300));
        self.rack.on_sent(&SentInfo { now, len: MSS, end, retransmission, srtt, rto });
    }

    fn ack(&mut self, now: Instant, ack: Ack) -> Report {
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

    fn timeout(&mut self, now: Instant) -> Report {
        assert_eq!(self.rack.timeout(), Some(now), "the timer is due now");
        let (rack, mut cx) = self.parts();
        let report = rack.on_timeout(&mut cx, now);
        self.apply(&report);
        report
    }

    fn rto(&mut self, now: Instant) -> Report {
        let (rack, mut cx) = self.parts();
        let report = rack.on_rto(&mut cx, now);
        self.apply(&report);
        report
    }

    fn apply(&mut self, report: &Report) {
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

    fn lost(&self) -> Vec<u64> {
        self.board.iter().filter(|s| s.is_lost()).map(|s| s.start / MSS).collect()
    }
}

/// Ten segments sent at 0 ms, segment 0 lost: three SACKs up to 100 ms lead into recovery.
fn into_recovery(supply: u64) -> Sender {
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

#[test]
fn without_loss_the_window_may_grow_and_a_probe_is_two_round_trips_away() {
    let mut s = Sender::new(4, 100);
    assert_eq!(s.send(at(0)), [New(0), New(1), New(2), New(3)]);
    // 2 * 100 ms and 2 ms for timers.
    assert_eq!(s.rack.timeout(), Some(at(202)));
    let report = s.ack(at(100), ack(2));
    // Nothing to repair: until the next ACK the window alone decides.
    assert_eq!(report, Report { grow: true, stance: Stance::Open, ..Report::default() });
    assert_eq!(s.rack.timeout(), Some(at(302)));
    // Sending looks at the head, too: it times out 300 ms after it was sent.
    assert_eq!(s.send(at(100)), [New(4), New(5)]);
    assert_eq!(s.rack.timeout(), Some(at(300)));
}

#[test]
fn duplicate_acks_send_new_segments_until_the_third_starts_recovery() {
    let mut s = Sender::new(10, 100);
    s.send(at(0));
    // Limited transmit: every SACKed segment has left the network.
    assert!(!s.ack(at(100), sack(0, &[(1, 2)])).grow);
    assert_eq!(s.send(at(100)), [New(10)]);
    s.ack(at(100), sack(0, &[(1, 3)]));
    assert_eq!(s.send(at(100)), [New(11)]);
    assert!(!s.rack.recovering());
    // DupThresh is reached and no reordering was ever seen: what was sent earlier is lost at once.
    s.ack(at(100), sack(0, &[(1, 4)]));
    assert_eq!(s.lost(), [0]);
    assert_eq!(s.ssthresh, 7 * MSS);
    assert_eq!(s.send(at(100)), [Again(0)]);
}

#[test]
fn the_window_glides_to_seven_tenths_and_recovery_ends_there() {
    let mut s = into_recovery(100);
    // In flight: 12 sent, 3 SACKed, 1 lost: 8. Above 7, so the share: ceil(0.7 * 1) = 1.
    assert_eq!(s.send(at(100)), [Again(0)]);
    let steps: [(u64, Ranges, u64, &[Sending]); 8] = [
        // (time, SACKed, window, sent). In flight 8: ceil(1.4) = 2 in all, one more.
        (101, &[(1, 5)], 9, &[New(12)]),
        // ceil(2.1) = 3.
        (102, &[(1, 6)], 9, &[New(13)]),
        // ceil(2.8) = 3: none.
        (103, &[(1, 7)], 8, &[]),
        // In flight 7 = ssthresh: none.
        (104, &[(1, 8)], 7, &[]),
        // In flight 6: up to ssthresh, one for each delivered from here on.
        (105, &[(1, 9)], 7, &[New(14)]),
        (106, &[(1, 10)], 7, &[New(15)]),
        (198, &[(1, 11)], 7, &[New(16)]),
        (199, &[(1, 12)], 7, &[New(17)]),
    ];
    for (time, sacked, window, sent) in steps {
        let report = s.ack(at(time), sack(0, sacked));
        assert_eq!(report.cwnd, Some(window * MSS), "after {sacked:?}");
        assert!(!report.grow);
        assert_eq!(s.send(at(time)), sent, "after {sacked:?}");
    }
    // The retransmission arrives: all that was outstanding at the beginning is acknowledged.
    let report = s.ack(at(200), ack(12));
    assert!(report.ended && report.grow && !report.undo);
    assert_eq!((report.cwnd, s.cwnd), (Some(7 * MSS), 7 * MSS));
    assert_eq!(s.send(at(200)), [New(18)]);
}

#[test]
fn too_few_sacks_wait_a_quarter_of_the_round_trip_for_reordering() {
    let mut s = Sender::new(10, 3);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(2, 3)]));
    assert_eq!(s.lost(), []);
    // 0 and 1 are overdue after 100 + 25 ms; 2 ms for timers.
    let report = s.timeout(at(127));
    assert_eq!(report.congestion, Some(Reduction::Gradual));
    assert_eq!(s.lost(), [0, 1]);
    // As if one segment had been delivered: one may go.
    assert_eq!(s.send(at(127)), [Again(0)]);
    // Its ACK is clean progress: one for the one delivered, and one more; only one is missing.
    s.ack(at(227), sack(1, &[(2, 3)]));
    assert_eq!(s.cwnd, 2 * MSS);
    assert_eq!(s.send(at(227)), [Again(1)]);
}

#[test]
fn reordering_within_the_wait_costs_nothing_and_lengthens_later_waits() {
    let mut s = Sender::new(10, 100);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(1, 3)]));
    // Segment 0 arrives late: never sent again, delivered after segment 2.
    let report = s.ack(at(110), ack(3));
    assert_eq!(report.congestion, None);
    assert!(report.grow);
    // From now on even three SACKed segments wait.
    s.send(at(110));
    s.ack(at(120), sack(3, &[(4, 8)]));
    assert_eq!(s.lost(), []);
    // Sent at 0 ms, round trip 120 ms, a quarter of the smallest: due at 145 ms, 2 ms for timers.
    assert_eq!(s.rack.timeout(), Some(at(147)));
}

#[test]
fn a_retransmission_is_lost_if_what_was_sent_after_it_arrives() {
    let mut s = into_recovery(100);
    assert_eq!(s.send(at(100)), [Again(0)]);
    s.ack(at(110), sack(0, &[(1, 5)]));
    assert_eq!(s.send(at(110)), [New(12)]);
    assert_eq!(s.board.waiting(), 0);
    // Segment 12, sent 10 ms after the retransmission of 0, is delivered.
    s.ack(at(210), sack(0, &[(1, 10), (12, 13)]));
    assert_eq!(s.board.waiting(), 3 * MSS);
    // 10 and 11, sent with the retransmission, are gone too.
    assert_eq!(s.lost(), [0, 10, 11]);
    assert_eq!(s.send(at(210))[0], Again(0));
}

#[test]
fn a_lost_tail_is_found_by_probing_its_last_segment() {
    let mut s = Sender::new(10, 10);
    s.send(at(0));
    s.ack(at(100), ack(5));
    let report = s.timeout(at(302));
    assert!(report.probe);
    assert_eq!(report.timer, TimerAction::Restart);
    s.send_again(4, at(302));
    // Segment 9 comes back: 5 to 8 were sent 302 ms before it.
    let report = s.ack(at(402), sack(5, &[(9, 10)]));
    assert_eq!(report.congestion, Some(Reduction::Gradual));
    assert_eq!(s.lost(), [5, 6, 7, 8]);
    // Nothing is in flight: what was delivered may be sent, one segment.
    assert_eq!(s.send(at(402)), [Again(5)]);
    // Clean progress doubles: one delivered, one more.
    s.ack(at(502), sack(6, &[(9, 10)]));
    assert_eq!(s.send(at(502)), [Again(6), Again(7)]);
}

/// Nine of ten segments acknowledged, the last one lost, probed at the retransmission timeout:
/// 2 * 100 + 200 ms for a delayed ACK would be later than its 300 ms.
fn after_probe_of_a_single_segment() -> Sender {
    let mut s = Sender::new(10, 20);
    s.supply = 10;
    s.send(at(0));
    s.ack(at(100), ack(9));
    assert!(s.timeout(at(400)).probe);
    assert_eq!(s.send_again(0, at(400)), Again(9));
    s
}

#[test]
fn a_loss_that_the_probe_itself_repaired_lowers_the_window() {
    let mut s = after_probe_of_a_single_segment();
    // Original or probe? Undecided until something later is acknowledged without a D-SACK.
    assert_eq!(s.ack(at(500), ack(10)).congestion, None);
    s.supply = 11;
    s.send(at(500));
    let report = s.ack(at(600), ack(11));
    assert_eq!(report.congestion, Some(Reduction::ToSsthresh));
    assert_eq!(s.cwnd, 7 * MSS);
    assert!(!s.rack.recovering());
}

#[test]
fn a_probe_reported_as_duplicate_was_needless() {
    let mut s = after_probe_of_a_single_segment();
    s.ack(at(410), ack(10));
    s.ack(at(500), Ack { dsack: Some((9, 10)), ..ack(10) });
    s.supply = 11;
    s.send(at(500));
    assert_eq!(s.ack(at(600), ack(11)).congestion, None);
    assert_eq!(s.cwnd, 10 * MSS);
}

/// The receiver knows no D-SACK: the acknowledgement of the original comes again for the probe.
#[test]
fn a_probe_acknowledged_twice_was_needless() {
    let mut s = after_probe_of_a_single_segment();
    s.ack(at(410), ack(10));
    s.ack(at(500), ack(10));
    s.supply = 11;
    s.send(at(500));
    assert_eq!(s.ack(at(600), ack(11)).congestion, None);
    assert_eq!(s.cwnd, 10 * MSS);
}

#[test]
fn one_probe_a_flight() {
    let mut s = Sender::new(10, 12);
    s.supply = 10;
    s.send(at(0));
    assert!(s.timeout(at(202)).probe);
    s.supply = 12;
    // A probe of new data: window or not.
    assert_eq!(s.send_new(at(202)), New(10));
    assert_eq!(s.rack.timeout(), None);
    // The probe's ACK ends it without reduction; the tail is judged by what it delivers.
    let report = s.ack(at(302), ack(11));
    assert_eq!(report.congestion, None);
    assert!(report.grow);
}

#[test]
fn a_timeout_marks_all_but_the_recently_sent() {
    let mut s = Sender::new(10, 8);
    s.send(at(0));
    s.ack(at(100), ack(1));
    s.supply = 10;
    assert_eq!(s.send(at(250)), [New(8), New(9)]);
    // The last round trip was 100 ms: 8 and 9, 60 ms old, may still arrive.
    let report = s.rto(at(310));
    assert_eq!(report.congestion, Some(Reduction::ToOneSegment));
    assert_eq!(s.lost(), [1, 2, 3, 4, 5, 6, 7]);
    // What is in flight and one segment.
    assert_eq!(report.cwnd, Some(3 * MSS));
    assert_eq!(s.ssthresh, 7 * MSS);
    assert_eq!(s.send(at(310)), [Again(1)]);
    assert!(s.rack.recovering());
}

/// Four segments without an answer, a timeout at 300 ms and segment 0 sent again.
fn after_timeout(supply: u64) -> Sender {
    let mut s = Sender::new(4, supply);
    s.grows = true;
    s.send(at(0));
    s.rto(at(300));
    assert_eq!(s.cwnd, MSS);
    assert_eq!(s.send(at(300)), [Again(0)]);
    s
}

#[test]
fn frto_finds_a_spurious_timeout_and_restores_the_window() {
    let mut s = after_timeout(100);
    // RFC 5682 §3.1 step 2.b: the first ACK sends new data, nothing again.
    let report = s.ack(at(310), ack(1));
    assert!(report.grow);
    assert_eq!(s.send(at(310)), [New(4), New(5)]);
    // Step 3.b: segment 1 was never sent again, so it had not been lost.
    let report = s.ack(at(311), ack(2));
    assert!(report.undo && report.ended);
    assert_eq!(s.lost(), []);
    assert!(s.cwnd >= 4 * MSS);
    assert_eq!(s.ssthresh, u64::MAX);
}

#[test]
fn frto_repairs_a_real_loss_after_one_round_trip() {
    let mut s = after_timeout(100);
    s.ack(at(400), ack(1));
    assert_eq!(s.send(at(400)), [New(4), New(5)]);
    // Step 3.a: new data arrives, what was before it does not. In flight: segment 5.
    let report = s.ack(at(500), sack(1, &[(4, 5)]));
    assert!(!report.undo);
    assert_eq!(s.send(at(500)), [Again(1)]);
}

/// Step 2.b, where a window or something else of the sender's keeps the new data back: there is nothing to wait for.
#[test]
fn frto_repairs_at_once_if_new_data_cannot_go() {
    let mut s = after_timeout(100);
    s.ack(at(400), ack(1));
    let (rack, mut cx) = s.parts();
    assert!(rack.wants_new_data());
    assert_eq!(rack.next_retransmission(&mut cx), None);
    assert!(rack.on_nothing_new(&mut cx));
    assert!(!rack.wants_new_data());
    // The window of two segments is free: all four were lost, and the first was acknowledged.
    assert_eq!(s.send(at(400)), [Again(1), Again(2)]);
    // A SACK of segment 3, never sent again, is no proof any more.
    assert!(!s.ack(at(500), sack(2, &[(3, 4)])).undo);
}

/// Once new data went, the answer is waited for.
#[test]
fn frto_waits_while_new_data_is_out() {
    let mut s = after_timeout(100);
    s.ack(at(400), ack(1));
    assert_eq!(s.send(at(400)), [New(4), New(5)]);
    let (rack, mut cx) = s.parts();
    assert!(!rack.on_nothing_new(&mut cx));
    assert_eq!(rack.next_retransmission(&mut cx), None);
}

#[test]
fn without_new_data_a_timeout_is_repaired_by_slow_start() {
    let mut s = after_timeout(4);
    s.ack(at(400), ack(1));
    assert_eq!(s.send(at(400)), [Again(1), Again(2)]);
    s.ack(at(500), ack(3));
    assert_eq!(s.send(at(500)), [Again(3)]);
    let report = s.ack(at(600), ack(4));
    assert!(report.ended && !report.undo);
    assert!(!s.rack.recovering());
}

#[test]
fn timestamps_prove_a_timeout_spurious_at_the_first_ack() {
    let mut s = after_timeout(100);
    let report = s.ack(at(310), Ack { echoes_original: true, ..ack(1) });
    assert!(report.undo && report.ended);
    assert_eq!(s.cwnd, 5 * MSS);
}

#[test]
fn a_second_timeout_of_the_same_episode_reduces_nothing_more() {
    let mut s = after_timeout(100);
    let ssthresh = s.ssthresh;
    let report = s.rto(at(900));
    assert_eq!((report.congestion, report.cwnd), (None, Some(MSS)));
    assert_eq!(s.ssthresh, ssthresh);
    assert_eq!(s.send(at(900)), [Again(0)]);
}

#[test]
fn a_timeout_during_fast_recovery_reduces_nothing_more_and_skips_frto() {
    let mut s = into_recovery(100);
    s.grows = true;
    s.send(at(100));
    let report = s.rto(at(400));
    assert_eq!(report.congestion, None);
    // All but the three SACKed are lost, nothing is in flight.
    assert_eq!(report.cwnd, Some(MSS));
    assert_eq!(s.send(at(400)), [Again(0)]);
    // Segments 1 to 3 were SACKed; the acknowledgement of four grows the window by four.
    s.ack(at(500), ack(4));
    assert_eq!(s.send(at(500))[..2], [Again(4), Again(5)]);
}

#[test]
fn dsack_for_every_retransmission_undoes_the_reduction() {
    let mut s = into_recovery(100);
    assert_eq!(s.send(at(100)), [Again(0)]);
    // The original was late, not lost; without timestamps nobody knows yet.
    let report = s.ack(at(110), ack(12));
    assert!(report.ended && !report.undo);
    assert_eq!(s.cwnd, 7 * MSS);
    let report = s.ack(at(200), Ack { dsack: Some((0, 1)), ..ack(12) });
    assert!(report.undo);
    assert_eq!((s.cwnd, s.ssthresh), (10 * MSS, u64::MAX));
    // Once only.
    assert!(!s.ack(at(201), Ack { dsack: Some((0, 1)), ..ack(12) }).undo);
}

#[test]
fn more_duplicates_than_retransmissions_are_not_believed() {
    let mut s = into_recovery(100);
    assert_eq!(s.send(at(100)), [Again(0)]);
    s.ack(at(110), ack(12));
    assert!(!s.ack(at(200), Ack { dsack: Some((0, 2)), ..ack(12) }).undo);
    assert!(!s.ack(at(201), Ack { dsack: Some((0, 1)), ..ack(12) }).undo);
}

#[test]
fn timestamps_undo_fast_recovery_when_it_ends() {
    let mut s = into_recovery(100);
    s.send(at(100));
    let report = s.ack(at(110), Ack { echoes_original: true, ..ack(12) });
    assert!(report.undo && report.ended);
    assert_eq!((report.cwnd, s.cwnd), (None, 10 * MSS));
}

#[test]
fn a_partial_ack_of_an_original_stops_retransmitting_and_then_undoes() {
    // Segments 0 and 1 are late; three SACKs condemn both, one is sent again.
    let mut s = Sender::new(10, 100);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(2, 5)]));
    assert_eq!(s.lost(), [0, 1]);
    assert_eq!(s.send(at(100)), [Again(0), Again(1)]);
    // The original of 0 arrives; the retransmission of 1 is under way: nothing more goes again.
    let report = s.ack(at(101), Ack { echoes_original: true, ..sack(1, &[(2, 5)]) });
    assert!(!report.undo && !report.ended);
    let report = s.ack(at(102), Ack { echoes_original: true, ..ack(5) });
    assert!(report.undo && report.ended);
    assert_eq!(s.cwnd, 10 * MSS);
    assert_eq!(s.lost(), []);
}

#[test]
fn a_reneging_receiver_is_found_at_the_timeout() {
    let mut s = Sender::new(10, 10);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(1, 3)]));
    s.ack(at(110), sack(1, &[]));
    // The head is SACKed and yet not acknowledged: SACKs mean nothing, all goes again.
    s.rto(at(400));
    assert_eq!(s.board.sacked(), 0);
    assert_eq!(s.lost(), (1..10).collect::<Vec<_>>());
    assert_eq!(s.send(at(400)), [Again(1)]);
}

#[test]
fn a_sack_does_not_extend_the_timer_unless_it_is_older_than_the_heads_last_transmission() {
    let mut s = into_recovery(100);
    s.send(at(100));
    // Segment 4 was sent at 0 ms, the head again at 100 ms: the path is alive.
    assert_eq!(s.ack(at(110), sack(0, &[(1, 5)])).timer, TimerAction::Restart);
    s.send(at(110));
    // Segment 12 was sent after the head.
    let report = s.ack(at(199), sack(0, &[(1, 5), (12, 13)]));
    assert_eq!(s.board.waiting(), 9 * MSS - MSS);
    // The head was lost again and goes now: the timer runs from there.
    assert_eq!(report.timer, TimerAction::Restart);
    s.send(at(199));
    let report = s.ack(at(205), ack(0));
    assert_eq!(report.timer, TimerAction::OnProgress);
}
