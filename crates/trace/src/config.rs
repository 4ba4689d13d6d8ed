//! What an engine is told of its input, and its limits.

use crate::profile::{SenderModel, SenderModels, SenderProfile};
use crate::rebuilt::PARK_AFTER;
use crate::servers::NamedServers;
use crate::vantage::Vantage;
use units::Duration;

/// What the engine is told of its input, and its limits.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// What senders run.
    pub models: SenderModels,
    /// Where the capture was made; `None`: as the handshake of each connection tells.
    pub vantage: Option<Vantage>,
    /// What servers send is ignored, as if it had not been captured: their senders are predicted.
    pub acks_only: bool,
    /// Who is the server where no handshake tells; segments of others are counted and passed over.
    pub servers: NamedServers,
    /// A named server is the server also of connections that it opens itself.
    pub named_open: bool,
    /// Connections that are followed at most; beyond that the least recently used one is evicted.
    pub max_connections: usize,
    /// A sender without packets for so long is kept as a few numbers, and an answer that pauses for longer is over.
    pub park_after: Duration,
    /// A connection without packets for so long is over.
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
            park_after: PARK_AFTER,
            idle_timeout: Duration::from_secs(300),
        }
    }
}

impl EngineConfig {
    /// These are servers, whoever opens the connection.
    pub(crate) fn openers(&self) -> Option<&NamedServers> {
        self.named_open.then_some(&self.servers)
    }
}
