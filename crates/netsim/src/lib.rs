//! The simulator: TCP hosts joined by links, in virtual time.
//!
//! A [`Topology`] describes the connections of nodes ([`Dumbbell`] and [`Access`] are ready-made).
//! A [`Simulation`] runs [`Application`]s on it: they open connections and write. The hosts' TCP
//! decides when to send, and links determine when packets arrive. Inside, `events` orders all
//! events, `network` passes packets from link to link, and `world` lets hosts send and receive.
//! [`BulkTransfer`], [`Rounds`], [`Telnet`], [`OnOff`], [`Cbr`] and [`PageLoad`] are ready-made
//! applications. An [`Observer`] sees every packet at every link: [`StepRecorder`] keeps all steps,
//! [`Captures`] writes them for tshark.
//!
//! # Where to begin
//!
//! A transfer of 40 kB over 20 Mbit/s, a round trip of 80 ms and a queue of 100 packets:
//!
//! ```
//! use link::{LinkConfig, QueueLimit};
//! use netsim::{BulkSpec, BulkTransfer, Dumbbell, Duplex, Simulation, SimulationConfig};
//! use tcp::Scheme;
//! use units::{Duration, Instant, Rate};
//!
//! // Hosts are on fast wires, and the bottleneck between them is the same both ways.
//! let wire = LinkConfig::new(Rate::from_mbps(10_000), Duration::ZERO, QueueLimit::Unlimited)?;
//! let bottleneck =
//!     LinkConfig::new(Rate::from_mbps(20), Duration::from_millis(40), QueueLimit::Packets(100))?;
//! let dumbbell = Dumbbell::new(1, wire, Duplex::symmetric(bottleneck));
//! let (from, to) = (dumbbell.sources[0], dumbbell.sinks[0]);
//!
//! let scheme = Scheme::parse("linux+nagle=off")?;
//! let (bytes, receiver) = (Some(40_000), scheme.clone());
//! let transfer = BulkTransfer::new(BulkSpec { from, to, bytes, scheme, receiver, close: false });
//! let mut simulation = Simulation::new(dumbbell.topology, SimulationConfig::default());
//! let id = simulation.add(Instant::ZERO, transfer);
//! simulation.run(Instant::ZERO + Duration::from_secs(10))?;
//!
//! let transfer = simulation.application::<BulkTransfer>(id).expect("it was added");
//! let flow = transfer.flows().first().expect("it has started");
//! let done = flow.received_at.expect("it has finished");
//! // The handshake, 10 segments, and half a round trip until the other 18 are there: 200 ms.
//! // Transmission takes at most 17 ms, 0.6 ms for each segment.
//! assert!(done > Instant::ZERO + Duration::from_millis(200));
//! assert!(done < Instant::ZERO + Duration::from_millis(217));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Larger examples are in `examples/`. Experiments without code are plans (crate `experiment`,
//! `headstart lab sim`).
//!
//! # Order of events
//! Events happen in the order of (time, kind, index, sequence). At the same instant, packets arrive
//! first, in the order of their links. Then hosts wake, then applications' timers fire, and last
//! links with a service stage serve. Events of the same kind and index are in the order in which
//! they were scheduled. After each event, every host it touched sends, in the order in which they
//! were touched, before the next event.
//!
//! # Reproducibility
//! A run is a function of topology, applications, configuration and seed. Each link and host draws
//! from a random stream of its own, named after it ([`stream`]).

mod application;
mod apps;
mod builders;
mod endpoint;
mod events;
mod flow;
mod ids;
mod key;
mod network;
mod observer;
mod packet;
mod page;
mod passing;
mod pcap;
mod processing;
mod processing_delay;
mod recorder;
mod ring;
mod routes;
mod simulation;
mod site;
mod topology;
mod tournament;
mod world;

pub use application::{AppContext, Application};
pub use apps::{
    BulkSpec, BulkTransfer, Cbr, CbrSpec, FlowTotals, OnOff, OnOffSpec, PairChoice, PoissonFlows,
    PoissonSpec, RoundPair, Rounds, RoundsSpec, Telnet, TelnetSpec, User, UserSpec,
};
pub use builders::{Access, AccessLine, Dumbbell};
pub use flow::{FlowRecord, Losses};
pub use ids::{AppId, HostId, LinkId, NodeId, Peer};
pub use link::{Duplex, derive_seed, stream};
pub use observer::{Observer, Step};
pub use packet::{Body, Datagram, SimPacket, Transit, WireSizes};
pub use page::{Browsing, BrowsingSpec, PageLoad, PageSpec, PageTransfer, Visit};
pub use passing::PassingOrder;
pub use pcap::Captures;
pub use processing_delay::{ProcessingDelay, ProcessingOrder, ReadingDelay};
pub use recorder::{StepRecord, StepRecorder};
pub use simulation::{Simulation, SimulationConfig, SimulationError};
pub use site::{Collecting, PassiveGateway, PassiveTap, ReportTap, Site, SiteSpec};
pub use topology::{LinkSpec, RouteError, RouteFinder, Topology, address_of, host_at};
