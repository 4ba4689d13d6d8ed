//! Addresses, routes and whether a device is up, by crate `rtnetlink`: of the namespace that the
//! calling thread is in.

use rtnetlink::packet_route::address::{AddressAttribute, AddressFlags, AddressHeaderFlags};
use rtnetlink::packet_route::route::{RouteAttribute, RouteMetric};
use rtnetlink::{Handle, LinkUnspec, RouteMessageBuilder, new_connection};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The loopback device is the first of every namespace.
const LOOPBACK: u32 = 1;

/// Brings up the loopback device.
pub(crate) fn raise_loopback() -> io::Result<()> {
    with_handle(async |handle| raise(&handle, LOOPBACK).await)
}

/// Destinations routed through a device beside the networks of its addresses.
pub(crate) struct Routes {
    /// Whether the device has the default route.
    pub(crate) way_out: bool,
    /// Destinations, and the window in segments that connections to them begin with, if not the
    /// kernel's.
    pub(crate) peer: Option<([IpAddr; 2], Option<u32>)>,
}

/// Gives a device its addresses with their prefix lengths, brings it up, and adds its routes.
pub(crate) fn set_up(index: u32, addresses: &[(IpAddr, u8)], routes: &Routes) -> io::Result<()> {
    with_handle(async |handle| {
        for &(address, prefix) in addresses {
            let mut request = handle.address().add(index, address, prefix);
            let message = request.message_mut();
            message.header.flags |= AddressHeaderFlags::Nodad;
            message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
            request.execute().await?;
        }
        raise(&handle, index).await?;
        if let Some((destinations, window)) = routes.peer {
            for destination in destinations {
                lead_to(&handle, index, destination, window).await?;
            }
        }
        if routes.way_out {
            let v4 = RouteMessageBuilder::<Ipv4Addr>::new().output_interface(index).build();
            handle.route().add(v4).execute().await?;
            let v6 = RouteMessageBuilder::<Ipv6Addr>::new().output_interface(index).build();
            handle.route().add(v6).execute().await?;
        }
        Ok(())
    })
}

/// Adds a route to a destination, on which connections begin with a window of this many segments
/// (`ip route … initcwnd`).
async fn lead_to(
    handle: &Handle,
    index: u32,
    destination: IpAddr,
    window: Option<u32>,
) -> Result<(), rtnetlink::Error> {
    let mut route = match destination {
        IpAddr::V4(host) => RouteMessageBuilder::<Ipv4Addr>::new()
            .destination_prefix(host, 32)
            .output_interface(index)
            .build(),
        IpAddr::V6(host) => RouteMessageBuilder::<Ipv6Addr>::new()
            .destination_prefix(host, 128)
            .output_interface(index)
            .build(),
    };
    if let Some(segments) = window {
        route.attributes.push(RouteAttribute::Metrics(vec![RouteMetric::InitCwnd(segments)]));
    }
    handle.route().add(route).execute().await
}

async fn raise(handle: &Handle, index: u32) -> Result<(), rtnetlink::Error> {
    handle.link().set(LinkUnspec::new_with_index(index).up().build()).execute().await
}

/// Talks to the kernel in the namespace of the calling thread.
fn with_handle<T>(talk: impl AsyncFnOnce(Handle) -> Result<T, rtnetlink::Error>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let (connection, handle, _) = new_connection()?;
        let connection = tokio::spawn(connection);
        let result = talk(handle).await.map_err(to_io);
        connection.abort();
        result
    })
}

fn to_io(error: rtnetlink::Error) -> io::Error {
    match &error {
        rtnetlink::Error::NetlinkError(message) => message.to_io(),
        _ => io::Error::other(error),
    }
}
