//! The engine's settings: facts about its input, and its limits.

use crate::profile::{SenderModel, SenderModels, SenderProfile};
use crate::rebuilt::COMPRESS_AFTER;
use crate::servers::NamedServers;
use crate::vantage::Vantage;
use units::Duration;

/// Facts about the engine's input, and its limits.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Models of the senders, by host.
    pub models: SenderModels,
    /// Position of the capture; `None` if the engine derives it from the handshake of each
    /// connection.
    pub vantage: Option<Vantage>,
    /// Ignores data of servers, as if it had not been captured: the engine infers their senders
    /// from ACKs.
    pub acks_only: bool,
    /// Names the servers, for connections without a captured handshake. The engine counts segments
    /// of other hosts and skips them.
    pub servers: NamedServers,
    /// Treats a named server as the server also of connections that it opens itself.
    pub named_open: bool,
    /// Maximum number of connections that are followed at once. If one more opens, the engine
    /// evicts the least recently used one.
    pub max_connections: usize,
    /// Idle time after which a sender is compressed to a few numbers. An answer that pauses for
    /// longer is over.
    pub compress_after: Duration,
    /// Idle time after which a connection is over.
    pub idle_timeout: Duration,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            models: SenderModels::all(SenderModel::of(SenderProfile::Linux)),
            vantage: None,
            acks_only: false,
            servers: NamedServers::default(),
            named_open: false,
            max_connections: 1 << 20,
            compress_after: COMPRESS_AFTER,
            idle_timeout: Duration::from_secs(300),
        }
    }
}

impl EngineConfig {
    /// Returns the servers that count as servers even of connections that they open themselves, if
    /// `named_open` is set.
    pub(crate) fn servers_that_open(&self) -> Option<&NamedServers> {
        self.named_open.then_some(&self.servers)
    }
}
