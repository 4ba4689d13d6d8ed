//! One client, its servers, and the link between them, for the visits of one repeat. The servers of
//! a site are hosts of their own behind one end of the link; each has an exchange of its own with
//! the client. A neighbour is a second client, with a link of its own to another device of the
//! first server.

use crate::captures::Ends;
use crate::client::{Browser, BrowserVantage, ClientTcp, Visitor};
use crate::client_protocol::ClientProtocol;
use crate::exchange::Exchange;
use crate::host::{ServerHost, ServerLine, Serves};
use crate::kernel::{HookingAgent, KernelServer, Service};
use crate::real::Real;
use crate::timer;
use crate::watch::EndedSegments;
use emulator::{
    Addresses, Clock, Emulation, EmulationOptions, EmulationRecording, EmulationReport, Interface,
    InterfaceConfig, Namespace, Port, ThreadScheduling,
};
use link::path::PathSpec;
use race::{LinkWatch, MeasuredLoad, Race};
use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use tokio::task::LocalSet;
use workload::{LoaderConfig, PageMilestone};

/// Visits the page as often as the race has it, in a world made for that.
///
/// # Errors
/// If the machine does not let it: no privilege, no TUN device, no such congestion control.
pub(crate) fn visit(
    race: &Race,
    who: BedEnds<'_>,
    seed: u64,
    captures: &Ends,
) -> io::Result<Vec<MeasuredLoad>> {
    // Client and kernel servers run with the best scheduling. On a busy machine they would
    // otherwise ask and answer milliseconds late, which the link does not record. They sleep but
    // for a few us per packet.
    ThreadScheduling::on_its_own_thread(|| VisitBed::new(race, who, seed, captures)?.run(race, who))
}

/// Both ends of a test bed: servers and client.
#[derive(Clone, Copy)]
pub(crate) struct BedEnds<'a> {
    /// Executor of the sender in real time.
    pub(crate) place: Real<'a>,
    /// The service of the kernel, if the kernel sends.
    pub(crate) service: Service<'a>,
    /// Protocols and settings by which the loader uses hosts.
    pub(crate) loader: &'a LoaderConfig,
    /// TCP settings of the client.
    pub(crate) client: ClientTcp,
    /// The browser in the client's namespace.
    pub(crate) browser: &'a Browser,
    /// Keep the loader's times of its objects, for figures.
    pub(crate) record: bool,
}

impl BedEnds<'_> {
    /// The protocol that both ends support.
    fn client_protocol(&self) -> ClientProtocol {
        let server = match self.place {
            Real::Wire(_) => ClientProtocol::Counts,
            Real::Kernel(_) => self.service.server.client_protocol(),
        };
        match (self.browser.client_protocol(), server) {
            (ClientProtocol::Counts, server) => server,
            (client, _) => client,
        }
    }
}

/// The links, servers and clients of a visit, without the clients' tasks.
struct VisitBed {
    /// The namespace of all clients: each server's address is behind one of their devices.
    client: Namespace,
    /// The first client's, and its neighbour's if it has one.
    lines: Vec<Line>,
    /// Goes when they have.
    agent: Option<HookingAgent>,
    clock: Clock,
}

/// A client's link, and the servers behind it.
struct Line {
    /// Lives as long as the device.
    _device: Interface,
    own: SocketAddr,
    /// Servers of a site, in their order.
    servers: Vec<ServerHost>,
    emulation: Emulation,
    recording: EmulationRecording,
    crossed: EndedSegments,
    captures: Ends,
}

/// Plan of an emulated line.
struct LinePlan<'a> {
    path: PathSpec,
    /// Numbers of the pairs of addresses; the client has the first one's.
    pairs: Range<u32>,
    /// The server whose second line it is.
    of: Option<&'a ServerHost>,
    serves: Serves<'a>,
    seed: u64,
    captures: &'a Ends,
}

impl VisitBed {
    fn new(race: &Race, who: BedEnds<'_>, seed: u64, captures: &Ends) -> io::Result<Self> {
        let clock = Clock::start();
        let client = Namespace::new()?;
        who.client.prepare(&client)?;
        let site = race.visits.site.max(1);
        let agent = match who.place {
            Real::Wire(_) => None,
            Real::Kernel(control) => who.service.start_agent(control, site)?,
        };
        let serves = match who.place {
            Real::Wire(scheme) => Serves::Wire(scheme),
            Real::Kernel(control) => Serves::Kernel(KernelServer {
                control,
                program: who.service.server,
                agent: agent.as_ref(),
            }),
        };
        let plan = LinePlan { path: race.path, pairs: 0..site, of: None, serves, seed, captures };
        let first = Line::new(race, who, plan, &client, clock)?;
        let neighbour = match race.visits.neighbour() {
            None => None,
            Some(path) => {
                let (pairs, of) = (site..site + 1, first.servers.first());
                let plan = LinePlan { path, pairs, of, serves, seed, captures: &Ends::NONE };
                Some(Line::new(race, who, plan, &client, clock)?)
            }
        };
        let lines = [first].into_iter().chain(neighbour).collect();
        Ok(Self { client, lines, agent, clock })
    }

    fn run(self, race: &Race, who: BedEnds<'_>) -> io::Result<Vec<MeasuredLoad>> {
        let Self { client, lines, clock, agent } = self;
        client.enter()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let load = || {
            let all = load_all(race, who, &client, &lines, clock);
            LocalSet::new().block_on(&runtime, all)
        };
        let mut loads = match &agent {
            Some(agent) => agent.run_client(load)??,
            None => load()?,
        };
        for (client, line) in lines.into_iter().enumerate() {
            let watch = line.end(who.record)?;
            let mut own = race.visits.loads_of(client, &mut loads);
            MeasuredLoad::settle_all(&mut own, &race.page, watch.as_ref(), who.record);
        }
        Ok(loads)
    }
}

impl Line {
    fn new(
        race: &Race,
        who: BedEnds<'_>,
        LinePlan { path, pairs, of, serves, seed, captures }: LinePlan<'_>,
        client: &Namespace,
        clock: Clock,
    ) -> io::Result<Self> {
        let [near, _] = Addresses::numbered(pairs.start);
        let device = InterfaceConfig::new(near);
        // A second server of a site is in another network; one device knows the way.
        let device = if pairs.start == 0 { device.with_default_route() } else { device };
        let device = Interface::open(client, &device)?;
        let server = |n| {
            let [_, own] = Addresses::numbered(n);
            let line = ServerLine { visitor: near, own, of };
            Ok((own, ServerHost::new(serves, line, &race.page, who.loader)?))
        };
        let servers = pairs.map(server).collect::<io::Result<Vec<_>>>()?;
        let port = port_of(&servers)?;
        let (sink, crossed) = EndedSegments::begin();
        let (recording, recorders) = captures.begin(sink)?;
        let recorders = Some(recorders);
        let options =
            EmulationOptions { seed, clock, recorders, ..EmulationOptions::new(path.links()) };
        let emulation = Emulation::start(device.port(), port, options)?;
        let own = SocketAddr::new(near.v4.into(), 0);
        let servers = servers.into_iter().map(|(_, server)| server).collect();
        let captures = captures.clone();
        Ok(Self { _device: device, own, servers, emulation, recording, crossed, captures })
    }

    /// Takes the link down. Returns the packets that crossed it; `None` if some were missed.
    fn end(self, record: bool) -> io::Result<Option<LinkWatch>> {
        let EmulationReport { down, up } = self.emulation.stop();
        let is_whole = self.captures.finish(self.recording)?;
        if let Some(why) = down.failure.or(up.failure) {
            return Err(io::Error::other(format!("the emulated link failed: {why}")));
        }
        Ok(is_whole.then(|| self.crossed.link_watch(record)))
    }
}

/// Port at which packets of all servers enter and leave the link.
fn port_of(servers: &[(Addresses, ServerHost)]) -> io::Result<Port> {
    match servers {
        [(_, server)] => Ok(server.port()),
        several => {
            let ports = several.iter().map(|(at, server)| (at.both().to_vec(), server.port()));
            Port::of_several(ports.collect())
        }
    }
}

/// All visits of the clients in a namespace, with a visitor for each server of each line.
async fn load_all(
    race: &Race,
    who: BedEnds<'_>,
    namespace: &Namespace,
    lines: &[Line],
    clock: Clock,
) -> io::Result<Vec<MeasuredLoad>> {
    let mut clients = Vec::new();
    for line in lines {
        let mut visitors = Vec::new();
        for server in &line.servers {
            let (exchange, openings) =
                Exchange::new(&race.page, who.loader, who.client_protocol(), clock);
            let servers = server.serve(&exchange).await?;
            let vantage = BrowserVantage { namespace, own: line.own, servers };
            let visitor = who.browser.open(&exchange, openings, vantage);
            visitors.push(SiteVisitor { visitor, was_here: Cell::new(false) });
        }
        clients.push((visitors, &line.emulation));
    }
    visits(race, &clients, &clock).await
}

/// A client's visitor of one server.
struct SiteVisitor {
    visitor: Visitor,
    was_here: Cell<bool>,
}

/// Makes all visits in order, to the servers in turn, each of which has a visitor. A visit that
/// does not end is the last.
async fn visits(
    race: &Race,
    clients: &[(Vec<SiteVisitor>, &Emulation)],
    clock: &Clock,
) -> io::Result<Vec<MeasuredLoad>> {
    let mut loads: Vec<MeasuredLoad> = Vec::new();
    for n in 0..race.visits.count.max(1) {
        if n > 0 {
            timer::sleep_until(clock, Some(clock.now() + race.visits.idle)).await;
        }
        let (visitors, emulation) = &clients[race.visits.client(n)];
        if let Some(rates) = race.visits.rates(n, &race.path) {
            emulation.set_rates(rates);
        }
        let site = &visitors[n as usize % visitors.len()];
        let again = site.was_here.replace(true);
        let load = one_visit(&site.visitor, emulation, again).await?;
        let phase = load.began.and_then(|began| race.path.trace_time(began));
        let load = MeasuredLoad { phase, ..load };
        // The next one needs the browser that this one still has.
        let is_over = load.times.get(PageMilestone::LastByte).is_none();
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
    // Scheduling delay before the visit is not the visit's.
    emulation.take_scheduling_delay();
    let measure = || (dropped(emulation) - before, emulation.take_scheduling_delay().p99());
    let (load, (dropped, scheduling_delay)) = visitor.visit(again, measure).await?;
    Ok(MeasuredLoad { dropped, scheduling_delay, ..load })
}

fn dropped(emulation: &Emulation) -> u64 {
    let totals = emulation.totals();
    let of =
        |totals: emulator::DirectionTotals| totals.link.dropped_packets + totals.link.lost_packets;
    of(totals.forward) + of(totals.reverse)
}
