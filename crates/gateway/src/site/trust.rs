//! Checks that the certificates of open connections are of an authority that the gateway still
//! accepts, and that none of their chains is revoked. A handshake verifies a chain once, but
//! connections live for days. So each reload, and each change of the list, verifies the chains of
//! open connections again.

use super::Silenced;
use crate::pki::{ClientAuthority, Fingerprint, Revocations};
use arc_swap::{ArcSwap, ArcSwapOption};
use rustc_hash::FxHashMap;
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A chain from a peer, its own certificate first.
type Chain = Vec<CertificateDer<'static>>;

/// The authority in force, and the chains of all open connections.
#[derive(Debug)]
pub(crate) struct Trust {
    revocations: Arc<Revocations>,
    /// `None` before the gateway has read one.
    authority: ArcSwapOption<ClientAuthority>,
    open: Mutex<OpenChains>,
    /// Certificates of open connections that are no longer accepted, with the reason.
    refused: ArcSwap<FxHashMap<Fingerprint, Silenced>>,
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
    /// Creates it without an authority.
    pub(crate) fn new(revocations: Arc<Revocations>) -> Self {
        let (authority, open, refused) = Default::default();
        Self { revocations, authority, open, refused }
    }

    /// Verifies all open connections by `authority`, and new ones from now on.
    pub(crate) fn set_authority(&self, authority: ClientAuthority) {
        self.authority.store(Some(Arc::new(authority)));
        self.verify_again();
    }

    /// Verifies all open connections: the list of revoked certificates has changed.
    pub(crate) fn verify_again(&self) {
        let refused = |chain: &Chain| Some((own(chain), self.verify(chain).err()?));
        let open = self.open();
        self.refused.store(Arc::new(open.chains.values().filter_map(refused).collect()));
    }

    /// Verifies the open connections whose certificate is `certificate` once more.
    fn verify_others(&self, open: &OpenChains, certificate: Fingerprint) {
        let same = open.chains.values().filter(|chain| own(chain) == certificate);
        let refusal = same.filter_map(|chain| self.verify(chain).err()).last();
        let mut refused = self.refused.load().as_ref().clone();
        match refusal {
            Some(why) => refused.insert(certificate, why),
            None => refused.remove(&certificate),
        };
        self.refused.store(Arc::new(refused));
    }

    /// Adds a connection.
    ///
    /// # Errors
    /// If its chain is not accepted: the reason. A reload, or a change of the list, may have
    /// happened after the beginning of the handshake.
    pub(crate) fn enter(self: &Arc<Self>, chain: Chain) -> Result<OpenChain, Silenced> {
        let entered = {
            let mut open = self.open();
            let number = open.next;
            open.next += 1;
            open.chains.insert(number, chain.clone());
            OpenChain { all: Arc::clone(self), number }
        };
        // In this order: a change between the two verifies the chain, or has happened before.
        self.verify(&chain).map(|()| entered)
    }

    /// Returns the reason if the certificate of an open connection is no longer accepted.
    pub(crate) fn refusal(&self, certificate: Fingerprint) -> Option<Silenced> {
        self.refused.load().get(&certificate).copied()
    }

    /// Verifies a certificate chain again, by the present authority and revocations.
    fn verify(&self, chain: &Chain) -> Result<(), Silenced> {
        let authority = self.authority.load();
        let verified = authority.as_ref().map(|known| known.verify_now(chain, &self.revocations));
        match verified {
            None | Some(Ok(())) => Ok(()),
            Some(Err(Error::InvalidCertificate(CertificateError::Revoked))) => {
                Err(Silenced::Revoked)
            }
            Some(Err(_)) => Err(Silenced::OtherAuthority),
        }
    }

    fn open(&self) -> MutexGuard<'_, OpenChains> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenChain {
    fn drop(&mut self) {
        let mut open = self.all.open();
        let Some(gone) = open.chains.remove(&self.number) else { return };
        let certificate = own(&gone);
        // The same certificate may come back with a better chain.
        if self.all.refusal(certificate).is_some() {
            self.all.verify_others(&open, certificate);
        }
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
    use crate::pki::{Authority, HolderRole, RevocationEntry, add_revocation};
    use rustls::pki_types::pem::PemObject;
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    fn list(name: &str) -> PathBuf {
        let name = format!("headstart-trust-{}-{name}.txt", std::process::id());
        std::env::temp_dir().join(name)
    }

    fn trust(file: &std::path::Path) -> Arc<Trust> {
        let list = Revocations::open(Some(file.to_owned()), Duration::from_secs(60)).unwrap();
        Arc::new(Trust::new(Arc::new(list)))
    }

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
        let trust = trust(&list("authority"));
        trust.set_authority(old.clone());
        let entered = trust.enter(agent.clone()).unwrap();
        assert!(trust.refusal(own(&agent)).is_none() && trust.enter(other.clone()).is_err());
        trust.set_authority(new);
        let refused = Some(Silenced::OtherAuthority);
        assert_eq!([&agent, &other].map(|chain| trust.refusal(own(chain))), [refused, None]);
        // The reload happened during a handshake.
        assert_eq!(trust.enter(agent.clone()).err(), refused);
        trust.set_authority(old);
        assert_eq!(trust.refusal(own(&agent)), None);
        drop(entered);
        assert!(trust.open().chains.is_empty());
    }

    /// Two chains have the same certificate. A list refuses one of them because of another
    /// certificate in it. The holder comes back with the good chain alone.
    #[test]
    fn a_certificate_is_refused_while_a_revoked_chain_of_it_is_open() {
        let (authority, agent) = site("chain");
        let (_, extra) = site("extra");
        let file = list("chain");
        let trust = trust(&file);
        trust.set_authority(authority);
        let with_extra = [agent.clone(), extra.clone()].concat();
        let kept = trust.enter(with_extra.clone()).unwrap();
        add_revocation(&file, &RevocationEntry::Certificate(own(&extra)), "extra").unwrap();
        trust.revocations.reread().unwrap();
        trust.verify_again();
        assert_eq!(trust.refusal(own(&agent)), Some(Silenced::Revoked));
        assert_eq!(trust.enter(with_extra).err(), Some(Silenced::Revoked));
        drop(kept);
        assert_eq!(trust.refusal(own(&agent)), None);
        trust.enter(agent).unwrap();
        fs::remove_file(&file).unwrap();
    }
}
