//! A case in the model, and the script that records the model's behaviour.
//!
//! The script gives every input its exact time. A segment that a timer sends has a range of times,
//! since the kernel's timers run on ticks. Inputs keep away from timers, so both play the same
//! events in the same order.

use crate::case::{FuzzCase, FuzzHandshake, Stimulus};
use script::model::{ScriptSettings, TcpInfoField};
use script::{ConnectionRequest, Subject, VirtualHost, written_segment};
use std::fmt::Write;
use tcp::{Flags, Scheme, Segment, Timestamps};
use units::{Duration, Instant, SeqNum};

/// The kernel's clock of timers (`CONFIG_HZ=250`). A timeout is rounded up to ticks, and so is the
/// time at which it ends.
const TICK: Duration = Duration::from_millis(4);
/// The distance of an input from a timer, beside the ticks. A busy machine keeps their order then.
const MARGIN: Duration = Duration::from_millis(4);
/// The number of the model's one connection.
const CONNECTION: usize = 0;
/// The script's value of the host's first timestamp. Zero would mean none (RFC 7323 §3.2).
pub(crate) const FIRST_TIMESTAMP: u32 = 1000;
/// The least distance of two inputs. The kernel's clock separates what they cause, and the model's
/// clock has to, too.
const SPACING: Duration = Duration::from_micros(100);
/// A busy machine adds this to a round trip.
const SLACK: Duration = Duration::from_millis(1);
/// Timers that may fire between two inputs.
const MAX_TIMERS: u32 = 200;

/// The reason why a case makes no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplayable {
    /// An input is so near to a timer that the kernel may take them in the other order.
    Race,
    /// A segment echoes, acknowledges or SACKs what the host has not sent.
    Implausible,
    /// The model makes no progress; why.
    Stuck(String),
}

/// A host of the model under a case, and the script so far.
pub(crate) struct ScriptRecording {
    host: VirtualHost,
    text: String,
    /// The host's initial sequence number.
    isn: u32,
    /// The first timestamp that the host sent.
    first_timestamp: Option<u32>,
    /// Segments that the host sent, in the script's numbers.
    sent: Vec<RecordedSegment>,
    /// The time at which a timer fired last.
    fired: Option<Instant>,
    /// The time of the last input.
    last_input: Option<Instant>,
    /// The kernel may be late at the last timer by this: each timer starts from the one before.
    late: Duration,
    /// The largest value of `late`, which round trips inherit.
    most_late: Duration,
    /// A timeout may be sooner or later by this, since the kernel's round trips differ.
    doubt: Duration,
    read: u64,
    /// The round trip of the handshake.
    round_trip: Duration,
}

/// A segment that the host sent, in the script's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordedSegment {
    pub(crate) at: Instant,
    /// The kernel may send it later by this.
    pub(crate) late: Duration,
    pub(crate) segment: Segment,
}

/// The fields that must be equal.
const EXACT: [TcpInfoField; 15] = [
    TcpInfoField::CaState,
    TcpInfoField::SndCwnd,
    TcpInfoField::SndSsthresh,
    TcpInfoField::Unacked,
    TcpInfoField::Sacked,
    TcpInfoField::Lost,
    TcpInfoField::Retrans,
    TcpInfoField::TotalRetrans,
    TcpInfoField::Backoff,
    TcpInfoField::Probes,
    TcpInfoField::Delivered,
    TcpInfoField::Reordering,
    TcpInfoField::ReordSeen,
    TcpInfoField::SndMss,
    TcpInfoField::BytesReceived,
];

/// `TCP_TIME_WAIT`
const TIME_WAIT: u64 = 6;
/// `TCP_CLOSE`
const CLOSE: u64 = 7;

impl ScriptRecording {
    /// Opens the connection as `handshake` says.
    pub(crate) fn open(handshake: &FuzzHandshake) -> Result<Self, Unplayable> {
        let settings = ScriptSettings::default();
        let mut recording = Self {
            host: VirtualHost::new(&settings),
            text: String::new(),
            isn: 0,
            first_timestamp: None,
            sent: Vec::new(),
            fired: None,
            last_input: None,
            late: Duration::ZERO,
            most_late: Duration::ZERO,
            doubt: Duration::ZERO,
            read: 0,
            round_trip: handshake.round_trip,
        };
        let scheme =
            Scheme::parse("linux").map_err(|error| Unplayable::Stuck(error.to_string()))?;
        recording.host.listen(&scheme.recorded());
        let (syn, ack) = (opening_syn(handshake), opening_ack(handshake));
        recording.host.handle_segment(CONNECTION, &syn);
        let Some(answer) = recording.host.take_sent() else {
            return Err(Unplayable::Stuck("the host does not answer a SYN".to_owned()));
        };
        recording.isn = answer.segment.seq.0;
        recording.first_timestamp = answer.segment.options.timestamps.map(|ts| ts.value);
        recording.text = opening_text(handshake, &recording.to_script(&answer.segment));
        recording.advance(Instant::ZERO + handshake.round_trip)?;
        recording.feed(&ack);
        if handshake.no_delay {
            recording.host.request(CONNECTION, ConnectionRequest::NoDelay(true));
        }
        Ok(recording)
    }

    pub(crate) fn now(&self) -> Instant {
        self.host.now()
    }

    /// All segments that the host has sent so far.
    pub(crate) fn sent(&self) -> &[RecordedSegment] {
        &self.sent
    }

    /// Bytes that the application can read.
    pub(crate) fn readable(&mut self) -> u64 {
        self.host.progress(CONNECTION).received.saturating_sub(self.read)
    }

    /// The time at which the model's next timer fires.
    pub(crate) fn next_timer(&mut self) -> Option<Instant> {
        self.host.next_timeout()
    }

    /// The first moment no earlier than `wanted` at which an input keeps away from timers. Lets the
    /// timers before it fire.
    pub(crate) fn reach_safe(&mut self, wanted: Instant) -> Result<Instant, Unplayable> {
        let spaced = self.last_input.map_or(Instant::ZERO, |last| last + SPACING);
        let mut at = whole_micros(wanted.max(self.now()).max(spaced));
        for _ in 0..MAX_TIMERS {
            self.advance(at)?;
            at = at.max(whole_micros(self.after_timers())).max(whole_micros(self.after_doubt(at)));
            match self.next_timer() {
                Some(next) if next <= at + MARGIN + self.doubt => at = at.max(whole_micros(next)),
                _ if self.now() >= at => return Ok(at),
                _ => {}
            }
        }
        Err(Unplayable::Stuck("timers fire all the time".to_owned()))
    }

    /// Returns the time at which the kernel has processed the last timer, too.
    fn after_timers(&self) -> Instant {
        self.fired.map_or(Instant::ZERO, |fired| fired + self.late + self.doubt + MARGIN)
    }

    /// The end of a doubtful time, if `at` is in one. A timer sent a segment about a round trip
    /// before. By the kernel's clock an ACK may be sooner, and RACK takes it for the original's.
    fn after_doubt(&self, at: Instant) -> Instant {
        let doubts = self.sent.iter().rev().take_while(|sent| {
            at < sent.at + sent.late + self.round_trip * 2 || sent.late == Duration::ZERO
        });
        let late = doubts.filter(|sent| sent.late > Duration::ZERO);
        let inside = late.filter(|sent| {
            let from = sent.at + self.round_trip.saturating_sub(SLACK);
            from <= at && at < sent.at + sent.late + self.round_trip + SLACK
        });
        let ends = inside.map(|sent| sent.at + sent.late + self.round_trip + SLACK);
        ends.max().unwrap_or(Instant::ZERO)
    }

    /// True if the segment's numbers are within the data that the host has sent.
    fn is_plausible(&self, segment: &Segment) -> bool {
        let ends = self.sent.iter().map(|sent| sent.segment.seq.0 + sent.segment.sequence_len());
        let end = ends.max().unwrap_or(1).max(1);
        let sacked = segment.options.sack.as_slice().iter().map(|(_, right)| right.0).max();
        let knows_numbers = segment.ack.0.max(sacked.unwrap_or(0)) <= end;
        knows_numbers && self.knows_echo(segment)
    }

    fn knows_echo(&self, segment: &Segment) -> bool {
        segment.options.timestamps.is_none_or(|timestamps| {
            let sent = self.sent.iter().filter_map(|sent| sent.segment.options.timestamps);
            timestamps.echo == FIRST_TIMESTAMP
                || sent.into_iter().any(|ts| ts.value == timestamps.echo)
        })
    }

    /// Lets time pass up to `at`, and writes down what timers send.
    pub(crate) fn advance(&mut self, at: Instant) -> Result<(), Unplayable> {
        while self.host.step(at).map_err(Unplayable::Stuck)? {
            let since = self.fired.or(self.last_input).unwrap_or(Instant::ZERO);
            let waited = self.now().saturating_since(since);
            self.fired = Some(self.now());
            // A timeout is rounded before it is doubled.
            let rounding = TICK * (1 << self.doublings());
            self.late += wheel_granularity(waited) + rounding;
            self.most_late = self.most_late.max(self.late);
            self.write_sent(Some(self.late + self.doubt));
        }
        Ok(())
    }

    /// Lets a stimulus happen at `at`, and writes down what it leads to.
    pub(crate) fn apply(&mut self, at: Instant, stimulus: &Stimulus) -> Result<(), Unplayable> {
        self.advance(at)?;
        let next_is_near = self.next_timer().is_some_and(|next| next <= at + MARGIN + self.doubt);
        if at < self.after_timers().max(self.after_doubt(at)) || next_is_near {
            return Err(Unplayable::Race);
        }
        if let Stimulus::Segment(segment) = stimulus
            && !self.is_plausible(segment)
        {
            return Err(Unplayable::Implausible);
        }
        // Nothing happens where nothing is to be read.
        if matches!(stimulus, Stimulus::Read(_)) && self.readable() == 0 {
            return Ok(());
        }
        self.late = Duration::ZERO;
        self.fired = None;
        self.doubt = self.most_late;
        self.last_input = Some(at);
        match stimulus {
            Stimulus::Segment(segment) => {
                let _ = writeln!(self.text, "{} < {}", seconds_text(at), written_segment(segment));
                self.feed(segment);
            }
            Stimulus::Write(bytes) => {
                let _ =
                    writeln!(self.text, "{} write(4, ..., {bytes}) = {bytes}", seconds_text(at));
                self.host.write(CONNECTION, *bytes);
            }
            Stimulus::Read(most) => {
                let bytes = self.readable().min(*most);
                let _ = writeln!(self.text, "{} read(4, ..., {most}) = {bytes}", seconds_text(at));
                self.read += bytes;
                self.host.read(CONNECTION, bytes);
            }
            Stimulus::Shutdown => {
                let _ = writeln!(self.text, "{} shutdown(4, SHUT_WR) = 0", seconds_text(at));
                self.host.shutdown(CONNECTION);
            }
        }
        self.write_sent(None);
        self.write_assertions();
        Ok(())
    }

    /// The script up to `end`, at which the last assertions are made.
    pub(crate) fn finish(mut self, end: Instant) -> Result<String, Unplayable> {
        let end = self.reach_safe(end)?;
        self.advance(end)?;
        self.write_assertions();
        Ok(self.text)
    }

    /// Hands the host a segment of the script.
    fn feed(&mut self, segment: &Segment) {
        let mut raw = *segment;
        if segment.has(Flags::ACK) {
            raw.ack = segment.ack + self.isn;
        }
        raw.options.sack.clear();
        for (left, right) in segment.options.sack.as_slice() {
            raw.options.sack.push(*left + self.isn, *right + self.isn);
        }
        raw.options.timestamps = segment.options.timestamps.map(|ts| {
            let shift = self.first_timestamp.unwrap_or(0).wrapping_sub(FIRST_TIMESTAMP);
            Timestamps { echo: ts.echo.wrapping_add(shift), ..ts }
        });
        self.host.handle_segment(CONNECTION, &raw);
    }

    fn to_script(&self, segment: &Segment) -> Segment {
        let mut out = *segment;
        out.seq = segment.seq + self.isn.wrapping_neg();
        out.options.timestamps = segment.options.timestamps.map(|ts| {
            let shift = FIRST_TIMESTAMP.wrapping_sub(self.first_timestamp.unwrap_or(0));
            Timestamps { value: ts.value.wrapping_add(shift), ..ts }
        });
        out
    }

    /// Writes the segments that the host has sent now; if a timer did, they may be `late`.
    fn write_sent(&mut self, late: Option<Duration>) {
        while let Some(observed) = self.host.take_sent() {
            let segment = self.to_script(&observed.segment);
            let allowed = late.unwrap_or(Duration::ZERO);
            self.sent.push(RecordedSegment { at: observed.at, late: allowed, segment });
            let text = without_window(&written_segment(&segment));
            let _ = match late {
                None => writeln!(self.text, "{} > {text}", seconds_text(observed.at)),
                Some(late) => {
                    let since = observed.at.saturating_since(Instant::ZERO);
                    let from = Instant::ZERO + since.saturating_sub(self.doubt);
                    let from = from.max(self.last_input.unwrap_or(from));
                    writeln!(
                        self.text,
                        "{}~{} > {text}",
                        seconds_text(from),
                        seconds_text(observed.at + late)
                    )
                }
            };
        }
    }

    /// Writes what the host reports now.
    fn write_assertions(&mut self) {
        let at = self.now();
        let Some(state) = self.host.info(CONNECTION, TcpInfoField::State) else { return };
        let _ = writeln!(self.text, "{} %{{", seconds_text(at));
        if [TIME_WAIT, CLOSE].contains(&state) {
            // A socket whose connection is in TIME-WAIT reports TCP_CLOSE (tcp_time_wait).
            let _ = writeln!(self.text, "assert tcpi_state == 6 or tcpi_state == 7\n}}%");
            return;
        }
        let _ = writeln!(self.text, "assert tcpi_state == {state}");
        for field in EXACT {
            if let Some(value) = self.host.info(CONNECTION, field) {
                let _ = writeln!(self.text, "assert {} == {value}", name_of(field));
            }
        }
        for (field, slack) in self.inexact() {
            if let Some(value) = self.host.info(CONNECTION, field) {
                let (name, slack) = (name_of(field), slack.as_micros());
                let _ = writeln!(self.text, "assert abs({name} - {value}) <= {slack}");
            }
        }
        self.text.push_str("}%\n");
    }

    /// Doublings of the retransmission timeout.
    fn doublings(&mut self) -> u64 {
        self.host.info(CONNECTION, TcpInfoField::Backoff).unwrap_or(0).min(16)
    }

    /// The fields that are measured, with what the kernel's ticks and a busy machine may change.
    fn inexact(&mut self) -> [(TcpInfoField, Duration); 3] {
        let measured = Duration::from_millis(2) + self.most_late;
        let timeout = (measured + TICK * 2) * (1 << self.doublings());
        [
            (TcpInfoField::Rtt, measured),
            (TcpInfoField::MinRtt, measured),
            (TcpInfoField::Rto, timeout),
        ]
    }
}

/// The script of a case: what the model does under it.
///
/// # Errors
/// If an input is too near to a timer, or the model makes no progress.
pub fn record(case: &FuzzCase) -> Result<String, Unplayable> {
    let mut recording = ScriptRecording::open(&case.handshake)?;
    for step in &case.steps {
        recording.apply(Instant::ZERO + step.at, &step.stimulus)?;
    }
    recording.finish(Instant::ZERO + case.end)
}

/// Scripts have times in whole microseconds.
fn whole_micros(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos().div_ceil(1000) * 1000)
}

/// The grain of the kernel's timer wheel for a timer that runs for `wait` (`kernel/time/timer.c`).
fn wheel_granularity(wait: Duration) -> Duration {
    // A level has 64 slots, and a slot of the next level is eight times as long. Rounding may lift
    // a timer to the next level.
    let nearly = wait + TICK * 4;
    match nearly {
        _ if nearly < TICK * 64 => TICK,
        _ if nearly < TICK * 512 => TICK * 8,
        _ => TICK * 64,
    }
}

fn name_of(field: TcpInfoField) -> &'static str {
    TcpInfoField::ALL.iter().find(|(_, known)| *known == field).map_or("", |(name, _)| name)
}

/// A time in seconds, to the microsecond.
fn seconds_text(at: Instant) -> String {
    let micros = at.as_nanos() / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Removes the window: the receive buffer counts memory in the kernel, and bytes in the model.
fn without_window(text: &str) -> String {
    let mut words = Vec::new();
    let mut rest = text.split(' ');
    while let Some(word) = rest.next() {
        match word {
            "win" => _ = rest.next(),
            word => words.push(word),
        }
    }
    words.join(" ")
}

fn opening_syn(handshake: &FuzzHandshake) -> Segment {
    Segment {
        seq: SeqNum(0),
        window: handshake.window,
        flags: Flags::SYN,
        options: handshake.syn_options(),
        ..Segment::default()
    }
}

fn opening_ack(handshake: &FuzzHandshake) -> Segment {
    let value = 1 + handshake.round_trip.as_micros() as u32 / 1000;
    let mut ack = Segment {
        seq: SeqNum(1),
        ack: SeqNum(1),
        window: handshake.window >> handshake.window_scale.unwrap_or(0),
        flags: Flags::ACK,
        ..Segment::default()
    };
    ack.options.timestamps =
        handshake.timestamps.then_some(Timestamps { value, echo: FIRST_TIMESTAMP });
    ack
}

/// The script up to the accepted connection; `answer` is the host's SYN-ACK.
fn opening_text(handshake: &FuzzHandshake, answer: &Segment) -> String {
    let accepted = seconds_text(Instant::ZERO + handshake.round_trip);
    let mut text = format!(
        "--ignore_push\n\n\
         0.000000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         0.000000 listen(3, 1) = 0\n\
         0.000000 < {}\n\
         0.000000 > {}\n\
         {accepted} < {}\n\
         {accepted} accept(3, ..., ...) = 4\n",
        written_segment(&opening_syn(handshake)),
        without_window(&written_segment(answer)),
        written_segment(&opening_ack(handshake)),
    );
    if handshake.no_delay {
        let _ = writeln!(text, "{accepted} setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0");
    }
    text
}
