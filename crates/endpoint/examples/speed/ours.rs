//! The endpoint as a server.

use crate::{BULK, PORTS, REQUESTS, addresses, answer};
use emulator::Namespace;
use endpoint::{Device, Endpoint, EndpointConfig, Listener, Stream, TunConfig};
use std::error::Error;
use std::net::SocketAddr;
use std::{io, thread};
use tcp::Scheme;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Serves on threads of its own.
pub(crate) fn serve(namespace: &Namespace, n: u8) -> Result<SocketAddr, Box<dyn Error>> {
    let (kernel, server) = addresses(n);
    let tun = TunConfig { v4: Some((kernel, 24)), ..TunConfig::default() };
    let device = namespace.run(|| Device::tun(&tun))??;
    let scheme = Scheme::parse("linux")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    let endpoint = Endpoint::open(device, EndpointConfig::new(Some(server), None))?;
    let listen = |port| runtime.block_on(endpoint.listen(port, &scheme));
    runtime.spawn(accept(listen(BULK)?, send));
    for port in REQUESTS..REQUESTS + PORTS {
        runtime.spawn(accept(listen(port)?, respond));
    }
    // It runs until the process ends.
    thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    Ok(SocketAddr::new(server.into(), 0))
}

async fn accept<F>(mut listener: Listener, serve: impl Fn(Stream) -> F)
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve(stream));
    }
}

async fn send(mut stream: Stream) -> io::Result<()> {
    let block = vec![b'x'; 256 << 10];
    loop {
        stream.write_all(&block).await?;
    }
}

async fn respond(mut stream: Stream) -> io::Result<()> {
    let answer = answer();
    let mut request = [0; 4096];
    while stream.read(&mut request).await? > 0 {
        stream.write_all(&answer).await?;
    }
    Ok(())
}
