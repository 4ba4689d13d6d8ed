//! The servers' connections, over any stream: the kernel's or our endpoint's.

mod http;

use crate::client_protocol::ClientProtocol;
use crate::exchange::{Exchange, Next, Part};
use crate::padding;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use workload::{HostId, LoadConnId};

/// Socket options that a server may set on a connection.
pub(crate) trait ServerSocketOptions {
    /// This is written next.
    fn announce(&self, part: &Part);
    /// More is written at once: a part of a segment waits until [`ServerSocketOptions::uncork`].
    fn cork(&self);
    /// No more follows for now: waiting data may go.
    fn uncork(&self);
    /// Bytes that were written and are not sent, when there are fewer than `low`: waits until then.
    fn unsent_below(&self, low: u64) -> impl Future<Output = u64>;
}

/// Serves a peer's connection to a host to its end, in the protocol of the exchange.
pub(crate) async fn serve<S>(
    exchange: &Exchange,
    host: HostId,
    peer: SocketAddr,
    stream: S,
    options: impl ServerSocketOptions + 'static,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    if exchange.client_protocol() != ClientProtocol::Counts {
        return http::serve(exchange, host, stream, options).await;
    }
    match exchange.connection_of_port(peer.port()) {
        Some(conn) => count(exchange, conn, exchange.low_water(host), stream, options).await,
        None => Ok(()),
    }
}

/// All bytes that may be written now, this part and its followers, are announced as one. Otherwise
/// a sender in a thread of its own may see only the first frame, and send a segment that is not
/// full. Returns the number of bytes.
fn announce_all(
    exchange: &Exchange,
    conn: LoadConnId,
    unsent: u64,
    mut part: Part,
    options: &impl ServerSocketOptions,
) -> u64 {
    let mut bytes = 0;
    loop {
        options.announce(&part);
        bytes += part.bytes;
        match exchange.poll_write(conn, unsent + bytes) {
            Next::Write(more) => part = more,
            // The next poll, after the writing, returns the same.
            Next::Close | Next::Wait(_) => return bytes,
        }
    }
}

/// Serves a connection as bytes whose meaning the exchange knows.
async fn count<S>(
    exchange: &Exchange,
    conn: LoadConnId,
    low_water: Option<u64>,
    stream: S,
    options: impl ServerSocketOptions,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut read, mut write) = tokio::io::split(stream);
    let requests = async {
        let (mut buffer, mut total) = (vec![0; padding::CHUNK], 0);
        loop {
            match read.read(&mut buffer).await? {
                0 => break exchange.on_hung_up(conn),
                n => total += n as u64,
            }
            exchange.on_request(conn, total);
        }
        io::Result::Ok(())
    };
    let answers = async {
        let stirred = exchange.write_signal(conn);
        loop {
            let unsent = match low_water {
                Some(low) => options.unsent_below(low).await,
                None => 0,
            };
            match exchange.poll_write(conn, unsent) {
                Next::Write(part) => {
                    let bytes = announce_all(exchange, conn, unsent, part, &options);
                    options.cork();
                    padding::write_padding(&mut write, bytes).await?;
                }
                Next::Close => return write.shutdown().await,
                Next::Wait(until) => {
                    options.uncork();
                    tokio::select! {
                        () = stirred.notified() => {}
                        () = crate::timer::sleep_until(exchange.clock(), until) => {}
                    }
                }
            }
        }
    };
    tokio::try_join!(requests, answers)?;
    Ok(())
}
