//! Scripts of both ends of a connection, step by step.

use super::sockets::TruthSocket;
use serde::{Serialize, Serializer};
use units::Duration;

/// One action of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptStep {
    /// Reads this number of bytes as fast as they arrive.
    Read(u64),
    /// Reads `bytes`, `chunk` of them at a time, once in each interval.
    ReadSlowly {
        /// Bytes in all.
        bytes: u64,
        /// Bytes at a time.
        chunk: u64,
        /// Time between two reads.
        #[serde(serialize_with = "seconds")]
        every: Duration,
    },
    /// Writes this number of bytes by one call.
    Write(u64),
    /// Writes this number of bytes that are part of no request and no response, as HTTP/2's frames
    /// for settings and windows.
    Control(u64),
    /// Writes `bytes`, by a call for each chunk. Linux checks the send buffer's limit only when it
    /// begins a new packet buffer (`tcp_sendmsg_locked`). A single large call passes the limit
    /// while a part of the last packet buffer is sent.
    WriteInParts {
        /// Bytes in all.
        bytes: u64,
        /// Bytes at a time.
        chunk: u64,
    },
    /// Sleeps.
    Pause(#[serde(serialize_with = "seconds")] Duration),
    /// Waits until all that it wrote is acknowledged.
    Drain,
    /// Resets the connection.
    Reset,
}

impl ScriptStep {
    /// It gives bytes to the other end.
    pub(super) const fn writes(self) -> bool {
        matches!(self, Self::Write(_) | Self::WriteInParts { .. })
    }

    /// It takes bytes of the other end.
    pub(super) const fn reads(self) -> bool {
        matches!(self, Self::Read(_) | Self::ReadSlowly { .. })
    }
}

/// One end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndScript {
    /// Options of its socket.
    pub socket: TruthSocket,
    /// Its steps, in order. It closes the connection afterwards, the server after its client.
    pub steps: Vec<ScriptStep>,
}

impl EndScript {
    /// These steps with a usual socket.
    pub(super) fn of(steps: impl Into<Vec<ScriptStep>>) -> Self {
        Self { socket: TruthSocket::default(), steps: steps.into() }
    }
}

/// Both ends of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConnectionScript {
    /// When it opens, after the start of the row.
    #[serde(serialize_with = "seconds")]
    pub starts: Duration,
    /// The client, which opens it.
    pub client: EndScript,
    /// The server.
    pub server: EndScript,
}

/// Bytes of a request.
pub(super) const REQUEST: u64 = 100;

impl ConnectionScript {
    /// A request and a response of `bytes`.
    pub(super) fn fetch(bytes: u64) -> Self {
        Self::request_and_answer([ScriptStep::Write(bytes)], bytes)
    }

    /// A request, which the server answers by these steps with `bytes` in all.
    pub(super) fn request_and_answer(steps: impl Into<Vec<ScriptStep>>, bytes: u64) -> Self {
        let mut server = vec![ScriptStep::Read(REQUEST)];
        server.extend(steps.into());
        Self {
            starts: Duration::ZERO,
            client: EndScript::of([ScriptStep::Write(REQUEST), ScriptStep::Read(bytes)]),
            server: EndScript::of(server),
        }
    }
}

/// A duration as seconds.
pub(super) fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
