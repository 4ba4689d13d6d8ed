//! The TCP core in real time: a host on a TUN device, its connections as tokio streams.
//!
//! # Where to begin
//!
//! [`Device::tun`] makes a network device, [`Endpoint::open`] a host on it with an address that the kernel does not have.
//! Then [`Endpoint::listen`] and [`Endpoint::connect`] give streams of bytes, as tokio's do. Devices need root or
//! `CAP_NET_ADMIN`.
//!
//! ```no_run
//! # async fn serve() -> std::io::Result<()> {
//! use endpoint::{EndpointConfig, Device, Endpoint, TunConfig};
//! use std::net::Ipv4Addr;
//! use tokio::io::AsyncWriteExt;
//!
//! let kernel = (Ipv4Addr::new(10, 7, 0, 1), 24);
//! let device = Device::tun(&TunConfig { v4: Some(kernel), ..TunConfig::default() })?;
//! let endpoint = Endpoint::open(device, EndpointConfig::new(Some(Ipv4Addr::new(10, 7, 0, 2)), None))?;
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
//! # What is where
//!
//! In the order of the data: a [`Device`] gives and takes packets; the driver, one thread, owns it
//! together with the stack, which is [`tcp::Host`] with the bytes that the core does not
//! carry; a [`Stream`] shares two buffers with the driver and wakes it only if it sleeps; a
//! [`Handle`] is for what else there is to say and to ask. Nothing here decides anything about TCP.
//! The clock is read in one place.
//!
//! Timers are as exact as the machine wakes a thread. Where it has more to do, a process that runs ahead
//! of others (`chrt -f 40`) paces in time; its threads inherit that.

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
