//! The gateway's own certificate: its hosts, whether agents accept it, and when it ends.

use super::pem::{TlsError, certificates, named, roots};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::ring;
use rustls::pki_types::UnixTime;
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error};
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};
use units::counted;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::time::ASN1Time;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Time before a certificate's end at which warnings start, seconds.
const EXPIRY_WARNING: i64 = 30 * DAY;

/// Returns the names and addresses of hosts in the first certificate of a PEM file, in its order.
///
/// # Errors
/// If the file cannot be read, or has no certificate.
pub fn hosts_of_file(file: &Path) -> Result<Vec<String>, TlsError> {
    let all = certificates(file)?;
    let first = all.first().ok_or_else(|| named(file, "no certificate in it"))?;
    let (_, first) = X509Certificate::from_der(first).map_err(|error| named(file, error))?;
    let names = first.subject_alternative_name().map_err(|error| named(file, error))?;
    let names = names.map(|names| names.value.general_names.iter());
    Ok(names.into_iter().flatten().filter_map(host).collect())
}

/// Returns a host as text: a DNS name or an address. Other kinds of names are no hosts.
fn host(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            let address = v4.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from));
            address.ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

/// Checks that agents that trust the authorities in `ca` accept the first certificate of `file`:
/// its chain, its usage, and that it is for a host.
///
/// An expired certificate passes if it was good before: [`ending`] reports its end. A certificate
/// that is not valid yet passes if it will be good: [`beginning`] reports that.
///
/// # Errors
/// If agents refuse it: the reason, and the way out.
pub(super) fn usable(file: &Path, ca: &Path, now: SystemTime) -> Result<(), TlsError> {
    let chain = certificates(file)?;
    let (first, others) = chain.split_first().ok_or_else(|| named(file, "no certificate in it"))?;
    let refused = |why: String| named(file, format!("agents refuse it: {why}"));
    let parsed = ParsedCertificate::try_from(first).map_err(|error| refused(error.to_string()))?;
    let provider = ring::default_provider();
    let algorithms = provider.signature_verification_algorithms.all;
    let then = UnixTime::since_unix_epoch(while_valid(file, now)?);
    verify_server_cert_signed_by_trust_anchor(&parsed, &roots(ca)?, others, then, algorithms)
        .map_err(|error| refused(advice(&error, ca)))?;
    match hosts_of_file(file)?.is_empty() {
        true => Err(refused(format!("it names no host; {MAKE_ANOTHER}"))),
        false => Ok(()),
    }
}

/// Returns `now`, or the nearest time at which all of the chain in `file` is valid, since 1970.
fn while_valid(file: &Path, now: SystemTime) -> Result<Duration, TlsError> {
    let since_1970 = |seconds: i64| Duration::from_secs(seconds.max(0).cast_unsigned());
    let (start, end) = (latest_start(file)?.timestamp(), earliest_end(file)?);
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(now.max(since_1970(start)).min(since_1970(end)))
}

/// The advice for a certificate that agents would refuse.
const MAKE_ANOTHER: &str = "`headstart gateway certificate --gateway` makes one";

/// Returns the fault of a chain, and the way out.
fn advice(error: &Error, ca: &Path) -> String {
    match error {
        // Authorities that `headstart gateway init` makes have the same name, so a certificate of
        // another one has a bad signature.
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => format!(
            "it is not of the authority in {}; if agents are given another one, name that as certificate-ca",
            ca.display()
        ),
        Error::InvalidCertificate(
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. },
        ) => format!("its extended key usage is not server authentication; {MAKE_ANOTHER}"),
        other => other.to_string(),
    }
}

/// Returns when the first certificate of a chain in a PEM file ends, seconds since 1970.
///
/// # Errors
/// If the file cannot be read, or has no certificate.
pub fn earliest_end(file: &Path) -> Result<i64, TlsError> {
    let mut earliest = i64::MAX;
    for certificate in certificates(file)? {
        let (_, read) = X509Certificate::from_der(&certificate).map_err(|why| named(file, why))?;
        earliest = earliest.min(read.validity().not_after.timestamp());
    }
    Ok(earliest)
}

/// Returns when the last certificate of a chain in a PEM file becomes valid.
fn latest_start(file: &Path) -> Result<ASN1Time, TlsError> {
    let mut latest = None;
    for certificate in certificates(file)? {
        let (_, read) = X509Certificate::from_der(&certificate).map_err(|why| named(file, why))?;
        latest = latest.max(Some(read.validity().not_before));
    }
    latest.ok_or_else(|| named(file, "no certificate in it"))
}

/// Returns a warning if the certificate in `file` is not valid yet at `now`, seconds since 1970:
/// the file, the date, and the way out.
///
/// # Errors
/// If the file cannot be read, or has no certificate.
pub fn beginning(file: &Path, now: i64) -> Result<Option<String>, TlsError> {
    let start = latest_start(file)?;
    let what = format!(
        "{}: the gateway's certificate is not valid before {start}, and agents whose clocks are before that refuse it; if that is \
         past, set the clock of this host",
        file.display()
    );
    Ok((now < start.timestamp()).then_some(what))
}

/// Returns a warning for a certificate that ends at `end`, with the way out; `None` if the end is
/// more than 30 days ahead. Both times are seconds since 1970.
pub fn ending(end: i64, now: i64) -> Option<String> {
    let when = match end - now {
        left if left > EXPIRY_WARNING => return None,
        left if left >= DAY => format!("ends in {}", counted((left / DAY) as u64, "day")),
        0.. => "ends within a day".to_owned(),
        _ => "has ended, and agents refuse it".to_owned(),
    };
    Some(format!(
        "the gateway's certificate {when}; `headstart gateway certificate --gateway` makes a new one (docs/gateway/operate.md)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pki::{Authority, HolderRole};
    use std::fs;
    use std::path::PathBuf;

    /// Writes the text to a file of its own.
    fn pem(name: &str, text: &str) -> PathBuf {
        let name = format!("headstart-own-{}-{name}.pem", std::process::id());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn a_certificate_says_its_hosts_and_a_chain_its_earliest_end() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let (authority, ca) = Authority::new(now).unwrap();
        let hosts = ["192.0.2.7", "2001:db8::7", "gateway.example"].map(str::to_owned);
        let server = authority.server(now, 40, &hosts).unwrap();
        let file = pem("server", &server.certificate);
        assert_eq!(hosts_of_file(&file), Ok(hosts.to_vec()));
        // The end is 40 days of 86,400 s after now.
        assert_eq!(earliest_end(&file), Ok(1_800_000_000 + 3_456_000));
        // The authority's own certificate, ten years of 365 days, is first in this chain and ends
        // last.
        fs::write(&file, format!("{}{}", ca.certificate, server.certificate)).unwrap();
        assert_eq!(earliest_end(&file), Ok(1_800_000_000 + 3_456_000));
        let agent = authority.client(now, 1, HolderRole::Agent, ("site", "agent")).unwrap();
        fs::write(&file, agent.certificate).unwrap();
        assert_eq!(hosts_of_file(&file), Ok(vec![]), "its URI is no host");
        fs::write(&file, "nothing").unwrap();
        assert!(earliest_end(&file).unwrap_err().contains("no certificate in it"));
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn only_a_certificate_that_agents_accept_is_usable() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let (authority, ca) = Authority::new(now).unwrap();
        let (other, other_ca) = Authority::new(now).unwrap();
        let (file, ca_file) = (pem("used", ""), pem("used-ca", &ca.certificate));
        let hosts = ["gateway.example".to_owned()];
        let checked = |issued: &crate::pki::Issued, days: u64| {
            fs::write(&file, &issued.certificate).unwrap();
            usable(&file, &ca_file, now + Duration::from_secs(86_400 * days))
        };
        let server = authority.server(now, 40, &hosts).unwrap();
        assert_eq!(checked(&server, 1), Ok(()));
        // It ended after 40 days, which `ending` reports.
        assert_eq!(checked(&server, 41), Ok(()));
        // It is valid from an hour before `now`. Two hours earlier, `beginning` reports its start.
        fs::write(&file, &server.certificate).unwrap();
        let early = now - Duration::from_secs(3 * 3600);
        assert_eq!(usable(&file, &ca_file, early), Ok(()));
        let agent = authority.client(now, 40, HolderRole::Agent, ("site", "agent")).unwrap();
        fs::write(&file, &agent.certificate).unwrap();
        let why = usable(&file, &ca_file, early).unwrap_err();
        assert!(why.contains("extended key usage is not server authentication"), "{why}");
        for days in [1, 41] {
            let why = checked(&agent, days).unwrap_err();
            assert!(why.contains("extended key usage is not server authentication"), "{why}");
        }
        let foreign = other.server(now, 40, &hosts).unwrap();
        let why = checked(&foreign, 1).unwrap_err();
        assert!(why.contains("not of the authority in") && why.contains("certificate-ca"), "{why}");
        // During a change of the authority, agents get both.
        fs::write(&ca_file, format!("{}{}", ca.certificate, other_ca.certificate)).unwrap();
        assert_eq!(checked(&foreign, 1), Ok(()));
        let nowhere = checked(&authority.server(now, 40, &[]).unwrap(), 1).unwrap_err();
        assert!(nowhere.contains("names no host"), "{nowhere}");
        [file, ca_file].iter().for_each(|file| fs::remove_file(file).unwrap());
    }

    #[test]
    fn a_start_is_told_until_it_has_come() {
        // 15 January 2027, 08:00:00 UTC; a certificate is valid from an hour before it was made.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let (authority, _) = Authority::new(now).unwrap();
        let server = authority.server(now, 40, &["gateway.example".to_owned()]).unwrap();
        let file = pem("start", &server.certificate);
        let told = beginning(&file, 1_800_000_000 - 3601).unwrap().unwrap();
        assert!(told.starts_with(&format!("{}: ", file.display())), "{told}");
        assert!(told.contains("is not valid before Jan 15 07:00:00 2027"), "{told}");
        assert_eq!(beginning(&file, 1_800_000_000 - 3600), Ok(None));
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn an_end_is_told_from_thirty_days_before_it() {
        let end = 2_000_000_000;
        // 30 days are 2,592,000 s.
        assert_eq!(ending(end, end - 2_592_001), None);
        for (left, said) in [
            (2_592_000, "ends in 30 days"),
            (172_799, "ends in 1 day;"),
            (86_399, "ends within a day"),
            (0, "ends within a day"),
            (-1, "has ended, and agents"),
        ] {
            let told = ending(end, end - left).unwrap();
            assert!(told.starts_with(&format!("the gateway's certificate {said}")), "{told}");
        }
        assert!(ending(end, end).unwrap().contains("`headstart gateway certificate --gateway`"));
    }
}
