//! One client, its servers, and the link between them, for the visits of one repeat. The servers of a site are hosts of their
//! own behind one end of the link; each has an exchange of its own with the client.

use crate::captures::Ends;
use crate::client::{Browser, BrowserVantage, ClientTcp, Visitor};
use crate::exchange::Exchange;
use crate::host::{ServerHost, Serves};
use crate::kernel::{Attending, Service};
use crate::real::Real;
use crate::timer;
use crate::tongue::Tongue;
use crate::watch::Crossed;
use emulator::{
    Addresses, Clock, Emulation, EmulationOptions, EmulationRecording, EmulationReport, Interface,
    InterfaceConfig, Namespace, Port, ThreadScheduling,
};
use race::{MeasuredLoad, Race};
use std::io;
use std::net::SocketAddr;
use tokio::task::LocalSet;
use workload::LoaderConfig;

/// Visits the page as often as the race has it, in a world made for that.
///
/// # Errors
/// If the machine does not let it: no privilege, no TUN device, no such congestion control.
pub(crate) fn visit(
    race: &Race,
    who: Who<'_>,
    (seed, captures): (u64, &Ends),
) -> io::Result<Vec<MeasuredLoad>> {
    std::thread::scope(|scope| {
        // Entering a namespace is for good: a thread of its own.
        let thread = scope.spawn(|| {
            // Client and kernel servers run here: on a busy machine they would ask and answer ms late,
            // of which the link knows nothing. They sleep but for a few us per packet.
            ThreadScheduling::best();
            Bed::new(race, who, (seed, captures))?.run(race, who, captures)
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Who serves whom.
#[derive(Clone, Copy)]
pub(crate) struct Who<'a> {
    /// What sends.
    pub(crate) place: Real<'a>,
    /// What it takes, if that is the kernel.
    pub(crate) service: Service<'a>,
    /// How hosts are spoken to.
    pub(crate) loader: &'a LoaderConfig,
    /// Who is served.
    pub(crate) client: ClientTcp,
    /// Who asks there.
    pub(crate) browser: &'a Browser,
    /// Keep what the loader knows of its objects, for figures.
    pub(crate) record: bool,
}

impl Who<'_> {
    /// What both ends can speak.
    fn tongue(&self) -> Tongue {
        let server = match self.place {
            Real::Wire(_) => Tongue::Counts,
            Real::Kernel(_) => self.service.server.tongue(),
        };
        match (self.browser.tongue(), server) {
            (Tongue::Counts, server) => server,
            (client, _) => client,
        }
    }
}

/// Everything between the browser and its servers, and they themselves but for their tasks.
struct Bed {
    client: Namespace,
    /// Lives as long as the device.
    _device: Interface,
    own: SocketAddr,
    /// Of a site, in their order.
    servers: Vec<ServerHost>,
    /// Goes when they have.
    attending: Option<Attending>,
    emulation: Emulation,
    recording: EmulationRecording,
    crossed: Crossed,
    clock: Clock,
}

impl Bed {
    fn new(race: &Race, who: Who<'_>, (seed, captures): (u64, &Ends)) -> io::Result<Self> {
        let clock = Clock::start();
        let [near, _] = Addresses::numbered(0);
        let client = Namespace::new()?;
        who.client.prepare(&client)?;
        let device = Interface::open(&client, &InterfaceConfig::new(near).with_default_route())?;
        let site = race.visits.site.max(1);
        let attending = match who.place {
            Real::Wire(_) => None,
            Real::Kernel(control) => who.service.attend(control, site)?,
        };
        let serves = match who.place {
            Real::Wire(scheme) => Serves::Wire(scheme),
            Real::Kernel(control) => {
                Serves::Kernel(control, who.service.server, attending.as_ref())
            }
        };
        let server = |n| {
            let [_, far] = Addresses::numbered(n);
            Ok((far, ServerHost::new(serves, [near, far], (&race.page, who.loader))?))
        };
        let servers = (0..site).map(server).collect::<io::Result<Vec<_>>>()?;
        let port = port_of(&servers)?;
        let (sink, crossed) = Crossed::begin();
        let (recording, recorders) = captures.begin(sink)?;
        let recorders = Some(recorders);
        let options =
            EmulationOptions { seed, clock, recorders, ..EmulationOptions::new(race.path.links()) };
        let emulation = Emulation::start(device.port(), port, options)?;
        let own = SocketAddr::new(near.v4.into(), 0);
        let servers = servers.into_iter().map(|(_, server)| server).collect();
        Ok(Self {
            client,
            _device: device,
            own,
            servers,
            attending,
            emulation,
            recording,
            crossed,
            clock,
        })
    }

    fn run(self, race: &Race, who: Who<'_>, captures: &Ends) -> io::Result<Vec<MeasuredLoad>> {
        let Self { client, own, servers, emulation, recording, crossed, clock, _device, attending } =
            self;
        client.enter()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let load = || {
            let all = load_all(race, who, (&client, own, &servers), (&emulation, clock));
            LocalSet::new().block_on(&runtime, all)
        };
        let mut loads = match &attending {
            Some(attending) => attending.run_client(load)??,
            None => load()?,
        };
        let EmulationReport { down, up } = emulation.stop();
        // Who was not told of everything can give no account.
        let watch = captures.finish(recording)?.then(|| crossed.watched(who.record));
        let mut all: Vec<_> = loads.iter_mut().collect();
        MeasuredLoad::settle_all(&mut all, (&race.page, watch.as_ref()), who.record);
        match down.failure.or(up.failure) {
            Some(why) => Err(io::Error::other(format!("the emulated link failed: {why}"))),
            None => Ok(loads),
        }
    }
}

/// Where packets of all servers enter and leave the link.
fn port_of(servers: &[(Addresses, ServerHost)]) -> io::Result<Port> {
    match servers {
        [(_, server)] => Ok(server.port()),
        several => {
            let ports = several.iter().map(|(at, server)| (at.both().to_vec(), server.port()));
            Port::of_several(ports.collect())
        }
    }
}

/// All visits of a client at an address in a namespace, with a visitor of its own for each of the servers.
async fn load_all(
    race: &Race,
    who: Who<'_>,
    (namespace, own, servers): (&Namespace, SocketAddr, &[ServerHost]),
    (emulation, clock): (&Emulation, Clock),
) -> io::Result<Vec<MeasuredLoad>> {
    let mut visitors = Vec::new();
    for server in servers {
        let (exchange, openings) = Exchange::new((&race.page, who.loader), who.tongue(), clock);
        let hosts = server.serve(&exchange).await?;
        let vantage = BrowserVantage { namespace, own, servers: hosts };
        visitors.push(who.browser.open((&exchange, openings), vantage));
    }
    visits(race, (&visitors, &clock), emulation).await
}

/// All visits in order, to the servers in turn, each of which has a visitor. Behind one that does not end there is none.
async fn visits(
    race: &Race,
    (visitors, clock): (&[Visitor], &Clock),
    emulation: &Emulation,
) -> io::Result<Vec<MeasuredLoad>> {
    let mut loads: Vec<MeasuredLoad> = Vec::new();
    for n in 0..race.visits.count.max(1) {
        if n > 0 {
            timer::sleep_until(clock, Some(clock.now() + race.visits.idle)).await;
        }
        let n = n as usize;
        let visitor = &visitors[n % visitors.len()];
        let load = one_visit(visitor, emulation, n >= visitors.len()).await?;
        let is_over = load.page.is_none();
        loads.push(load);
        if is_over {
            break;
        }
    }
    Ok(loads)
}

async fn one_visit(
    visitor: &Visitor,
    emulation: &Emulation,
    again: bool,
) -> io::Result<MeasuredLoad> {
    let before = dropped(emulation);
    // What was late before is not this visit's.
    emulation.take_lateness();
    let measure = || (dropped(emulation) - before, emulation.take_lateness().p99());
    let (load, (dropped, lateness)) = visitor.visit(again, measure).await?;
    Ok(MeasuredLoad { dropped, lateness, ..load })
}

fn dropped(emulation: &Emulation) -> u64 {
    let totals = emulation.totals();
    let of =
        |totals: emulator::DirectionTotals| totals.link.dropped_packets + totals.link.lost_packets;
    of(totals.forward) + of(totals.reverse)
}
