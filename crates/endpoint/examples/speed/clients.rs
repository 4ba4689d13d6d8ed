//! Clients on the kernel's sockets.

use crate::{ANSWER, BULK, PORTS, REQUESTS};
use emulator::{Clock, Namespace};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: server\r\n\r\n";

fn seconds(clock: &Clock) -> f64 {
    clock.now().as_nanos() as f64 / 1e9
}

/// Returns the bits per second of one connection, after its start.
pub(crate) fn bulk(namespace: &Namespace, server: SocketAddr, time: Duration) -> io::Result<f64> {
    let address = SocketAddr::new(server.ip(), BULK);
    let mut stream = namespace.run(|| TcpStream::connect(address))??;
    // A silent server sends nothing, so the client does not wait for it.
    stream.set_read_timeout(Some(time / 50))?;
    let mut buffer = vec![0; 1 << 20];
    let start = Clock::start();
    let (mut started, mut bytes) = (None, 0);
    loop {
        let now = seconds(&start);
        // Measuring starts after a tenth of the time.
        if started.is_none() && now > time.as_secs_f64() / 10.0 {
            started = Some((now, bytes));
        }
        if now > time.as_secs_f64() {
            let (since, before) = started.unwrap_or_default();
            return Ok((bytes - before) as f64 * 8.0 / (now - since));
        }
        match stream.read(&mut buffer) {
            Ok(more) => bytes += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the requests per second of this many clients at once, each on one connection or with one
/// for each request.
pub(crate) fn requests(
    namespace: &Namespace,
    server: SocketAddr,
    time: Duration,
    (clients, kept): (usize, bool),
) -> io::Result<f64> {
    let addresses = (REQUESTS..REQUESTS + PORTS).map(|port| SocketAddr::new(server.ip(), port));
    // Sockets are in the namespace of the thread that opens them.
    namespace.run(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let start = Clock::start();
            let addresses = addresses.cycle().take(clients);
            let clients = addresses.map(|to| tokio::spawn(client(to, (start, time), kept)));
            let clients: Vec<_> = clients.collect();
            let (mut requests, mut refused) = (0, 0);
            for client in clients {
                let (answered, turned_away) = client.await.map_err(io::Error::other)??;
                requests += answered;
                refused += turned_away;
            }
            if refused > 0 {
                eprintln!("{}: {refused} connections refused, {requests} answered", server.ip());
            }
            Ok(requests as f64 / seconds(&start))
        })
    })?
}

/// Returns the number of answered requests, and of refused connections.
async fn client(
    address: SocketAddr,
    (start, time): (Clock, Duration),
    kept: bool,
) -> io::Result<(u64, u64)> {
    let (mut requests, mut refused) = (0, 0);
    let mut connection = None;
    let mut answer = [0; ANSWER];
    while seconds(&start) < time.as_secs_f64() {
        let mut stream = match connection.take() {
            Some(stream) => stream,
            None => match tokio::net::TcpStream::connect(address).await {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    refused += 1;
                    continue;
                }
                stream => stream?,
            },
        };
        stream.write_all(REQUEST).await?;
        stream.read_exact(&mut answer).await?;
        requests += 1;
        connection = Some(stream).filter(|_| kept);
    }
    Ok((requests, refused))
}
