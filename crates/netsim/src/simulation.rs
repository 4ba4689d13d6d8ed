//! A simulation: a topology, the applications on it, and virtual time.

use crate::application::{AppContext, Application};
use crate::observer::Observer;
use crate::packet::WireSizes;
use crate::topology::Topology;
use crate::world::{Notice, OutOfPorts, World};
use crate::{AppId, HostId, LinkId};
use link::{Link, LinkError, Occupancy, stream};
use std::any::Any;
use std::fmt;
use tcp::Host;
use units::{Instant, Rate};
use workload::Distribution;

/// Settings of a whole simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationConfig {
    /// Seed of every random stream.
    pub seed: u64,
    /// Sizes of packets on the wire.
    pub wire_sizes: WireSizes,
}

/// The reason why a run did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// No event is left, yet these applications have not finished.
    Deadlock {
        /// Time of the last event.
        at: Instant,
        /// The result of [`Application::describe`] of each.
        waiting: Vec<String>,
    },
    /// The time limit has passed and these applications have not finished.
    TimeLimit {
        /// The limit.
        at: Instant,
        /// The result of [`Application::describe`] of each.
        waiting: Vec<String>,
    },
    /// A packet was sent to a host without a route.
    NoRoute {
        /// Name of the sending host.
        from: String,
        /// Name, or index, of the destination.
        to: String,
    },
    /// All ports for connections between two hosts were in use.
    OutOfPorts {
        /// Time of the failure.
        at: Instant,
        /// Name of the host that opens them.
        from: String,
        /// Name of the other.
        to: String,
        /// The result of [`Application::describe`] of the application that opened the last.
        app: String,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock { at, waiting } => {
                write!(f, "nothing happens after {at}, still waiting: {}", waiting.join("; "))
            }
            Self::TimeLimit { at, waiting } => {
                write!(f, "not finished at {at}: {}", waiting.join("; "))
            }
            Self::NoRoute { from, to } => {
                write!(f, "no route from {from} to {to}: add links or a route between them")
            }
            Self::OutOfPorts { at, from, to, app } => write!(
                f,
                "no port is free for another connection from {from} to {to} at {at}, all are in use: transfers \
                 arrive faster than the path lets them end; {app}"
            ),
        }
    }
}

impl std::error::Error for SimulationError {}

/// An application and its state.
struct StartedApplication {
    app: Box<dyn Application>,
    started: bool,
}

/// A topology with applications, at some instant of virtual time.
pub struct Simulation {
    world: World,
    seats: Vec<StartedApplication>,
}

impl Simulation {
    /// Creates a simulation at time zero, with nothing in flight.
    ///
    /// # Panics
    /// If the topology has four million links or hosts.
    pub fn new(topology: Topology, config: SimulationConfig) -> Self {
        Self { world: World::new(topology, config.seed, config.wire_sizes), seats: Vec::new() }
    }

    /// Adds an application that starts at `start` (or now, if that is past) and has to finish.
    ///
    /// # Panics
    /// If there are four million applications already. [`Simulation::add_background`] panics in the
    /// same case.
    pub fn add(&mut self, start: Instant, app: impl Application) -> AppId {
        self.add_application(start, Box::new(app), true)
    }

    /// Adds an application that starts at `start` and that runs do not wait for.
    pub fn add_background(&mut self, start: Instant, app: impl Application) -> AppId {
        self.add_application(start, Box::new(app), false)
    }

    /// Fires an application's timer `token` at `at`; runs wait for it to finish (again).
    pub fn wake(&mut self, app: AppId, at: Instant, token: u32) {
        self.world.reopen(app);
        self.world.set_timer(app, at, token);
    }

    /// Makes runs wait for a finished application to finish again.
    pub fn wait_for(&mut self, app: AppId) {
        self.world.reopen(app);
    }

    /// Returns a start time: `base` plus a draw of seconds from the stream `app/<name>/start`.
    pub fn draw_start(&self, name: &str, base: Instant, delay: &Distribution) -> Instant {
        let mut stream = stream(self.world.seed, &format!("app/{name}/start"));
        base + delay.sample_duration(&mut stream)
    }

    fn add_application(
        &mut self,
        start: Instant,
        app: Box<dyn Application>,
        foreground: bool,
    ) -> AppId {
        let id = self.world.register_application(foreground);
        self.seats.push(StartedApplication { app, started: false });
        self.world.set_timer(id, start, 0);
        id
    }

    /// Adds an observer of every packet at every link.
    pub fn observe(&mut self, observer: impl Observer) {
        self.world.network.add_observer(Box::new(observer));
    }

    /// Runs until every foreground application has finished; returns when that was.
    ///
    /// # Errors
    /// If no event is left, or `limit` has passed, before that; if a route or a free port is
    /// missing.
    pub fn run(&mut self, limit: Instant) -> Result<Instant, SimulationError> {
        let outcome = self.run_to_completion(limit);
        self.world.network.roll_back_to_now();
        outcome
    }

    fn run_to_completion(&mut self, limit: Instant) -> Result<Instant, SimulationError> {
        self.run_events(limit, true)?;
        self.stop();
        if self.world.unfinished_count() == 0 {
            return Ok(self.now());
        }
        let waiting = self.unfinished_applications();
        if self.world.network.is_idle() {
            return Err(SimulationError::Deadlock { at: self.now(), waiting });
        }
        self.world.network.advance_to(limit);
        Err(SimulationError::TimeLimit { at: limit, waiting })
    }

    /// Runs all events up to and including `end`, even if all applications have finished, and stops
    /// there.
    ///
    /// # Errors
    /// [`SimulationError::NoRoute`], [`SimulationError::OutOfPorts`].
    pub fn run_until(&mut self, end: Instant) -> Result<(), SimulationError> {
        let outcome = self.run_events(end, false);
        if outcome.is_ok() {
            self.world.network.advance_to(end);
            self.stop();
        }
        self.world.network.roll_back_to_now();
        outcome
    }

    /// Notifies every started application that the run stops here.
    fn stop(&mut self) {
        for (n, seat) in self.seats.iter_mut().enumerate().filter(|(_, seat)| seat.started) {
            seat.app.on_stop(&mut AppContext { world: &mut self.world, app: AppId(n as u32) });
        }
    }

    fn run_events(&mut self, limit: Instant, until_finished: bool) -> Result<(), SimulationError> {
        self.world.network.resume();
        loop {
            while let Some(notice) = self.world.next_notice() {
                self.deliver_notice(notice);
            }
            self.check_routes()?;
            self.check_ports()?;
            if until_finished && self.world.unfinished_count() == 0 {
                return Ok(());
            }
            match self.world.step(limit) {
                Ok(Some(notice)) => self.deliver_notice(notice),
                Ok(None) => {}
                Err(_) => return Ok(()),
            }
        }
    }

    /// Passes a notice to its application.
    fn deliver_notice(&mut self, notice: Notice) {
        let id = match notice {
            Notice::Event { app, .. } | Notice::UnsentLow { app, .. } | Notice::Timer(app, _) => {
                app
            }
            Notice::Datagram(_, datagram) => datagram.app,
        };
        let seat = &mut self.seats[id.index()];
        let context = &mut AppContext { world: &mut self.world, app: id };
        match notice {
            Notice::Event { host, event, .. } => seat.app.on_event(context, host, &event),
            Notice::UnsentLow { host, conn, .. } => seat.app.on_unsent_low(context, host, conn),
            Notice::Timer(..) if !std::mem::replace(&mut seat.started, true) => {
                seat.app.start(context);
            }
            Notice::Timer(_, token) => seat.app.on_timer(context, token),
            Notice::Datagram(host, datagram) => seat.app.on_datagram(context, host, datagram),
        }
    }

    fn check_routes(&self) -> Result<(), SimulationError> {
        let Some((from, to)) = self.world.network.unreachable() else {
            return Ok(());
        };
        Err(SimulationError::NoRoute { from: self.name_of(from), to: self.name_of(to) })
    }

    fn check_ports(&self) -> Result<(), SimulationError> {
        let Some(OutOfPorts { app, from, to }) = self.world.out_of_ports else {
            return Ok(());
        };
        let (at, app) = (self.now(), self.seats[app.index()].app.describe());
        let [from, to] = [from, to].map(|host| self.name_of(host));
        Err(SimulationError::OutOfPorts { at, from, to, app })
    }

    fn name_of(&self, host: HostId) -> String {
        let topology = self.topology();
        match host.index() < topology.host_count() {
            true => topology.host_name(host).to_owned(),
            false => format!("host number {}", host.0),
        }
    }

    fn unfinished_applications(&self) -> Vec<String> {
        let seats = self.seats.iter().enumerate();
        seats
            .filter(|(n, _)| self.world.is_unfinished(AppId(*n as u32)))
            .map(|(_, seat)| seat.app.describe())
            .collect()
    }

    /// Returns the present instant.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    /// Returns the topology.
    pub fn topology(&self) -> &Topology {
        self.world.network.topology()
    }

    /// Returns an application, if it is a `T`.
    pub fn application<T: Application>(&self, id: AppId) -> Option<&T> {
        let app: &dyn Any = &*self.seats.get(id.index())?.app;
        app.downcast_ref()
    }

    /// Returns the first observer that is a `T`.
    pub fn observer<T: Observer>(&self) -> Option<&T> {
        let observers = self.world.network.observers().iter();
        observers.map(|observer| &**observer as &dyn Any).find_map(<dyn Any>::downcast_ref)
    }

    /// Removes and returns all observers; nothing is observed from here on.
    pub fn take_observers(&mut self) -> Vec<Box<dyn Observer>> {
        self.world.network.take_observers()
    }

    /// Returns a host's TCP.
    pub fn host(&self, host: HostId) -> &Host {
        self.world.host(host)
    }

    /// Changes a host's TCP, before the run or between two parts of it.
    pub fn configure_host(&mut self, host: HostId, change: impl FnOnce(&mut Host)) {
        change(self.world.host_to_serve(host));
    }

    /// Sets the rate of a link from now on, unless it follows a trace: see [`Link::set_rate`].
    ///
    /// # Errors
    /// If the rate is zero.
    pub fn set_rate(&mut self, link: LinkId, rate: Rate) -> Result<(), LinkError> {
        self.world.network.link_mut(link).set_rate(rate)
    }

    /// Returns a link, for its totals.
    pub fn link(&self, link: LinkId) -> &Link {
        self.world.network.link(link)
    }

    /// Returns the present occupancy of a link's queue.
    pub fn occupancy(&mut self, link: LinkId) -> Occupancy {
        let now = self.now();
        self.world.network.link_mut(link).occupancy(now)
    }

    /// Returns the number of packets in flight on all links together.
    pub fn packets_under_way(&self) -> usize {
        self.world.network.packets_under_way()
    }
}
