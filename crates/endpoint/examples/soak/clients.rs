//! The kernel's side: clients that imitate real ones, one step after the other.

use crate::counters::Counters;
use crate::protocol::{Pattern, SoakRequest};
use emulator::Clock;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use units::Instant;

/// Longest time of a transfer on this link, with any losses.
const PATIENCE: Duration = Duration::from_secs(120);

/// Silence of a server after which it may be gone.
const SILENCE: Duration = Duration::from_secs(5);

/// The clients' number, server and end time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    pub(crate) server: SocketAddr,
    pub(crate) clients: u64,
    pub(crate) clock: Clock,
    pub(crate) end: Instant,
}

/// Runs all clients to their end, on the calling thread.
pub(crate) fn run(crowd: Crowd, counters: &Arc<Counters>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let pattern = Arc::new(Pattern::new());
        let clients: Vec<_> = (1..=crowd.clients)
            .map(|seed| {
                tokio::spawn(client(
                    crowd,
                    Dice::new(seed),
                    (Arc::clone(&pattern), Arc::clone(counters)),
                ))
            })
            .collect();
        for client in clients {
            client.await.map_err(io::Error::other)?;
        }
        Ok(())
    })
}

async fn client(crowd: Crowd, mut dice: Dice, (pattern, counters): (Arc<Pattern>, Arc<Counters>)) {
    while crowd.clock.now() < crowd.end {
        let visit = Visit::draw(&mut dice);
        let done = tokio::time::timeout(PATIENCE, visit.pay(crowd.server, &pattern)).await;
        let done = done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        counters.count_visit(done.map_err(|error| format!("{visit:?}: {error}")));
        tokio::time::sleep(Duration::from_millis(dice.between(0, 200))).await;
    }
}

/// One connection, and its course.
#[derive(Clone, Copy, Debug)]
enum Visit {
    /// The same request several times, one after the other.
    Orderly { request: SoakRequest, times: u64 },
    /// The client sends FIN right after its request.
    HalfClosed { bytes: u64 },
    /// The client closes after a part of the answer.
    LeftEarly { bytes: u64, read: u64 },
    /// The server resets after its answer.
    Breached { bytes: u64 },
}

impl Visit {
    /// Draws a visit: mostly short downloads, as in the traffic of pages.
    fn draw(dice: &mut Dice) -> Self {
        let orderly = |request, times| Self::Orderly { request, times };
        match dice.between(0, 100) {
            0..60 => orderly(SoakRequest::Download(dice.between(1, 64_000)), 1),
            60..75 => orderly(SoakRequest::Download(dice.between(1, 20_000)), 6),
            75..80 => orderly(SoakRequest::Download(dice.between(1_000_000, 8_000_000)), 1),
            80..86 => orderly(SoakRequest::Upload(dice.between(1, 1_000_000)), 1),
            86..90 => Self::HalfClosed { bytes: dice.between(1, 200_000) },
            90..96 => {
                let bytes = dice.between(1, 2_000_000);
                Self::LeftEarly { bytes, read: dice.between(0, bytes) }
            }
            _ => Self::Breached { bytes: dice.between(0, 100_000) },
        }
    }

    /// Makes the visit; returns the bytes that were moved.
    async fn pay(self, server: SocketAddr, pattern: &Pattern) -> io::Result<u64> {
        let mut stream = TcpStream::connect(server).await?;
        match self {
            Self::Orderly { request, times } => {
                let mut moved = 0;
                for _ in 0..times {
                    moved += download(&mut stream, request, pattern).await?;
                }
                Ok(moved)
            }
            Self::HalfClosed { bytes } => {
                SoakRequest::Download(bytes).send(&mut stream).await?;
                stream.shutdown().await?;
                pattern.read(&mut stream, bytes).await?;
                match stream.read(&mut [0]).await? {
                    0 => Ok(bytes),
                    _ => Err(io::Error::other("more than was asked for")),
                }
            }
            Self::LeftEarly { bytes, read } => {
                SoakRequest::Download(bytes).send(&mut stream).await?;
                pattern.read(&mut stream, read).await?;
                // Closing with bytes unread or in flight makes the kernel send a reset.
                Ok(read)
            }
            Self::Breached { bytes } => {
                SoakRequest::Breach(bytes).send(&mut stream).await?;
                let read = tokio::time::timeout(SILENCE, pattern.read(&mut stream, bytes + 1));
                let end = match read.await {
                    Ok(end) => end,
                    // The reset was lost, and it is never retransmitted, so the client sends a
                    // byte.
                    Err(_) => provoke_reset(&mut stream).await,
                };
                match end {
                    Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(bytes),
                    Err(error) => Err(error),
                    Ok(()) => Err(io::Error::other("it was not broken off")),
                }
            }
        }
    }
}

/// Sends to a server that may have closed, which then answers with a reset.
async fn provoke_reset(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(&[0]).await?;
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.map(|_| ())
}

async fn download(
    stream: &mut TcpStream,
    request: SoakRequest,
    pattern: &Pattern,
) -> io::Result<u64> {
    request.send(stream).await?;
    match request {
        SoakRequest::Download(bytes) | SoakRequest::Breach(bytes) => {
            pattern.read(stream, bytes).await?;
            Ok(bytes)
        }
        SoakRequest::Upload(bytes) => {
            pattern.write(stream, bytes).await?;
            stream.read_u8().await?;
            Ok(bytes)
        }
    }
}

/// Marsaglia's xorshift: the same visits in every run.
struct Dice(u64);

impl Dice {
    const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number from `low` to below `high`, or `low`.
    const fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let width = high.saturating_sub(low);
        if width == 0 { low } else { low + (self.0 >> 11) % width }
    }
}
