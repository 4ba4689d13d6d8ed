//! An end of a connection does its steps, and logs when.

use super::samples::KernelSample;
use super::script::{ScriptStep, seconds};
use super::sleep::sleep;
use super::sockets::KernelCounters;
use emulator::Clock;
use serde::{Serialize, Serializer};
use socket2::SockRef;
use std::cell::Cell;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use units::{Duration, Instant};

/// A step that was done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DoneStep {
    /// The step.
    pub step: ScriptStep,
    /// Time at which it began, since the origin of the row's clock.
    #[serde(serialize_with = "serialize_instant")]
    pub began: Instant,
    /// Time at which it was over.
    #[serde(serialize_with = "serialize_instant")]
    pub ended: Instant,
    /// Bytes written to the connection before it, TLS included.
    pub written_from: u64,
    /// Bytes written to the connection after it.
    pub written_to: u64,
}

/// Actions of one end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EndLog {
    /// Its steps; fewer than its script has if the other end reset the connection.
    pub steps: Vec<DoneStep>,
    /// Time at which its TLS handshake was over, if it had one.
    #[serde(serialize_with = "maybe_instant")]
    pub tls_over: Option<Instant>,
    /// The other end reset the connection.
    pub was_reset: bool,
    /// Time at which all that it wrote was acknowledged, if it looked.
    #[serde(serialize_with = "maybe_instant")]
    pub acknowledged: Option<Instant>,
    /// The kernel's counters when all was acknowledged.
    pub kernel: KernelCounters,
    /// The kernel's counters on the way.
    #[serde(skip)]
    pub samples: Vec<KernelSample>,
    /// Bytes that it had read, and when.
    #[serde(skip)]
    pub arrivals: Vec<DeliveredBytes>,
}

/// Bytes that an application had read at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveredBytes {
    /// The instant.
    pub at: Instant,
    /// Bytes since the connection opened.
    pub bytes: u64,
}

/// Counts the bytes written to a connection.
pub(super) struct Counted {
    inner: TcpStream,
    written: Rc<Cell<u64>>,
}

impl Counted {
    /// Around a connection.
    pub(super) fn new(inner: TcpStream) -> Self {
        Self { inner, written: Rc::default() }
    }

    /// The count, which goes on.
    pub(super) fn written_count(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.written)
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.written.set(self.written.get() + count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// An end that does steps.
pub(super) struct Player<S> {
    /// The stream that it reads and writes.
    pub(super) stream: S,
    /// The connection beneath.
    pub(super) socket: TcpStream,
    /// Bytes written to it.
    pub(super) written: Rc<Cell<u64>>,
    pub(super) clock: Clock,
    pub(super) log: EndLog,
}

/// Time between two looks at the kernel's counters.
const LOOK_EVERY: Duration = Duration::from_micros(500);
/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

impl<S: Read + Write> Player<S> {
    /// Does all steps. A reset by the other end is no error, and ends them.
    ///
    /// # Errors
    /// If the connection fails otherwise, or the other end closes too early.
    pub(super) fn run_steps(&mut self, steps: &[ScriptStep]) -> io::Result<()> {
        for step in steps {
            let (began, written_from) = (self.clock.now(), self.written.get());
            let done = self.play_one(*step);
            let (ended, written_to) = (self.clock.now(), self.written.get());
            self.log.steps.push(DoneStep { step: *step, began, ended, written_from, written_to });
            match done {
                Ok(()) => {}
                Err(error) if is_reset(&error) => {
                    self.log.was_reset = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        // Counters are those of the whole transfer. Bytes that a reset cut off are never
        // acknowledged.
        if !self.log.was_reset && !steps.contains(&ScriptStep::Reset) {
            self.read_to_end()?;
        }
        self.log.kernel = KernelCounters::of(&self.socket)?;
        Ok(())
    }

    fn play_one(&mut self, step: ScriptStep) -> io::Result<()> {
        match step {
            ScriptStep::Read(bytes) => self.read(bytes),
            ScriptStep::ReadSlowly { bytes, chunk, every } => self.read_slowly(bytes, chunk, every),
            ScriptStep::Write(bytes) | ScriptStep::Control(bytes) => self.write(bytes),
            ScriptStep::WriteInParts { bytes, chunk } => {
                let calls = 0..bytes.div_ceil(chunk);
                calls.map(|n| chunk.min(bytes - n * chunk)).try_for_each(|part| self.write(part))
            }
            ScriptStep::Pause(time) => {
                sleep(time);
                Ok(())
            }
            ScriptStep::Drain => self.read_to_end(),
            ScriptStep::Reset => {
                SockRef::from(&self.socket).set_linger(Some(std::time::Duration::ZERO))
            }
        }
    }

    fn write(&mut self, bytes: u64) -> io::Result<()> {
        self.stream.write_all(&vec![7; bytes as usize])?;
        self.stream.flush()
    }

    fn read(&mut self, bytes: u64) -> io::Result<()> {
        let (mut buffer, mut left) = (vec![0; CHUNK], bytes);
        while left > 0 {
            let most = left.min(CHUNK as u64) as usize;
            let count = self.stream.read(&mut buffer[..most])? as u64;
            if count == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            left -= count;
            let before = self.log.arrivals.last().map_or(0, |last| last.bytes);
            self.log.arrivals.push(DeliveredBytes { at: self.clock.now(), bytes: before + count });
        }
        Ok(())
    }

    /// Reads at fixed instants, so that a late one does not slow the reader down.
    fn read_slowly(&mut self, bytes: u64, chunk: u64, every: Duration) -> io::Result<()> {
        let start = self.clock.now();
        let reads = bytes.div_ceil(chunk);
        for read in 0..reads {
            self.read(chunk.min(bytes - read * chunk))?;
            let due = start + every.saturating_mul(read + 1);
            sleep(due.saturating_since(self.clock.now()));
        }
        Ok(())
    }

    fn read_to_end(&mut self) -> io::Result<()> {
        while !KernelCounters::of(&self.socket)?.is_drained() {
            sleep(LOOK_EVERY);
        }
        self.log.acknowledged = Some(self.clock.now());
        Ok(())
    }
}

fn is_reset(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

fn serialize_instant<S: Serializer>(at: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    seconds(&at.saturating_since(Instant::ZERO), serializer)
}

fn maybe_instant<S: Serializer>(at: &Option<Instant>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.serialize_some(&at.as_secs_f64()),
        None => serializer.serialize_none(),
    }
}
