//! The peer of a connection: the identity in its certificate, its address, and its cached session.
//! While the rules in force stay the same, the next call of the connection reuses the result of the
//! last check.

use crate::pki::Identity;
use crate::site::{GatewaySite, ReporterSession, Silenced};
use arc_swap::ArcSwapOption;
use std::net::IpAddr;
use std::sync::Arc;

/// The other end of a connection; an extension of each of its requests.
#[derive(Clone, Debug)]
pub(crate) struct PeerIdentity {
    identity: Arc<Identity>,
    /// Address of the peer.
    pub(crate) address: IpAddr,
    judged: Arc<ArcSwapOption<ReporterSession>>,
}

impl PeerIdentity {
    /// Creates the peer of a new connection from `address`.
    pub(crate) fn new(identity: Arc<Identity>, address: IpAddr) -> Self {
        Self { identity, address, judged: Arc::default() }
    }

    /// Returns its session under the rules in force.
    ///
    /// # Errors
    /// If it is not accepted, or no longer: the reason.
    pub(crate) fn session(
        &self,
        site: &Arc<GatewaySite>,
    ) -> Result<Arc<ReporterSession>, Silenced> {
        if let Some(judged) = self.judged.load_full().filter(|judged| judged.is_current()) {
            judged.check_certificate()?;
            return Ok(judged);
        }
        let judged = ReporterSession::begin(Arc::clone(site), Arc::clone(&self.identity))?;
        let judged = Arc::new(judged);
        self.judged.store(Some(Arc::clone(&judged)));
        Ok(judged)
    }
}
