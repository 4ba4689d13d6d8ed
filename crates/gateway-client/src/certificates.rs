//! Explains to an operator why TLS refuses certificates: which file, and whose authority. TLS
//! says `BadSignature` where two authorities have the same name, as all that `headstart gateway
//! init` makes have.

use crate::config::ClientConfig;
use rustls::{AlertDescription, CertificateError, Error as TlsError};
use std::error::Error;
use std::io;

/// Returns what is wrong with the certificates if that is why TLS failed.
pub(crate) fn certificate_fault(
    error: &(dyn Error + 'static),
    config: &ClientConfig,
) -> Option<String> {
    let (ca, own) = (config.ca.display(), config.certificate.display());
    match tls_error(error)? {
        TlsError::InvalidCertificate(why) => Some(match why {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "the gateway's certificate is not of the authority in {ca} (gateway-ca): copy ca.pem from the gateway's folder"
            ),
            other => format!("the gateway's certificate is refused: {other}"),
        }),
        TlsError::InconsistentKeys(_) => Some(format!(
            "{} (gateway-key) is not the key of {own} (gateway-certificate)",
            config.key.display()
        )),
        TlsError::AlertReceived(alert) => {
            refusal(*alert).map(|why| format!("it refuses {own} (gateway-certificate): {why}"))
        }
        _ => None,
    }
}

/// Returns why a gateway refuses a certificate, by the alert that it sends (RFC 8446 §6.2); `None`
/// for an alert that says nothing of certificates.
fn refusal(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        // RFC 8446 §6.2: `decrypt_error` is for a signature that does not verify, also one under a
        // certificate.
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "it is not of the authority that the gateway knows (`ca` in gateway.toml)"
        }
        AlertDescription::CertificateRevoked => "it is revoked",
        AlertDescription::CertificateExpired => {
            "it has expired; `headstart gateway certificate` makes another"
        }
        AlertDescription::AccessDenied => {
            "its tenant is not of this gateway (`[[tenant]]` in gateway.toml)"
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::CertificateRequired => "it is no certificate of an agent",
        _ => return None,
    })
}

/// The error of TLS in a chain of causes. An [`io::Error`] hides the one that it is made of.
fn tls_error<'a>(mut error: &'a (dyn Error + 'static)) -> Option<&'a TlsError> {
    loop {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let hidden = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        error = match hidden {
            Some(hidden) => hidden,
            None => error.source()?,
        };
    }
}
