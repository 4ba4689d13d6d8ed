//! Playing a script against a host, in virtual time.
//!
//! Events happen at their times exactly; the host's timers that are due by then fire first, also
//! at the same instant. What the host sends waits in order until a `>` asks for it, as in
//! packetdrill: a segment that no `>` asked for differs from the next one that is asked for, and
//! what is left at the end is only counted. Nothing happens after the last event.
//!
//! Read on in `driver.rs` (the host and its clock), `calls.rs` (the application), `outbound.rs`
//! (expected against sent), `numbering.rs` (the script's numbers and the host's).

mod assertion;
mod calls;
mod driver;
mod info;
mod numbering;
mod outbound;

use super::error::Mismatch;
use super::model::{Action, DEFAULT_SCHEME, Event, Script, When};
use calls::Application;
use driver::Driver;
use numbering::Numbering;
use tcp::Scheme;
use units::{Duration, Instant};

/// What a run that held says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Name of the scheme that ran.
    pub scheme: String,
    /// Events that held: all of the script's.
    pub events: usize,
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
    let scheme = scheme.or(script.settings.scheme.as_ref()).cloned();
    let scheme = scheme.unwrap_or_else(default_scheme).recorded();
    let mut run = Run::new(script, &scheme);
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

/// What failed, before it is known where. A call that waited fails at its own line.
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

    fn at(self, script: &Script, event: &Event) -> Mismatch {
        Mismatch {
            name: script.name.clone(),
            line: self.line.unwrap_or(event.position.line),
            message: self.message,
            expected: self.expected,
            actual: self.actual,
        }
    }
}

type Held<T = ()> = Result<T, Failure>;

/// Times at which an event may happen; `None`: whenever.
type Bounds = Option<(Instant, Instant)>;

struct Run<'a> {
    script: &'a Script,
    driver: Driver,
    application: Application,
    numbering: Numbering,
    /// What relative times count from.
    reference: Instant,
    sent: usize,
}

impl<'a> Run<'a> {
    fn new(script: &'a Script, scheme: &Scheme) -> Self {
        Self {
            script,
            driver: Driver::new(script.settings.seed),
            application: Application::new(scheme.clone(), script.settings.mss),
            numbering: Numbering::default(),
            reference: Instant::ZERO,
            sent: 0,
        }
    }

    fn event(&mut self, event: &Event) -> Held {
        let bounds = self.bounds(event.when);
        match &event.action {
            Action::Outbound(expected) => self.outbound(expected, bounds)?,
            action => {
                let at = bounds.map_or(self.driver.now(), |(at, _)| at);
                self.advance(at)?;
                self.act(action, event)?;
            }
        }
        self.reference = match (event.when, bounds) {
            (When::At(_) | When::After(_), Some((at, _))) => at,
            _ => self.driver.now(),
        };
        Ok(())
    }

    fn act(&mut self, action: &Action, event: &Event) -> Held {
        match action {
            Action::Inbound(segment) => {
                let segment = self.numbering.to_host(segment);
                self.driver.handle_segment(&segment);
                self.settle_call()
            }
            Action::Call(call) => {
                let returns = call.returns.map(|end| match event.when {
                    When::After(_) => self.reference + end,
                    _ => Instant::ZERO + end,
                });
                self.call(call, returns, event.position.line)
            }
            Action::Assert(assertions) => self.assert(assertions),
            Action::Outbound(_) => Ok(()),
        }
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
    fn advance(&mut self, at: Instant) -> Held {
        while self.driver.step(at)? {
            self.settle_call()?;
        }
        Ok(())
    }

    fn tolerance(&self) -> Duration {
        self.script.settings.tolerance
    }

    fn report(mut self, scheme: &Scheme) -> RunReport {
        let mut left_over = Vec::new();
        while let Some(sent) = self.driver.take_sent() {
            left_over.push(self.describe_sent(&sent));
        }
        RunReport {
            scheme: scheme.name().to_owned(),
            events: self.script.events.len(),
            sent: self.sent,
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
