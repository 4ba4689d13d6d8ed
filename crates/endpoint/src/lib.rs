//! The TCP core in real time: a host on a TUN device, its connections as tokio streams.
//!
//! # Where to begin
//!
//! [`Device::tun`] makes a network device, [`Endpoint::open`] a host on it with an address that the
//! kernel does not have. Then [`Endpoint::listen`] and [`Endpoint::connect`] return streams of
//! bytes, like tokio's. Devices need root or `CAP_NET_ADMIN`.
//!
//! ```no_run
//! # async fn serve() -> std::io::Result<()> {
//! use endpoint::{EndpointConfig, Device, Endpoint, TunConfig};
//! use std::net::Ipv4Addr;
//! use tokio::io::AsyncWriteExt;
//!
//! let kernel = (Ipv4Addr::new(10, 7, 0, 1), 24);
//! let device = Device::tun(&TunConfig { v4: Some(kernel), ..TunConfig::default() })?;
//! let config = EndpointConfig::new(Some(Ipv4Addr::new(10, 7, 0, 2)), None);
//! let endpoint = Endpoint::open(device, config)?;
//! let scheme = tcp::Scheme::parse("linux").expect("a known scheme");
//! let mut listener = endpoint.listen(80, &scheme).await?;
//! let (mut stream, _) = listener.accept().await?;
//! stream.handle().set_size(5);
//! stream.write_all(b"hello").await
//! # }
//! ```
//!
//! Feature `axum` serves an axum router by [`Listener`]. Crate `server` is an example of that.
//!
//! # Structure
//!
//! The parts follow in the order of the data. A [`Device`] receives and sends packets. The driver,
//! one thread, owns it together with the stack, which is [`tcp::Host`] with the bytes that the core
//! does not carry. A [`Stream`] shares two buffers with the driver and wakes it only if it sleeps.
//! A [`Handle`] is for all other settings and questions. This crate makes no decisions about TCP.
//! Only one module reads the clock.
//!
//! Timers are as exact as the machine's wake-ups of a thread. On a busy machine, a process with a
//! real-time priority (`chrt -f 40`) still paces in time; its threads inherit the priority.

mod budget;
mod clock;
mod config;
mod counters;
mod device;
mod driver;
mod endpoint;
mod handle;
mod info;
mod keys;
mod listener;
mod low_water;
mod mailbox;
mod requests;
mod ring;
mod shared;
mod stack;
mod stream;

pub use config::{EndpointConfig, HostSetup};
pub use counters::EndpointCounters;
pub use device::{Device, TunConfig};
pub use endpoint::Endpoint;
pub use handle::Handle;
pub use info::{ConnectionInfo, EndpointStatus, PathInfo};
pub use listener::Listener;
pub use stream::Stream;
