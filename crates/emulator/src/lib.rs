//! The simulator's links in real time: packets of real hosts cross the same queues, rates, delays
//! and losses ([`link`]) as simulated ones.
//!
//! Read in this order: [`classify`] reads the properties of a packet that a queue may use,
//! [`mark_ce`] marks one. A [`Pipe`] is one direction, still without a clock; an [`Emulation`]
//! moves packets between two [`Port`]s in real time, a thread for each direction. A [`Namespace`]
//! is a network stack that dies with the process, an [`Interface`] a TUN device in it, and a
//! [`sandbox`] a command that dies with the process, too. A [`Cgroup`] holds the sockets that
//! kernel programs hook. [`TcpInfo`] is the state of a socket by the kernel.
//! [`EmulationRecording`] writes logs and captures.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! use emulator::{Addresses, Emulation, Interface, InterfaceConfig, Namespace, EmulationOptions};
//! use link::Duplex;
//!
//! let (client, server) = (Namespace::new()?, Namespace::new()?);
//! let [near, far] = Addresses::numbered(0);
//! let near = Interface::open(&client, &InterfaceConfig::new(near).with_default_route())?;
//! let far = Interface::open(&server, &InterfaceConfig::new(far))?;
//! let rate = link::LinkConfig::new(
//!     units::Rate::from_mbps(20),
//!     units::Duration::from_millis(40),
//!     link::QueueLimit::Packets(100),
//! );
//! let links = Duplex::symmetric(rate.expect("a possible link"));
//! let emulation = Emulation::start(near.port(), far.port(), EmulationOptions::new(links))?;
//! let mut ping = std::process::Command::new("ping");
//! ping.args(["-c3", &far.addresses().v4.to_string()]);
//! client.command(&mut ping)?.wait()?;
//! println!("{:?}", emulation.stop().down.scheduling_delay);
//! # Ok(())
//! # }
//! ```
//!
//! # Time
//! A packet arrives when it is read from its device. Everything after that is decided at the
//! instants that the link computes, never at those at which a thread happens to wake. The same
//! arrivals depart at the same instants on an idle machine and on a loaded one. Only the delivery
//! at the far end comes late, by the time that the machine needs to wake a thread. This delay is
//! measured for every packet ([`SchedulingDelays`]) and is part of every result.
//!
//! # Pitfalls of measurements through namespaces
//! - The kernel remembers round trips and windows of peers after a connection
//!   (`tcp_no_metrics_save`): a second run would profit from the first. [`Namespace::new`] turns it
//!   off in new namespaces; the host's own is left alone.
//! - A new namespace inherits the default congestion control of the host, which may be `bbr`. Name
//!   it: [`Namespace::set_sysctl`] with `net.ipv4.tcp_congestion_control`, for both ends. A name
//!   that is not in `tcp_allowed_congestion_control` is refused there, also to root; a server's
//!   socket option (`TCP_CONGESTION`) or a route's `congctl` takes any that is loaded.
//! - A TUN device has a queue of its own before it is read (`txqueuelen`), where packets would be
//!   dropped that no link counts. It is made larger than any burst ([`InterfaceConfig`]).
//! - `rp_filter` drops packets from a device that has no route to their source; it is off in new
//!   namespaces.
//! - IPv6 addresses are of no use before duplicate detection has ended; there is none here
//!   (`nodad`).
//! - A process in another network namespace still sees the `/sys` of its mount namespace.
//! - A receiver that opens with a window of 64 KB bounds every start-up above it:
//!   `net.ipv4.tcp_rmem`.

mod awake;
mod cgroup;
mod classify;
mod clock;
mod driver;
mod emulation;
mod interface;
mod mark;
mod namespace;
mod netlink;
mod pipe;
mod port;
mod record;
mod recording;
pub mod sandbox;
mod scheduling;
mod scheduling_delays;
mod tcp_info;
mod totals;

pub use cgroup::Cgroup;
pub use classify::classify;
pub use clock::Clock;
pub use emulation::{DirectionReport, Emulation, EmulationOptions, EmulationReport};
pub use interface::{Addresses, Interface, InterfaceConfig};
pub use mark::mark_ce;
pub use namespace::{Namespace, Privilege};
pub use pipe::{DeliveredPacket, Pipe};
pub use port::{Port, port_pair};
pub use record::{Direction, PacketFate, PacketRecord, PacketRecorder, SegmentEnd};
pub use recording::{EmulationRecording, Files, LogFormat, SegmentSink, Sink};
pub use scheduling::ThreadScheduling;
pub use scheduling_delays::SchedulingDelays;
pub use tcp_info::TcpInfo;
pub use totals::DirectionTotals;
