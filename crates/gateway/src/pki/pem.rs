//! Certificates in PEM files.

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fmt::Display;
use std::path::Path;

/// The reason why TLS cannot be set up, with the file.
pub type TlsError = String;

/// Reads the authorities of a PEM file.
pub(super) fn roots(file: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(file)? {
        roots.add(authority).map_err(|error| named(file, error))?;
    }
    Ok(roots)
}

/// Reads the certificates of a PEM file; at least one.
pub(super) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let found = found.map_err(|error| named(file, error))?;
    match found.is_empty() {
        true => Err(named(file, "no certificate in it")),
        false => Ok(found),
    }
}

pub(super) fn named(file: &Path, error: impl Display) -> TlsError {
    format!("{}: {error}", file.display())
}
