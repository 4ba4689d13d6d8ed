//! Other forms of a certificate's signature.
//!
//! An ECDSA signature (r, s) verifies as (r, n - s) as well, where n is the order of the curve
//! (SEC 1 §4.1.4). So anybody can change a certificate's bytes, and with them its fingerprint,
//! without the authority's key. A list of fingerprints has to refuse both forms.

use x509_parser::prelude::{FromDer, X509Certificate};

/// Order of P-256 (FIPS 186-4, D.1.2.3).
const P256: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];
/// Order of P-384 (FIPS 186-4, D.1.2.4).
const P384: [u8; 48] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc7, 0x63, 0x4d, 0x81, 0xf4, 0x37, 0x2d, 0xdf,
    0x58, 0x1a, 0x0d, 0xb2, 0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec, 0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73,
];

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// Returns the certificate `der` with each other form of its signature, for both curves that TLS
/// accepts here; nothing if it is not signed by ECDSA.
pub fn other_signatures(der: &[u8]) -> Vec<Vec<u8>> {
    let Some((signed, r, s)) = parts(der) else { return Vec::new() };
    let other = |order: &[u8]| {
        let s = difference(order, s)?;
        let signature = element(SEQUENCE, &[element(INTEGER, r), element(INTEGER, &s)].concat());
        // The first byte of a bit string is the number of unused bits.
        let signature = element(BIT_STRING, &[&[0][..], &signature].concat());
        Some(element(SEQUENCE, &[signed, &signature].concat()))
    };
    [other(&P256), other(&P384)].into_iter().flatten().collect()
}

/// Splits a certificate into what precedes its signature, and r and s as DER writes them.
fn parts(der: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let (body, _) = content(SEQUENCE, der)?;
    // The signature is the last element, and has no unused bits.
    let signature = certificate.signature_value.data.len();
    let (_, signature) = body.split_at_checked(body.len().checked_sub(signature)?)?;
    let tail = element(BIT_STRING, &[&[0][..], signature].concat());
    let signed = body.strip_suffix(&tail[..])?;
    let (pair, after) = content(SEQUENCE, signature)?;
    let (r, rest) = content(INTEGER, pair)?;
    let (s, rest) = content(INTEGER, rest)?;
    (after.is_empty() && rest.is_empty()).then_some((signed, r, s))
}

/// Returns the content of the first element, and what follows it.
fn content(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = der.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81 | 0x82 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            let number = digits.iter().fold(0, |number, digit| number << 8 | usize::from(*digit));
            (number, rest)
        }
        _ => return None,
    };
    (first == tag).then(|| rest.split_at_checked(length)).flatten()
}

/// Encodes an element of DER: tag, length and content (X.690 §8.1).
fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let digits: Vec<u8> = length.into_iter().skip_while(|digit| *digit == 0).collect();
    let mut written = vec![tag];
    match content.len() {
        0..=0x7f => written.push(content.len() as u8),
        _ => {
            written.push(0x80 | digits.len() as u8);
            written.extend(&digits);
        }
    }
    written.extend(content);
    written
}

/// Returns `order` minus the DER integer `s`, as a DER integer; `None` if that is not positive.
fn difference(order: &[u8], s: &[u8]) -> Option<Vec<u8>> {
    let s: Vec<u8> = s.iter().copied().skip_while(|byte| *byte == 0).collect();
    let padding = order.len().checked_sub(s.len())?;
    let s = [vec![0; padding], s].concat();
    if s.as_slice() >= order {
        return None;
    }
    let mut result = vec![0; order.len()];
    let mut borrow = 0;
    for at in (0..order.len()).rev() {
        let value = i16::from(order[at]) - i16::from(s[at]) - borrow;
        borrow = i16::from(value < 0);
        result[at] = value.rem_euclid(256) as u8;
    }
    let mut digits: Vec<u8> = result.into_iter().skip_while(|byte| *byte == 0).collect();
    if digits.first().is_none_or(|first| *first >= 0x80) {
        digits.insert(0, 0);
    }
    Some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 256 - 200 = 56; 65,536 - 200 = 65,336, which is 0xff38 and gets a zero before it.
    #[test]
    fn a_difference_is_a_positive_integer_of_der() {
        assert_eq!(difference(&[1, 0], &[0, 200]), Some(vec![56]));
        assert_eq!(difference(&[1, 0, 0], &[0, 200]), Some(vec![0, 0xff, 0x38]));
        for none in [&[1, 0][..], &[0, 1, 0], &[1, 1], &[1, 0, 0]] {
            assert_eq!(difference(&[1, 0], none), None, "{none:?}");
        }
    }

    /// DER's lengths: one byte up to 127, then the number of digits and the digits (X.690 §8.1.3).
    #[test]
    fn lengths_are_written_and_read() {
        for (length, header) in [
            (0, &[4, 0][..]),
            (127, &[4, 127]),
            (128, &[4, 0x81, 128]),
            (255, &[4, 0x81, 255]),
            (256, &[4, 0x82, 1, 0]),
            (65_535, &[4, 0x82, 255, 255]),
        ] {
            let inner = vec![7; length];
            let written = element(4, &inner);
            assert!(written.starts_with(header), "{length}: {:?}", &written[..4.min(length + 2)]);
            assert_eq!(content(4, &written), Some((&inner[..], &[][..])));
            assert_eq!(content(5, &written), None);
            assert_eq!(content(4, &written[..written.len() - 1]), None);
        }
    }

    #[test]
    fn the_other_form_of_the_other_form_is_the_certificate() {
        let key = rcgen::KeyPair::generate().unwrap();
        for _ in 0..20 {
            let params = rcgen::CertificateParams::new(["a.example".to_owned()]).unwrap();
            let der = params.self_signed(&key).unwrap().der().to_vec();
            let others = other_signatures(&der);
            assert!(!others.is_empty() && !others.contains(&der));
            assert!(others.iter().any(|other| other_signatures(other).contains(&der)));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(der in proptest::collection::vec(any::<u8>(), 0..200)) {
            other_signatures(&der);
        }
    }
}
