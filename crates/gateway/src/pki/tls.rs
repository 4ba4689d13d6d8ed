//! TLS towards reporters: both sides show certificates of the site's authority. Only TLS 1.3 and
//! HTTP/2 are allowed.

use super::client_authority::ClientAuthority;
use super::identity::Identity;
use super::own::usable;
use super::pem::{TlsError, certificates, named};
use super::revocation::Revocations;
use crate::os::clock::system_time;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Files of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of the authority.
    pub ca: PathBuf,
    /// The gateway's certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Certificates of the authority by which agents check the gateway's, if that is not `ca`.
    pub certificate_ca: Option<PathBuf>,
}

/// Returns whether this gateway has the holder's tenant.
pub type KnowsTenant = dyn Fn(&Identity) -> bool + Send + Sync;

/// Sets up the server's side with the certificate chain and key of `files`. Clients show
/// certificates of `authority`. Certificates that `revocations` lists, and holders that `knows`
/// does not know, are refused in the handshake, whose alert gives the reason.
///
/// # Errors
/// If a file cannot be read, if certificate and key do not match, or if agents would refuse the
/// certificate.
pub fn server_config(
    files: &TlsFiles,
    authority: &ClientAuthority,
    revocations: Arc<Revocations>,
    knows: Arc<KnowsTenant>,
) -> Result<ServerConfig, TlsError> {
    let TlsFiles { ca, certificate, key, certificate_ca } = files;
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(SiteVerifier { authority: authority.clone(), revocations, knows });
    let key_of = PrivateKeyDer::from_pem_file(key).map_err(|error| named(key, error))?;
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| named(certificate, error))?;
    let mut config = builder
        .with_client_cert_verifier(verifier)
        .with_single_cert(certificates(certificate)?, key_of)
        .map_err(|error| named(certificate, error))?;
    usable(certificate, certificate_ca.as_deref().unwrap_or(ca), system_time())?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    // A resumed session would accept a certificate without another check.
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Checks chains as usual, and then their holders.
struct SiteVerifier {
    authority: ClientAuthority,
    revocations: Arc<Revocations>,
    knows: Arc<KnowsTenant>,
}

impl std::fmt::Debug for SiteVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SiteVerifier").finish_non_exhaustive()
    }
}

impl ClientCertVerifier for SiteVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authority.verifier().root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let chain = [std::slice::from_ref(end_entity), intermediates].concat();
        let verified = self.authority.verify(&chain, now, &self.revocations)?;
        match Identity::of_certificate(end_entity) {
            _ if self.revocations.is_unknown() => {
                Err(CertificateError::UnknownRevocationStatus.into())
            }
            Ok(identity) if (self.knows)(&identity) => Ok(verified),
            _ => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authority.verifier().verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authority.verifier().verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authority.verifier().supported_verify_schemes()
    }
}
