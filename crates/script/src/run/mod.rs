//! Playing a script against a TCP, which has a clock: virtual time, or another.
//!
//! In virtual time events happen at their times exactly; the host's timers that are due by then
//! fire first, also at the same instant. Segments that the host sends wait in order until a `>`
//! asks for them, as in packetdrill. A segment without a `>` of its own differs from the next one
//! that is asked for. Segments that are left at the end only add to a count. Nothing happens after
//! the last event.
//!
//! Read on in `subject.rs` (what is played against), `driver.rs` (a host in virtual time),
//! `application.rs` (sockets), and `calls.rs` (calls on them). See also `waiting.rs` (calls that
//! wait), `outbound.rs` (expected against sent), `socket.rs` (one socket), and `numbering.rs` (the
//! script's numbers and the host's).

mod application;
mod assertion;
mod calls;
mod driver;
mod info;
mod numbering;
mod outbound;
mod socket;
mod subject;
mod waiting;

use super::code::Variables;
use super::error::Mismatch;
use super::machine::{ExpectedCounter, MachineSetting};
use super::model::{DEFAULT_SCHEME, IcmpTrouble, Script, ScriptAction, ScriptEvent, When};
use application::Application;
pub use driver::VirtualHost;
use numbering::Numbering;
use std::collections::BTreeMap;
pub use subject::{ConnectRequest, ConnectionRequest, ObservedSegment, SocketProgress, Subject};
use tcp::{Flags, Scheme};
use units::{Duration, Instant};

/// Report of a successful run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Name of the scheme that ran.
    pub scheme: String,
    /// Events that held: all of the script's.
    pub events: usize,
    /// Assertions that were not judged, since the subject cannot answer them.
    pub not_asked: usize,
    /// Time from the beginning to the last event.
    pub lasted: Duration,
    /// Segments that the host sent and the script expected.
    pub sent: usize,
    /// Segments that the host sent and no event asked for, in the script's notation with their
    /// times. packetdrill does not look at them either.
    pub left_over: Vec<String>,
}

/// Plays `script` under `scheme`, or under the one that the script names.
///
/// # Errors
/// The first event that does not hold.
pub fn run(script: &Script, scheme: Option<&Scheme>) -> Result<RunReport, Mismatch> {
    play(script, scheme, VirtualHost::new(&script.settings))
}

/// Plays as [`run`] does, against a subject of another kind, with its own clock. The subject is
/// used as it is: the script's seed does not apply to it.
///
/// # Errors
/// The first event that does not hold.
pub fn play(
    script: &Script,
    scheme: Option<&Scheme>,
    subject: impl Subject,
) -> Result<RunReport, Mismatch> {
    let scheme = scheme.or(script.settings.scheme.as_ref()).cloned();
    let scheme = scheme.unwrap_or_else(default_scheme).recorded();
    let mut run = Run::new(script, &scheme, subject);
    for event in &script.events {
        run.event(event).map_err(|failure| failure.at(script, event))?;
    }
    if let Some(last) = script.events.last() {
        run.finish_call().map_err(|failure| failure.at(script, last))?;
    }
    Ok(run.report(&scheme))
}

fn default_scheme() -> Scheme {
    Scheme::parse(DEFAULT_SCHEME).expect("the catalogue has the default scheme")
}

/// A failure, before its line is known. A call that waited fails at its own line.
struct Failure {
    line: Option<u32>,
    message: String,
    expected: String,
    actual: String,
}

impl Failure {
    fn new(message: impl Into<String>, expected: String, actual: String) -> Self {
        Self { line: None, message: message.into(), expected, actual }
    }

    fn at(self, script: &Script, event: &ScriptEvent) -> Mismatch {
        Mismatch {
            name: script.name.clone(),
            line: self.line.unwrap_or(event.position.line),
            message: self.message,
            expected: self.expected,
            actual: self.actual,
        }
    }
}

type CheckResult<T = ()> = Result<T, Failure>;

/// Times at which an event may happen; `None`: whenever.
type Bounds = Option<(Instant, Instant)>;

/// Counters that scripts ask for.
const COUNTERS: [&str; 2] = ["OutOfWindowIcmps", "BeyondWindow"];

struct Run<'a, S> {
    script: &'a Script,
    subject: S,
    application: Application,
    /// Numberings by connection.
    numberings: Vec<Numbering>,
    variables: Variables,
    /// Values of counters when they were last read.
    counted: BTreeMap<String, u64>,
    /// Start of relative times.
    reference: Instant,
    sent: usize,
    not_asked: usize,
}

impl<'a, S: Subject> Run<'a, S> {
    fn new(script: &'a Script, scheme: &Scheme, subject: S) -> Self {
        Self {
            script,
            subject,
            application: Application::new(scheme.clone(), &script.settings),
            numberings: Vec::new(),
            variables: Variables::default(),
            counted: BTreeMap::new(),
            reference: Instant::ZERO,
            sent: 0,
            not_asked: 0,
        }
    }

    fn event(&mut self, event: &ScriptEvent) -> CheckResult {
        let bounds = self.bounds(event.when);
        match &event.action {
            ScriptAction::Outbound(expected) => self.outbound(expected, bounds)?,
            action => {
                let at = bounds.map_or(self.subject.now(), |(at, _)| at);
                self.advance(at)?;
                self.act(action, event)?;
            }
        }
        self.reference = match (event.when, bounds) {
            (When::At(_) | When::After(_), Some((at, _))) => at,
            _ => self.subject.now(),
        };
        Ok(())
    }

    fn act(&mut self, action: &ScriptAction, event: &ScriptEvent) -> CheckResult {
        match action {
            ScriptAction::Inbound(segment) => {
                if segment.has(Flags::SYN) && !segment.has(Flags::ACK) {
                    self.application.note_syn();
                }
                let connection = self.under_test().unwrap_or(0);
                let arriving = self.numbering(connection).translate_inbound(segment);
                self.subject.handle_segment(connection, &arriving);
                if self.subject.began_anew(connection, self.application.connections) {
                    let former = self.application.renumber(connection);
                    *self.numbering(former) = std::mem::take(self.numbering(connection));
                    self.numbering(connection).translate_inbound(segment);
                }
                self.settle_call()
            }
            ScriptAction::Icmp(message) => {
                let connection = self.under_test().unwrap_or(0);
                let seq = self.numbering(connection).of_host(message.quoted);
                self.application.note_icmp(connection, message.errno);
                let too_big = matches!(message.trouble, IcmpTrouble::TooBig(_));
                if !(too_big && self.application.ignores_path_mtu(connection)) {
                    self.subject.handle_icmp(connection, seq, message.trouble);
                }
                self.settle_call()
            }
            ScriptAction::Shell(settings) => self.set(settings),
            ScriptAction::Call(call) => {
                let returns = call.returns.map(|end| match event.when {
                    When::After(_) => self.reference + end,
                    _ => Instant::ZERO + end,
                });
                self.call(call, returns, event.position.line)
            }
            ScriptAction::Code(lines) => self.code(lines),
            ScriptAction::Outbound(_) => Ok(()),
        }
    }

    /// The connection that segments are of.
    fn under_test(&self) -> Option<usize> {
        self.application.under_test()
    }

    fn numbering(&mut self, connection: usize) -> &mut Numbering {
        if self.numberings.len() <= connection {
            self.numberings.resize_with(connection + 1, Numbering::default);
        }
        &mut self.numberings[connection]
    }

    /// Commands set something of the machine.
    fn set(&mut self, settings: &[MachineSetting]) -> CheckResult {
        for setting in settings {
            match setting {
                MachineSetting::ForgetPeers => self.subject.forget_peers(),
                MachineSetting::Counters => {
                    for name in COUNTERS {
                        let value = self.subject.counter(name).unwrap_or(0);
                        self.counted.insert(name.to_owned(), value);
                    }
                }
                MachineSetting::Counted(expected) => self.check_counter(expected)?,
                MachineSetting::Defaults(_) => {
                    self.subject.forget_peers();
                    self.application.machine.set(setting);
                }
                _ => self.application.machine.set(setting),
            }
        }
        self.subject.configure(&self.application.machine.now);
        self.listen_again()
    }

    /// A counter must have increased; a counter that the subject lacks is not asked for.
    fn check_counter(&mut self, ExpectedCounter { name, times }: &ExpectedCounter) -> CheckResult {
        let Some(now) = self.subject.counter(name) else {
            self.not_asked += 1;
            return Ok(());
        };
        let since = now.saturating_sub(self.counted.get(name).copied().unwrap_or(0));
        if times.map_or(since > 0, |times| since == times) {
            return Ok(());
        }
        let expected = match times {
            Some(times) => format!("nstat | grep {name} | grep -q \" {times} \""),
            None => format!("nstat | grep {name}"),
        };
        let actual = format!("{name} was {since}");
        Err(Failure::new("the counter differs", expected, actual))
    }

    fn bounds(&self, when: When) -> Bounds {
        let relative = |delay: Duration| self.reference + delay;
        match when {
            When::At(time) => Some((Instant::ZERO + time, Instant::ZERO + time)),
            When::After(delay) => Some((relative(delay), relative(delay))),
            When::AtRange(from, to) => Some((Instant::ZERO + from, Instant::ZERO + to)),
            When::AfterRange(from, to) => Some((relative(from), relative(to))),
            When::Any => None,
        }
    }

    /// Lets time pass up to `at`; an event whose time is past happens now.
    fn advance(&mut self, at: Instant) -> CheckResult {
        while self.step(at)? {
            self.settle_call()?;
        }
        Ok(())
    }

    fn step(&mut self, limit: Instant) -> CheckResult<bool> {
        self.subject.step(limit).map_err(|why| {
            let actual = format!("{why} at {}", seconds(self.subject.now()));
            Failure::new("the host makes no progress", "time passes".to_owned(), actual)
        })
    }

    fn tolerance(&self) -> Duration {
        self.script.settings.tolerance
    }

    fn report(mut self, scheme: &Scheme) -> RunReport {
        let lasted = self.subject.now() - Instant::ZERO;
        let mut left_over = Vec::new();
        let under_test = self.under_test();
        while let Some(sent) = self.subject.take_sent() {
            if Some(sent.connection) == under_test {
                left_over.push(self.describe_sent(&sent));
            }
        }
        RunReport {
            scheme: scheme.name().to_owned(),
            events: self.script.events.len(),
            sent: self.sent,
            not_asked: self.not_asked,
            lasted,
            left_over,
        }
    }
}

/// Seconds, to the microsecond where that is exact.
fn seconds(at: Instant) -> String {
    let nanos = at.as_nanos();
    if nanos.is_multiple_of(1_000) {
        format!("{}.{:06}", nanos / 1_000_000_000, nanos % 1_000_000_000 / 1_000)
    } else {
        format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
    }
}
