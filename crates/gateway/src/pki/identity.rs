//! The identity of a certificate's holder.

use super::revocation::Fingerprint;
use memory::site::Reporter;
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Formatter};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Longest name of a tenant or of a holder, bytes: the limit of a DNS label.
const MAX_NAME_BYTES: usize = 63;

/// The role of a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HolderRole {
    /// Reports and asks: an agent, or an application.
    Agent,
    /// May also make the whole site forget networks.
    Operator,
    /// Reads packets: reports what they show and announces visitors, and may do nothing else.
    Observer,
}

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
    /// It has no URI of the form that is expected, or several.
    NoName,
}

impl Display for IdentityError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "the certificate cannot be read",
            Self::NoName => {
                "the certificate has not one URI spiffe://headstart/tenant/TENANT/agent/NAME; \
                 `headstart gateway certificate` makes one"
            }
        })
    }
}

impl std::error::Error for IdentityError {}

impl HolderRole {
    /// Returns the word for certificates and for the JSON API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Operator => "operator",
            Self::Observer => "observer",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        let roles = [Self::Agent, Self::Operator, Self::Observer];
        roles.into_iter().find(|role| role.word() == word)
    }
}

impl Display for HolderRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Returns the URI that names a holder.
pub(super) fn uri(tenant: &str, role: HolderRole, name: &str) -> String {
    format!("spiffe://headstart/tenant/{tenant}/{role}/{name}")
}

/// Returns true for 1 to 63 letters, digits, dots, dashes and underscores: the name of a tenant or
/// of a holder.
pub fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (1..=MAX_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_of_name)
}

impl Identity {
    /// Reads the identity from the certificate `der`; the caller has checked its chain.
    ///
    /// # Errors
    /// If it identifies no holder.
    pub fn of_certificate(der: &[u8]) -> Result<Self, IdentityError> {
        let (_, certificate) =
            X509Certificate::from_der(der).map_err(|_| IdentityError::Unreadable)?;
        let names = certificate.subject_alternative_name();
        let names = names.map_err(|_| IdentityError::Unreadable)?.ok_or(IdentityError::NoName)?;
        let mut holders = names.value.general_names.iter().filter_map(|name| match name {
            GeneralName::URI(uri) => holder(uri),
            _ => None,
        });
        let (tenant, role, name) = holders.next().ok_or(IdentityError::NoName)?;
        if holders.next().is_some() {
            return Err(IdentityError::NoName);
        }
        Ok(Self {
            tenant: tenant.to_owned(),
            name: name.to_owned(),
            role,
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

/// Returns tenant, role and name from a URI of the right form.
fn holder(uri: &str) -> Option<(&str, HolderRole, &str)> {
    let mut parts = uri.strip_prefix("spiffe://headstart/tenant/")?.split('/');
    let (tenant, role, name) = (parts.next()?, HolderRole::of_word(parts.next()?)?, parts.next()?);
    (parts.next().is_none() && is_name(tenant) && is_name(name)).then_some((tenant, role, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uris_of_the_form_name_somebody() {
        let name = |rest: &str| holder(&format!("spiffe://headstart/tenant/{rest}")).is_some();
        assert!(name("site/agent/web-1.example"));
        assert!(name("site/operator/ann"));
        assert!(name("site/observer/eye-1"));
        assert!(!name("site/gateway/web-1"));
        assert!(!name("site/agent/"));
        assert!(!name("site/agent/a/b"));
        assert!(!name("si te/agent/a"));
        assert!(!name(&format!("site/agent/{}", "a".repeat(64))));
        assert_eq!(holder("https://headstart/tenant/site/agent/a"), None);
    }

    /// Reads the identity from a certificate with these URIs.
    fn of_uris(uris: &[&str]) -> Result<Identity, IdentityError> {
        let mut params = rcgen::CertificateParams::new(["web-1.example".to_owned()]).unwrap();
        let uris = uris.iter().map(|uri| rcgen::SanType::URI((*uri).try_into().unwrap()));
        params.subject_alt_names.extend(uris);
        let key = rcgen::KeyPair::generate().unwrap();
        Identity::of_certificate(params.self_signed(&key).unwrap().der())
    }

    /// An external authority may write more into a certificate. A certificate with two holders
    /// identifies neither.
    #[test]
    fn a_certificate_of_two_holders_names_nobody() {
        let [web, shop] = ["site/agent/web", "shop/operator/ann"]
            .map(|of| format!("spiffe://headstart/tenant/{of}"));
        let named = of_uris(&["spiffe://example.org/web", &web]).unwrap();
        assert_eq!((named.tenant.as_str(), named.name.as_str()), ("site", "web"));
        assert_eq!(named.role, HolderRole::Agent);
        assert_eq!(of_uris(&[&web, &shop]), Err(IdentityError::NoName));
        assert_eq!(of_uris(&[&web, &web]), Err(IdentityError::NoName));
        assert_eq!(of_uris(&["spiffe://example.org/web"]), Err(IdentityError::NoName));
    }
}
