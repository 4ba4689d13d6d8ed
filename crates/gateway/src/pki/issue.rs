//! A site's own certificate authority: `headstart gateway init` creates it, and
//! `headstart gateway certificate` uses it. A site may use another authority instead; the gateway
//! needs nothing of this module.

use super::identity::{HolderRole, is_name, uri};
use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::pki_types::ServerName;
use std::fmt::{self, Display, Formatter};
use std::net::IpAddr;
use std::time::Duration;
use std::time::SystemTime;

/// Validity of the authority's own certificate, days.
const AUTHORITY_DAYS: u32 = 3650;
/// Start of a certificate's validity before its creation, because clocks of hosts differ.
const BEFORE: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// Makes certificates.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

/// A certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// The reason why no certificate was made.
#[derive(Debug)]
pub struct IssueError(String);

impl Display for IssueError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for IssueError {}

impl From<rcgen::Error> for IssueError {
    fn from(error: rcgen::Error) -> Self {
        Self(error.to_string())
    }
}

impl Authority {
    /// Creates an authority, with its certificate and key.
    ///
    /// # Errors
    /// If there are no random numbers.
    pub fn new(now: SystemTime) -> Result<(Self, Issued), IssueError> {
        let mut params = params(now, AUTHORITY_DAYS, "headstart site authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.pem();
        let issued = Issued { certificate: certificate.clone(), key: key.serialize_pem() };
        Ok((Self { issuer: Issuer::new(params, key), certificate }, issued))
    }

    /// Loads an authority from its certificate and key, in PEM.
    ///
    /// # Errors
    /// If they are invalid.
    pub fn of_pem(certificate: &str, key: &str) -> Result<Self, IssueError> {
        let issuer = Issuer::from_ca_cert_pem(certificate, KeyPair::from_pem(key)?)?;
        Ok(Self { issuer, certificate: certificate.to_owned() })
    }

    /// Returns its own certificate, in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Makes a certificate for a gateway with these names and addresses.
    ///
    /// # Errors
    /// If one of `hosts` is neither.
    pub fn server(
        &self,
        now: SystemTime,
        days: u32,
        hosts: &[String],
    ) -> Result<Issued, IssueError> {
        let mut params = params(now, days, "headstart gateway");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        for host in hosts {
            check_host(host)?;
            params.subject_alt_names.push(match host.parse::<IpAddr>() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) => SanType::DnsName(ia5(host)?),
            });
        }
        self.sign(params)
    }

    /// Makes a certificate for an agent, an application or an operator.
    ///
    /// # Errors
    /// If a name has characters that names must not have.
    pub fn client(
        &self,
        now: SystemTime,
        days: u32,
        role: HolderRole,
        (tenant, name): (&str, &str),
    ) -> Result<Issued, IssueError> {
        for (what, text) in [("tenant", tenant), ("name", name)] {
            if !is_name(text) {
                return Err(IssueError(format!(
                    "{what} {text:?}: 1 to 63 letters, digits, dots, dashes and underscores, please"
                )));
            }
        }
        let mut params = params(now, days, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.subject_alt_names.push(SanType::URI(ia5(&uri(tenant, role, name))?));
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Result<Issued, IssueError> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Issued { certificate, key: key.serialize_pem() })
    }
}

/// Returns the properties that all issued certificates have in common, with a common name.
fn params(now: SystemTime, days: u32, name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.not_before = (now - BEFORE).into();
    params.not_after = (now + DAY * days).into();
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params
}

/// Checks that agents can connect to a gateway as `host`: an address, or a DNS name; in a
/// certificate also `*.` and a name.
fn check_host(host: &str) -> Result<(), IssueError> {
    let name = host.strip_prefix("*.").unwrap_or(host);
    ServerName::try_from(name).map(drop).map_err(|_| {
        IssueError(format!("host {host:?} is neither an address nor a name like gateway.example"))
    })
}

fn ia5(text: &str) -> Result<Ia5String, IssueError> {
    Ia5String::try_from(text.to_owned())
        .map_err(|_| IssueError(format!("{text:?} has letters that no host name has")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::clock::system_time;

    #[test]
    fn a_certificate_is_for_hosts_alone() {
        let (authority, _) = Authority::new(system_time()).unwrap();
        let made = |host: &str| authority.server(system_time(), 1, &[host.to_owned()]);
        for host in ["localhost", "gateway.example", "*.example", "192.0.2.7", "2001:db8::7"] {
            assert!(made(host).is_ok(), "{host}");
        }
        for host in ["", "bad host", "gateway.example:9466", "[2001:db8::7]", "a..b", "*.", "grün"]
        {
            let why = made(host).unwrap_err().to_string();
            assert!(why.contains("is neither an address nor a name"), "{host}: {why}");
        }
    }
}
