//! Checks that the certificates of open connections are of an authority that the gateway still
//! accepts. A handshake verifies a chain once, but connections live for days. So each reload
//! verifies the chains of open connections again.

use crate::pki::{ClientAuthority, Fingerprint};
use arc_swap::{ArcSwap, ArcSwapOption};
use rustc_hash::FxHashSet;
use rustls::pki_types::CertificateDer;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A chain from a peer, its own certificate first.
type Chain = Vec<CertificateDer<'static>>;

/// The authority in force, and the chains of all open connections.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    /// `None` before the gateway has read one.
    authority: ArcSwapOption<ClientAuthority>,
    open: Mutex<OpenChains>,
    /// Certificates of open connections that are not of the authority in force.
    refused: ArcSwap<FxHashSet<Fingerprint>>,
}

#[derive(Debug, Default)]
struct OpenChains {
    next: u64,
    chains: BTreeMap<u64, Chain>,
}

/// An open connection, until this value is dropped.
#[derive(Debug)]
pub(crate) struct OpenChain {
    all: Arc<Trust>,
    number: u64,
}

impl Trust {
    /// Verifies all open connections by `authority`, and new ones from now on.
    pub(crate) fn set_authority(&self, authority: ClientAuthority) {
        self.authority.store(Some(Arc::new(authority)));
        let open = self.open();
        let refused = open.chains.values().filter(|chain| !self.verifies(chain)).map(own);
        self.refused.store(Arc::new(refused.collect()));
    }

    /// Adds a connection; `None` if its chain is not of the authority in force. A reload may have
    /// happened after the beginning of the handshake.
    pub(crate) fn enter(self: &Arc<Self>, chain: Chain) -> Option<OpenChain> {
        let entered = {
            let mut open = self.open();
            let number = open.next;
            open.next += 1;
            open.chains.insert(number, chain.clone());
            OpenChain { all: Arc::clone(self), number }
        };
        // In this order: a reload between the two verifies the chain, or has set the authority.
        self.verifies(&chain).then_some(entered)
    }

    /// Returns true if the certificate is not of the authority in force.
    pub(crate) fn refuses(&self, certificate: Fingerprint) -> bool {
        self.refused.load().contains(&certificate)
    }

    fn verifies(&self, chain: &Chain) -> bool {
        self.authority.load().as_ref().is_none_or(|authority| authority.verifies(chain))
    }

    fn open(&self) -> MutexGuard<'_, OpenChains> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenChain {
    fn drop(&mut self) {
        self.all.open().chains.remove(&self.number);
    }
}

/// Returns the fingerprint of the peer's own certificate.
fn own(chain: &Chain) -> Fingerprint {
    Fingerprint::of_certificate(chain.first().map_or(&[], |first| first.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::clock::system_time;
    use crate::pki::{Authority, HolderRole};
    use rustls::pki_types::pem::PemObject;

    /// Returns an authority as the gateway reads it, and a chain of one of its agents.
    fn site(name: &str) -> (ClientAuthority, Chain) {
        let file = format!("headstart-trust-{}-{name}.pem", std::process::id());
        let file = std::env::temp_dir().join(file);
        let (authority, ca) = Authority::new(system_time()).unwrap();
        std::fs::write(&file, &ca.certificate).unwrap();
        let agent = authority.client(system_time(), 1, HolderRole::Agent, ("site", "a")).unwrap();
        let chain = CertificateDer::from_pem_slice(agent.certificate.as_bytes()).unwrap();
        let read = ClientAuthority::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        (read, vec![chain])
    }

    #[test]
    fn a_new_authority_refuses_open_chains_of_the_old_one_until_it_is_back() {
        let ((old, agent), (new, other)) = (site("old"), site("new"));
        let trust = Arc::new(Trust::default());
        trust.set_authority(old.clone());
        let entered = trust.enter(agent.clone()).unwrap();
        assert!(!trust.refuses(own(&agent)) && trust.enter(other.clone()).is_none());
        trust.set_authority(new);
        assert!(trust.refuses(own(&agent)) && !trust.refuses(own(&other)));
        // The reload happened during a handshake.
        assert!(trust.enter(agent.clone()).is_none());
        trust.set_authority(old);
        assert!(!trust.refuses(own(&agent)));
        drop(entered);
        assert!(trust.open().chains.is_empty());
    }
}
