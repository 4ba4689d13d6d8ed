//! Explains to an operator why TLS refuses certificates: which file, and whose authority. If two
//! authorities have the same name, as all from `headstart gateway init` do, TLS only reports
//! `BadSignature`.

use crate::config::ClientConfig;
use rustls::{CertificateError, Error as TlsError};
use std::error::Error;
use std::io;

/// Returns what is wrong with the certificates if that is why TLS failed.
pub(crate) fn certificate_fault(
    error: &(dyn Error + 'static),
    config: &ClientConfig,
) -> Option<String> {
    let (ca, own) = (config.ca.display(), config.certificate.display());
    if let Some(why) = alert(error).as_deref().and_then(refusal) {
        return Some(format!("it refuses {own} (gateway-certificate): {why}"));
    }
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
        _ => None,
    }
}

/// Returns the name of the alert that a gateway has sent. On an open connection, `h2` keeps only
/// the text of the error.
fn alert(error: &(dyn Error + 'static)) -> Option<String> {
    let text = causes(error);
    let (_, name) = text.split_once("received fatal alert: ")?;
    Some(name.chars().take_while(|letter| letter.is_ascii_alphanumeric()).collect())
}

/// Returns why a gateway refuses a certificate, by the alert that it sends (RFC 8446 §6.2); `None`
/// for an alert that does not concern certificates.
fn refusal(alert: &str) -> Option<&'static str> {
    Some(match alert {
        // RFC 8446 §6.2: `decrypt_error` is for a signature that does not verify, also one under a
        // certificate.
        "DecryptError" => {
            "it is not of the authority that the gateway knows (`ca` in gateway.toml)"
        }
        "UnknownCA" => {
            "it is not of the authority that the gateway knows (`ca` in gateway.toml), or the gateway \
             cannot read its list of revoked certificates"
        }
        "CertificateRevoked" => "it is revoked",
        "CertificateExpired" => "it has expired; `headstart gateway certificate` makes another",
        "AccessDenied" => {
            "its URI is of no form, or of no tenant, that the gateway knows (`[[holder]]` and `[[tenant]]` in gateway.toml)"
        }
        "BadCertificate"
        | "UnsupportedCertificate"
        | "CertificateUnknown"
        | "CertificateRequired" => "it is no certificate of an agent",
        _ => return None,
    })
}

/// Returns the error of TLS in a chain of causes. An [`io::Error`] hides the one that it wraps.
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

/// Returns an error with its causes: the outer one is only "transport error".
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let said = inner.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::AlertDescription;

    /// The text is from rustls.
    #[test]
    fn alerts_are_known_by_name() {
        let said = |alert| {
            let error = TlsError::AlertReceived(alert);
            super::alert(&io::Error::other(error.to_string())).as_deref().and_then(refusal)
        };
        assert_eq!(said(AlertDescription::CertificateRevoked), Some("it is revoked"));
        assert!(said(AlertDescription::DecryptError).unwrap().contains("authority"));
        assert!(said(AlertDescription::AccessDenied).unwrap().contains("tenant"));
        assert_eq!(said(AlertDescription::HandshakeFailure), None);
    }
}
