//! Two ports joined by two links in real time.

use crate::awake::Awake;
use crate::driver::Driver;
use crate::totals::{DirectionTotals, Live};
use crate::{Clock, Direction, PacketRecorder, Pipe, Port, SchedulingDelays, ThreadScheduling};
use link::{Duplex, Link, LinkConfig, stream};
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use units::{Duration, Instant, Rate};

/// Options of an emulation.
#[derive(Debug)]
pub struct EmulationOptions {
    /// Forward is down, towards the client.
    pub links: Duplex<LinkConfig>,
    /// Seed of losses, reordering and whatever else is left to chance. A packet's fate then depends
    /// on how many came before it on the same link, as in the simulator.
    pub seed: u64,
    /// Time before an event at which a thread stops sleeping and polls the clock instead. It makes
    /// handing over more exact by about the time of a wake-up, and costs that much of a core for
    /// each packet.
    pub spin: Duration,
    /// Recorders that receive every packet.
    pub recorders: Option<Duplex<PacketRecorder>>,
    /// The clock of all times; its origin is where records begin.
    pub clock: Clock,
}

impl EmulationOptions {
    /// Creates options with these links, seed 1, no spinning and no recorders.
    pub fn new(links: Duplex<LinkConfig>) -> Self {
        Self { links, seed: 1, spin: Duration::ZERO, recorders: None, clock: Clock::start() }
    }
}

/// Results of one direction from its start on.
#[derive(Clone, Debug)]
pub struct DirectionReport {
    /// Totals of the direction.
    pub totals: DirectionTotals,
    /// Scheduling delays of its packets.
    pub scheduling_delay: SchedulingDelays,
    /// Scheduling of its thread.
    pub scheduling: ThreadScheduling,
    /// Reason why it ended before it was stopped, if it did.
    pub failure: Option<String>,
}

/// Both directions.
#[derive(Clone, Debug)]
pub struct EmulationReport {
    /// Towards the client.
    pub down: DirectionReport,
    /// Away from the client.
    pub up: DirectionReport,
}

/// A running emulation. It stops when it is dropped.
#[derive(Debug)]
pub struct Emulation {
    down: RunningDirection,
    up: RunningDirection,
    stop: Arc<EventFd>,
    clock: Clock,
    _awake: Awake,
}

#[derive(Debug)]
struct RunningDirection {
    live: Arc<Mutex<Live>>,
    /// Rate of the link from the next packet on, bits a second; 0: unchanged.
    next_rate: Arc<AtomicU64>,
    scheduling: ThreadScheduling,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Emulation {
    /// Joins the client's port and the host's, and moves packets from now on.
    ///
    /// # Errors
    /// If threads or descriptors cannot be had.
    pub fn start(client: Port, host: Port, options: EmulationOptions) -> io::Result<Self> {
        let EmulationOptions { links, seed, spin, recorders, clock } = options;
        let stop = Arc::new(EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC)?);
        let begin = |direction, config, (source, sink): (&Port, &Port), recorder: Option<_>| {
            let name = name_of(direction);
            let pipe = Pipe::new(Link::new(config, stream(seed, &format!("link/{name}"))));
            let pipe = match recorder {
                Some(recorder) => pipe.with_recorder(recorder),
                None => pipe,
            };
            let (source, sink) = (source.clone(), sink.clone());
            let live = Arc::new(Mutex::new(Live::default()));
            let stop = Arc::clone(&stop);
            let next_rate = Arc::new(AtomicU64::new(0));
            let driver = Driver { pipe, source, sink, stop, clock, spin, live, next_rate };
            RunningDirection::start_thread(name, driver)
        };
        let (to_client, to_host) =
            recorders.map_or((None, None), |both| (Some(both.forward), Some(both.reverse)));
        Ok(Self {
            down: begin(Direction::Down, links.forward, (&host, &client), to_client)?,
            up: begin(Direction::Up, links.reverse, (&client, &host), to_host)?,
            stop,
            clock,
            _awake: Awake::begin(),
        })
    }

    /// Totals so far, down and up.
    pub fn totals(&self) -> Duplex<DirectionTotals> {
        Duplex { forward: self.down.totals(), reverse: self.up.totals() }
    }

    /// Returns the scheduling delays of both directions since the last call, so that each of
    /// several runs can be judged.
    pub fn take_scheduling_delay(&self) -> SchedulingDelays {
        let mut scheduling_delay = self.down.take_scheduling_delay();
        scheduling_delay.add(&self.up.take_scheduling_delay());
        scheduling_delay
    }

    /// Gives both links other rates, unless they follow a trace. They hold for packets that arrive
    /// from now on; packets in the queues keep the times at which they leave. A rate of zero
    /// changes nothing.
    pub fn set_rates(&self, rates: Duplex<Rate>) {
        for (running, rate) in [(&self.down, rates.forward), (&self.up, rates.reverse)] {
            running.next_rate.store(rate.as_bps(), Ordering::Release);
        }
    }

    /// Time since the origin of the emulation's clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Scheduling of its threads: the worse of both.
    pub fn scheduling(&self) -> &ThreadScheduling {
        match &self.down.scheduling {
            ThreadScheduling::RealTime => &self.up.scheduling,
            ordinary @ ThreadScheduling::Ordinary(_) => ordinary,
        }
    }

    /// Ends the emulation. Packets in the queues or on the wire are discarded.
    pub fn stop(mut self) -> EmulationReport {
        self.signal_stop();
        EmulationReport { down: self.down.report(), up: self.up.report() }
    }

    fn signal_stop(&self) {
        // It fails only where the counter is full, which is a signal too.
        let _ = self.stop.write(1);
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        self.signal_stop();
        for running in [&mut self.down, &mut self.up] {
            running.join();
        }
    }
}

impl RunningDirection {
    fn start_thread(name: &str, driver: Driver) -> io::Result<Self> {
        let (live, next_rate) = (Arc::clone(&driver.live), Arc::clone(&driver.next_rate));
        let (sender, scheduling) = channel();
        let run = move |sender: Sender<ThreadScheduling>| {
            // The receiver is gone only if starting was given up.
            let _ = sender.send(ThreadScheduling::best());
            driver.run()
        };
        let thread =
            thread::Builder::new().name(format!("emulate-{name}")).spawn(|| run(sender))?;
        let scheduling = scheduling.recv().map_err(io::Error::other)?;
        Ok(Self { live, next_rate, scheduling, thread: Some(thread) })
    }

    fn lock_live(&self) -> std::sync::MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn totals(&self) -> DirectionTotals {
        self.lock_live().totals
    }

    fn take_scheduling_delay(&self) -> SchedulingDelays {
        // The value is created outside of the lock, so that the direction is hardly kept from
        // reporting.
        let fresh = SchedulingDelays::default();
        std::mem::replace(&mut self.lock_live().scheduling_delay, fresh)
    }

    fn join(&mut self) -> Option<String> {
        match self.thread.take()?.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the thread panicked".to_owned()),
        }
    }

    fn report(&mut self) -> DirectionReport {
        let failure = self.join();
        let live = self.lock_live();
        DirectionReport {
            totals: live.totals,
            scheduling_delay: live.scheduling_delay.clone(),
            scheduling: self.scheduling.clone(),
            failure,
        }
    }
}

const fn name_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "down",
        Direction::Up => "up",
    }
}
