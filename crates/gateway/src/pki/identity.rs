//! The identity of a certificate's holder.

use super::holder::{HolderRole, HolderRules};
use super::revocation::Fingerprint;
use memory::site::Reporter;
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Formatter};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The identity of a certificate's holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The tenant, whose memory it shares.
    pub tenant: String,
    /// Its name within the tenant.
    pub name: String,
    /// Its role.
    pub role: HolderRole,
    /// Fingerprint of the certificate.
    pub fingerprint: Fingerprint,
    /// Time at which the certificate ends, seconds since 1970.
    pub not_after: i64,
}

/// The reason why a certificate identifies no holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityError {
    /// It cannot be read.
    Unreadable,
    /// It has no URI of a rule's form, or several URIs.
    NoName,
}

impl Display for IdentityError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "the certificate cannot be read",
            Self::NoName => {
                "the certificate needs exactly one URI, of a form that [[holder]] names; \
                 `headstart gateway certificate` makes one"
            }
        })
    }
}

impl std::error::Error for IdentityError {}

impl Identity {
    /// Reads the identity from the certificate `der`, by `rules`; the caller has checked the chain.
    ///
    /// # Errors
    /// If it identifies no holder. A certificate of several URIs identifies none (SPIFFE X509-SVID
    /// §2): another gateway could name another holder by the other URI.
    pub fn of_certificate(der: &[u8], rules: &HolderRules) -> Result<Self, IdentityError> {
        let (_, certificate) =
            X509Certificate::from_der(der).map_err(|_| IdentityError::Unreadable)?;
        let names = certificate.subject_alternative_name();
        let names = names.map_err(|_| IdentityError::Unreadable)?.ok_or(IdentityError::NoName)?;
        let mut uris = names.value.general_names.iter().filter_map(|name| match name {
            GeneralName::URI(uri) => Some(*uri),
            _ => None,
        });
        let (Some(uri), None) = (uris.next(), uris.next()) else {
            return Err(IdentityError::NoName);
        };
        let holder = rules.holder(uri).ok_or(IdentityError::NoName)?;
        Ok(Self {
            tenant: holder.tenant.to_owned(),
            name: holder.name.to_owned(),
            role: holder.role,
            fingerprint: Fingerprint::of_certificate(der),
            not_after: certificate.validity().not_after.timestamp(),
        })
    }

    /// Returns the number by which the estimator knows the holder. The number depends on tenant and
    /// name alone, so it stays with a new certificate.
    pub fn reporter(&self) -> Reporter {
        let hash = Sha256::digest(format!("{}/{}", self.tenant, self.name));
        Reporter(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]))
    }
}

impl Display for Identity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.role, self.tenant, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the identity from a certificate with these URIs.
    fn of_uris(uris: &[&str]) -> Result<Identity, IdentityError> {
        let mut params = rcgen::CertificateParams::new(["web-1.example".to_owned()]).unwrap();
        let uris = uris.iter().map(|uri| rcgen::SanType::URI((*uri).try_into().unwrap()));
        params.subject_alt_names.extend(uris);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Identity::of_certificate(certificate.der(), &HolderRules::default())
    }

    /// A certificate of two URIs is refused, whichever of them names a holder. Names of hosts in it
    /// are no names of holders.
    #[test]
    fn a_certificate_of_two_uris_names_nobody() {
        let [web, shop] = ["site/agent/web", "shop/operator/ann"]
            .map(|of| format!("spiffe://headstart/tenant/{of}"));
        let named = of_uris(&[&web]).unwrap();
        assert_eq!((named.tenant.as_str(), named.name.as_str()), ("site", "web"));
        assert_eq!(named.role, HolderRole::Agent);
        let other = "spiffe://example.org/web";
        let https = "https://example.org/web";
        for uris in [[&web[..], &shop], [&web, &web], [other, &web], [&web, other], [&web, https]] {
            assert_eq!(of_uris(&uris), Err(IdentityError::NoName), "{uris:?}");
        }
        for uris in [&[][..], &[other]] {
            assert_eq!(of_uris(uris), Err(IdentityError::NoName), "{uris:?}");
        }
    }
}
