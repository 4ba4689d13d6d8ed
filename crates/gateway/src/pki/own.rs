//! The gateway's own certificate: for which hosts it is, and when it ends.

use super::tls::{TlsError, certificates, named};
use std::net::IpAddr;
use std::path::Path;
use units::counted;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Seconds of a day.
const DAY: i64 = 86_400;
/// It is said so many seconds before the end that the certificate ends.
const SOON: i64 = 30 * DAY;

/// Names and addresses of hosts that the first certificate of a PEM file is for, in its order.
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

/// When the first certificate of a chain in a PEM file ends, seconds since 1970.
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

/// What to say of a certificate that ends at `end`, with the way out; `None` if that is more than 30 days ahead. Both times are
/// seconds since 1970.
pub fn ending(end: i64, now: i64) -> Option<String> {
    let when = match end - now {
        left if left > SOON => return None,
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
    use std::time::{Duration, SystemTime};

    /// In a file of its own.
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
        // 40 days of 86,400 s behind now.
        assert_eq!(earliest_end(&file), Ok(1_800_000_000 + 3_456_000));
        // The authority's own, ten years of 365 days, comes first in this chain and ends last.
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
