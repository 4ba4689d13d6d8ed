//! The replacement of addresses by `--anonymize`.

use capture::Anonymizer;
use cmdline::Failure;
use std::fs;
use std::path::{Path, PathBuf};

/// By the option's value: `None` without it, a random key without a file, else one made of the
/// secret in it.
pub(crate) fn anonymizer(option: Option<&Option<PathBuf>>) -> Result<Option<Anonymizer>, Failure> {
    option.map(|secret| anonymizer_from_secret(secret.as_deref())).transpose()
}

fn anonymizer_from_secret(secret: Option<&Path>) -> Result<Anonymizer, Failure> {
    let Some(path) = secret else { return Anonymizer::random().map_err(Failure::failed) };
    let secret = fs::read(path)
        .map_err(|why| Failure::input(format!("cannot read {}: {why}", path.display())))?;
    if secret.is_empty() {
        return Err(Failure::input(format!("{} is empty: no secret", path.display())));
    }
    Ok(Anonymizer::of_secret(&secret))
}
