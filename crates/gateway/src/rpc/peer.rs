//! Whom the certificate of a connection names, from which address it comes, and by which rules its calls were judged last. While
//! these rules are in force, the next call of the connection is judged by what was found for the call before.

use crate::pki::Identity;
use crate::site::{GatewaySite, ReporterSession, Silenced};
use arc_swap::ArcSwapOption;
use std::net::IpAddr;
use std::sync::Arc;

/// The other end of a connection; an extension of each of its requests.
#[derive(Clone, Debug)]
pub(crate) struct PeerIdentity {
    identity: Arc<Identity>,
    /// Its end's.
    pub(crate) address: IpAddr,
    judged: Arc<ArcSwapOption<ReporterSession>>,
}

impl PeerIdentity {
    /// Of a connection from `address` on which nothing has been said.
    pub(crate) fn new(identity: Arc<Identity>, address: IpAddr) -> Self {
        Self { identity, address, judged: Arc::default() }
    }

    /// Its session under the rules in force.
    ///
    /// # Errors
    /// Why it is not heard, or no longer.
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
