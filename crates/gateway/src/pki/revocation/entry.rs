//! Lines of the list: what they name, and whether that is a certificate.

use super::signature_form::other_signatures;
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::str::FromStr;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Longest serial number, bytes (RFC 5280 §4.1.2.2).
const MAX_SERIAL_BYTES: usize = 20;

/// SHA-256 of a certificate, as `openssl x509 -noout -fingerprint -sha256` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint of a certificate in DER.
    pub fn of_certificate(der: &[u8]) -> Self {
        Self(Sha256::digest(der).into())
    }
}

impl Display for Fingerprint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    /// Parses 64 hexadecimal digits; it ignores colons between them.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.replace(':', "");
        let read = hexadecimal(&digits).and_then(|bytes| bytes.try_into().ok());
        read.map(Self).ok_or_else(|| {
            format!(
                "{text:?} is no SHA-256 fingerprint (64 hexadecimal digits); \
                 `openssl x509 -noout -fingerprint -sha256 -in FILE` shows a certificate's"
            )
        })
    }
}

/// Serial number of a certificate, as `openssl x509 -noout -serial` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CertificateSerial(Vec<u8>);

impl CertificateSerial {
    /// Creates it from a number's bytes, the most significant first.
    fn of_number(bytes: &[u8]) -> Self {
        Self(bytes.iter().copied().skip_while(|byte| *byte == 0).collect())
    }
}

impl Display for CertificateSerial {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for CertificateSerial {
    type Err = String;

    /// Parses 1 to 40 hexadecimal digits; it ignores colons between them.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut digits = text.replace(':', "");
        if digits.len() % 2 == 1 {
            digits.insert(0, '0');
        }
        let read =
            hexadecimal(&digits).filter(|bytes| (1..=MAX_SERIAL_BYTES).contains(&bytes.len()));
        // RFC 5280 §4.1.2.2: the serial number is positive.
        let read = read.map(|bytes| Self::of_number(&bytes)).filter(|serial| !serial.0.is_empty());
        read.ok_or_else(|| {
            format!(
                "{text:?} is no serial number (1 to 40 hexadecimal digits, not 0); \
                 `openssl x509 -noout -serial -in FILE` shows a certificate's"
            )
        })
    }
}

/// Returns the bytes that an even number of hexadecimal digits writes.
fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(value(pair[0])? << 4 | value(*pair.get(1)?)?)).collect()
}

/// The certificates that one line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevocationEntry {
    /// A certificate, of a holder or of an authority.
    Certificate(Fingerprint),
    /// All certificates with this serial number.
    Serial(CertificateSerial),
}

/// Word before a serial number.
const SERIAL: &str = "serial ";

impl Display for RevocationEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate(fingerprint) => fingerprint.fmt(f),
            Self::Serial(serial) => write!(f, "{SERIAL}{serial}"),
        }
    }
}

impl FromStr for RevocationEntry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(SERIAL) {
            Some(serial) => serial.trim().parse().map(Self::Serial),
            None => text.parse().map(Self::Certificate),
        }
    }
}

/// All that a list names.
#[derive(Clone, Debug, Default)]
pub(super) struct RevocationList {
    fingerprints: FxHashSet<Fingerprint>,
    serials: FxHashSet<CertificateSerial>,
}

impl RevocationList {
    /// Reads the lines of a list; also returns what is wrong with others, by line.
    pub(super) fn parse(text: &str, file: &Path) -> (Self, Vec<String>) {
        let (mut list, mut faults) = (Self::default(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            let entry = line.split('#').next().unwrap_or_default().trim();
            if entry.is_empty() {
                continue;
            }
            match entry.parse() {
                Ok(RevocationEntry::Certificate(one)) => drop(list.fingerprints.insert(one)),
                Ok(RevocationEntry::Serial(one)) => drop(list.serials.insert(one)),
                Err(why) => faults.push(format!("{}:{}: {why}", file.display(), number + 1)),
            }
        }
        (list, faults)
    }

    /// Adds the entries of another list.
    pub(super) fn extend(&mut self, other: &Self) {
        self.fingerprints.extend(&other.fingerprints);
        self.serials.extend(other.serials.iter().cloned());
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.fingerprints.len() + self.serials.len()
    }

    /// Returns true if a line names the certificate by its fingerprint.
    pub(super) fn has_fingerprint(&self, fingerprint: Fingerprint) -> bool {
        self.fingerprints.contains(&fingerprint)
    }

    /// Returns true if a line names the certificate `der`, in whatever form its signature is.
    pub(super) fn names(&self, der: &[u8]) -> bool {
        let has = |der: &[u8]| self.has_fingerprint(Fingerprint::of_certificate(der));
        let is_named = || has(der) || other_signatures(der).iter().any(|other| has(other));
        self.len() > 0 && (is_named() || self.names_serial(der))
    }

    fn names_serial(&self, der: &[u8]) -> bool {
        !self.serials.is_empty()
            && X509Certificate::from_der(der).is_ok_and(|(_, read)| {
                self.serials.contains(&CertificateSerial::of_number(read.raw_serial()))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_as_openssl_shows_them() {
        let shown = Fingerprint::of_certificate(b"x").to_string();
        assert_eq!(shown.parse(), Ok(Fingerprint::of_certificate(b"x")));
        let pairs: Vec<String> = (0..32).map(|n| shown[2 * n..2 * n + 2].to_uppercase()).collect();
        assert_eq!(pairs.join(":").parse(), Ok(Fingerprint::of_certificate(b"x")));
        let no_digit = format!("g{}", &shown[1..]);
        for wrong in ["", "ab", &shown[1..], &format!("{shown}0"), &no_digit] {
            assert!(wrong.parse::<Fingerprint>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn serial_numbers_are_read_as_openssl_and_browsers_show_them() {
        let serial = CertificateSerial::of_number(&[0, 0x8a, 0x01]);
        // DER writes a zero before a number whose first bit is set.
        for shown in ["8A01", "8a:01", "00:8A:01", "08A01"] {
            assert_eq!(shown.parse(), Ok(serial.clone()), "{shown}");
        }
        assert_eq!("serial 8A01".parse(), Ok(RevocationEntry::Serial(serial)));
        let long = "1".repeat(41);
        for wrong in ["", "0", "00:00", "8x", "-1", &long] {
            assert!(wrong.parse::<CertificateSerial>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wrong_line_is_named_and_the_others_count() {
        let good = Fingerprint::of_certificate(b"x");
        let text = format!("# stolen\n\n{good} # laptop\nnonsense\nserial 7f\nserial none\n");
        let (list, faults) = RevocationList::parse(&text, Path::new("revoked"));
        assert!(list.has_fingerprint(good) && list.len() == 2);
        assert!(faults[0].starts_with("revoked:4: \"nonsense\" is no SHA-256"), "{faults:?}");
        assert!(faults[1].starts_with("revoked:6: \"none\" is no serial"), "{faults:?}");
    }
}
