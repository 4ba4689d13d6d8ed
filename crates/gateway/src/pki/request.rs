//! Requests for a certificate (PKCS #10, RFC 2986). A server makes its own key and sends only the
//! request, so the key never leaves the server.

use rcgen::{CertificateParams, DnType, KeyPair, PublicKeyData, SubjectPublicKeyInfo};
use rustls::pki_types::CertificateSigningRequestDer;
use rustls::pki_types::pem::PemObject;
use std::fmt::{self, Display, Formatter};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;

/// The key of a request. Names and extensions that the request asks for are not read: the operator
/// states them.
#[derive(Clone, Debug)]
pub struct CertificateRequest(SubjectPublicKeyInfo);

/// The reason why a request is refused, or cannot be made.
#[derive(Debug)]
pub struct RequestError(String);

impl Display for RequestError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RequestError {}

impl From<rcgen::Error> for RequestError {
    fn from(error: rcgen::Error) -> Self {
        Self(error.to_string())
    }
}

impl CertificateRequest {
    /// Reads the first request of a PEM file, and checks that its sender has the key (RFC 2986 §3).
    ///
    /// # Errors
    /// If it is no request, if its signature is not of its own key, or if TLS has no use for the
    /// key: the reason.
    pub fn of_pem(pem: &[u8]) -> Result<Self, RequestError> {
        let der = CertificateSigningRequestDer::from_pem_slice(pem).map_err(|_| unreadable())?;
        Self::of_der(&der)
    }

    fn of_der(der: &[u8]) -> Result<Self, RequestError> {
        let (rest, request) = X509CertificationRequest::from_der(der).map_err(|_| unreadable())?;
        if !rest.is_empty() {
            return Err(unreadable());
        }
        request.verify_signature().map_err(|_| {
            RequestError(
                "the signature is not of the request's key, or the key is not ECDSA P-256 or P-384, Ed25519, or RSA \
                 of 2048 bits or more; make a new request"
                    .to_owned(),
            )
        })?;
        let key = request.certification_request_info.subject_pki.raw;
        Ok(Self(SubjectPublicKeyInfo::from_der(key)?))
    }

    /// Returns the public key.
    pub(super) fn public_key(&self) -> &impl PublicKeyData {
        &self.0
    }
}

fn unreadable() -> RequestError {
    RequestError("no certificate request in PEM; `headstart gateway request` makes one".to_owned())
}

/// Makes a request for the certificate of `key`, a new key if there is none; returns the key and
/// the request, in PEM. `name` is for people: who signs the request states the holder's name.
///
/// # Errors
/// If `key` is no private key, or if there are no random numbers.
pub fn request(name: &str, key: Option<&str>) -> Result<(String, String), RequestError> {
    let key = key.map_or_else(KeyPair::generate, KeyPair::from_pem)?;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    Ok((key.serialize_pem(), params.serialize_request(&key)?.pem()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::clock::system_time;
    use crate::pki::{Authority, CertificateContent, Holder, HolderRole, HolderRules, Identity};
    use rcgen::{BasicConstraints, CertificateSigningRequest, IsCa, SanType};
    use rustls::pki_types::CertificateDer;
    use x509_parser::certificate::X509Certificate;

    /// Signs the request for `agent paris/web-1`; returns the certificate.
    fn signed(request: &[u8]) -> CertificateDer<'static> {
        let request = CertificateRequest::of_pem(request).unwrap();
        let (authority, _) = Authority::new(system_time()).unwrap();
        let holder = Holder { tenant: "paris", role: HolderRole::Agent, name: "web-1" };
        let content = CertificateContent::client(system_time(), 1, holder);
        let pem = authority.sign(content.unwrap(), &request).unwrap();
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
    }

    /// A request asks for an operator's URI, for the rights of an authority and for a host. The
    /// certificate has its key, and what the operator states.
    #[test]
    fn a_request_gives_its_key_and_nothing_else() {
        let key = KeyPair::generate().unwrap();
        let mut asked = CertificateParams::new(["gateway.example".to_owned()]).unwrap();
        let operator = "spiffe://headstart/tenant/site/operator/ann".try_into().unwrap();
        asked.subject_alt_names.push(SanType::URI(operator));
        asked.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        asked.distinguished_name.push(DnType::CommonName, "ann");
        let request = asked.serialize_request(&key).unwrap().pem().unwrap();
        let certificate = signed(request.as_bytes());
        let identity = Identity::of_certificate(&certificate, &HolderRules::default()).unwrap();
        assert_eq!(identity.to_string(), "agent paris/web-1");
        let (_, read) = X509Certificate::from_der(&certificate).unwrap();
        assert_eq!(read.public_key().raw, key.subject_public_key_info());
        assert_eq!(read.subject().to_string(), "CN=web-1");
        assert!(!read.is_ca());
        let names = read.subject_alternative_name().unwrap().unwrap();
        assert_eq!(names.value.general_names.len(), 1);
        let usage = read.extended_key_usage().unwrap().unwrap().value;
        assert!(usage.client_auth && !usage.server_auth && !usage.any);
    }

    /// The key stays as it is if there is one, and is new otherwise.
    #[test]
    fn a_request_is_for_a_key_that_is_there_or_for_a_new_one() {
        let (key, first) = request("web-1", None).unwrap();
        let (same, again) = request("web-1", Some(&key)).unwrap();
        assert_eq!(key, same);
        let of = |pem: &str| KeyPair::from_pem(pem).unwrap().subject_public_key_info();
        for request in [first, again] {
            let certificate = signed(request.as_bytes());
            let (_, read) = X509Certificate::from_der(&certificate).unwrap();
            assert_eq!(read.public_key().raw, of(&key));
            assert!(!request.contains("PRIVATE"));
        }
        assert_ne!(request("web-1", None).unwrap().0, key);
        assert!(request("web-1", Some("nothing")).is_err());
    }

    /// A sender that has not the key cannot have a certificate for it: neither with another
    /// signature nor with a changed request.
    #[test]
    fn a_request_is_signed_by_its_own_key() {
        let der = |key: &KeyPair| -> CertificateSigningRequest {
            CertificateParams::default().serialize_request(key).unwrap()
        };
        let [own, other] = [(); 2].map(|()| KeyPair::generate().unwrap());
        let (good, mut stolen) = (der(&own), der(&own).der().to_vec());
        let read = CertificateRequest::of_der;
        assert!(read(good.der().as_ref()).is_ok());
        // The other public key is as long, and replaces the first.
        let (from, to) = (own.public_key_raw(), other.public_key_raw());
        let at = stolen.windows(from.len()).position(|some| some == from).unwrap();
        stolen[at..at + to.len()].copy_from_slice(to);
        let why = read(&stolen).unwrap_err().to_string();
        assert!(why.starts_with("the signature is not of the request's key"), "{why}");
        let good = good.der().as_ref();
        let more = [good, &[0]].concat();
        let cut = &good[..good.len() - 1];
        for bad in [&more[..], cut, b""] {
            let why = read(bad).unwrap_err().to_string();
            assert!(why.starts_with("no certificate request in PEM"), "{why}");
        }
        let (authority, issued) = Authority::new(system_time()).unwrap();
        for text in [authority.certificate(), &issued.key, "", "hello"] {
            let why = CertificateRequest::of_pem(text.as_bytes()).unwrap_err().to_string();
            assert!(why.starts_with("no certificate request in PEM"), "{why}");
        }
    }
}
