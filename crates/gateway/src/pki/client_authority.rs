//! The authorities of the certificates that clients show, and the check of a client's chain.

use super::pem::{TlsError, certificates, named, roots};
use super::revocation::Revocations;
use crate::os::clock::system_time;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, Error, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The authorities of the certificates that clients show.
#[derive(Clone, Debug)]
pub struct ClientAuthority {
    certificates: Arc<[CertificateDer<'static>]>,
    /// Verifies by all of them.
    verifier: Arc<dyn ClientCertVerifier>,
}

impl ClientAuthority {
    /// Reads the certificates of the authorities.
    ///
    /// # Errors
    /// If `ca` cannot be read, or has no certificate of an authority.
    pub fn read(ca: &Path) -> Result<Self, TlsError> {
        let verifier = verifier(roots(ca)?).map_err(|error| named(ca, error))?;
        Ok(Self { certificates: certificates(ca)?.into(), verifier })
    }

    /// Returns a verifier of all authorities, which knows nothing of revocations.
    pub(super) fn verifier(&self) -> &dyn ClientCertVerifier {
        &*self.verifier
    }

    /// Checks that the first certificate of `chain` is from one of these authorities, valid at
    /// `now`, and that `revocations` names no certificate between it and the authority.
    ///
    /// # Errors
    /// If not: the reason.
    pub(super) fn verify(
        &self,
        chain: &[CertificateDer<'_>],
        now: UnixTime,
        revocations: &Revocations,
    ) -> Result<ClientCertVerified, Error> {
        let Some((own, others)) = chain.split_first() else {
            return Err(Error::NoCertificatesPresented);
        };
        let verified = self.verifier.verify_client_cert(own, others, now)?;
        if chain.iter().any(|certificate| revocations.names(certificate)) {
            return Err(CertificateError::Revoked.into());
        }
        // Another certificate of the same key does not make a stolen key trustworthy.
        let stolen = self.revoked_keys(revocations);
        if stolen.is_empty() {
            return Ok(verified);
        }
        if chain.iter().any(|certificate| stolen.contains(&public_key(certificate))) {
            return Err(CertificateError::Revoked.into());
        }
        self.without(&stolen)
            .and_then(|rest| rest.verify_client_cert(own, others, now).ok())
            .ok_or_else(|| CertificateError::Revoked.into())
    }

    /// Checks a chain at the present time.
    ///
    /// # Errors
    /// If the chain is not from one of these authorities, not valid now, or revoked: the reason.
    pub fn verify_now(
        &self,
        chain: &[CertificateDer<'_>],
        revocations: &Revocations,
    ) -> Result<(), Error> {
        let now = system_time().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.verify(chain, UnixTime::since_unix_epoch(now), revocations).map(drop)
    }

    /// Returns the public keys of the authorities that are revoked.
    fn revoked_keys(&self, revocations: &Revocations) -> Vec<Option<&[u8]>> {
        let revoked = self.certificates.iter().filter(|authority| revocations.names(authority));
        revoked.map(public_key).collect()
    }

    /// Returns the verifier of the authorities without these public keys; `None` if none is left.
    fn without(&self, keys: &[Option<&[u8]>]) -> Option<Arc<dyn ClientCertVerifier>> {
        let mut rest = RootCertStore::empty();
        for authority in self.certificates.iter() {
            if !keys.contains(&public_key(authority)) {
                // It has been accepted before, by `roots`.
                let _ = rest.add(authority.clone());
            }
        }
        verifier(rest).ok()
    }
}

fn verifier(roots: RootCertStore) -> Result<Arc<dyn ClientCertVerifier>, impl std::fmt::Display> {
    let provider = Arc::new(ring::default_provider());
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()
}

/// Returns the public key as its certificate writes it; `None` if it cannot be read.
fn public_key<'a>(certificate: &'a CertificateDer<'_>) -> Option<&'a [u8]> {
    let (_, read) = X509Certificate::from_der(certificate).ok()?;
    Some(read.tbs_certificate.subject_pki.raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pki::{Fingerprint, RevocationEntry, add_revocation};
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    use std::fs;
    use std::time::Duration;

    /// An authority has two certificates of one key, as after a renewal. The operator revokes the
    /// first. A thief has the key, so certificates of either are refused; another authority's are
    /// not.
    #[test]
    fn a_revoked_authority_has_no_second_certificate() {
        let file = |name: &str| {
            let name = format!("headstart-client-authority-{}-{name}", std::process::id());
            std::env::temp_dir().join(name)
        };
        let (ca, list) = (file("ca.pem"), file("revoked.txt"));
        let [stolen, other] = [(); 2].map(|()| KeyPair::generate().unwrap());
        let params = |name: &str| {
            let mut params = CertificateParams::default();
            params.distinguished_name.push(rcgen::DnType::CommonName, name);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params
        };
        let all = [("old", &stolen), ("renewed", &stolen), ("other", &other)];
        let certificates = all.map(|(name, key)| params(name).self_signed(key).unwrap());
        fs::write(&ca, certificates.each_ref().map(|one| one.pem()).concat()).unwrap();
        let issuer = |(name, key)| Issuer::new(params(name), key);
        // The other authority has signed the old one's key, as before a change of authorities.
        let cross = params("old").signed_by(&stolen, &issuer(all[2])).unwrap();
        let chains = [
            vec![issued(&issuer(all[0]))],
            vec![issued(&issuer(all[1]))],
            vec![issued(&issuer(all[2]))],
            vec![issued(&issuer(all[0])), cross.der().clone()],
        ];
        let authority = ClientAuthority::read(&ca).unwrap();
        let revocations = Revocations::open(Some(list.clone()), Duration::from_secs(9)).unwrap();
        let accepted =
            || chains.each_ref().map(|chain| authority.verify_now(chain, &revocations).is_ok());
        assert_eq!(accepted(), [true; 4]);
        let first = Fingerprint::of_certificate(certificates[0].der());
        add_revocation(&list, &RevocationEntry::Certificate(first), "stolen").unwrap();
        revocations.reread().unwrap();
        assert_eq!(accepted(), [false, false, true, false]);
        [ca, list].iter().for_each(|file| fs::remove_file(file).unwrap());
    }

    /// Returns the certificate of a client.
    fn issued(issuer: &Issuer<'_, &KeyPair>) -> CertificateDer<'static> {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        params.signed_by(&key, issuer).unwrap().der().clone()
    }
}
