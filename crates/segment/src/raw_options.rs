//! Options as they stand in a header: kind, length, value (RFC 9293 §3.1).

/// The options among `bytes`, kind and length included, padding left out, as far as they are what
/// options have to be.
pub(crate) fn raw_options(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        loop {
            let (&kind, rest) = bytes.split_first()?;
            match kind {
                0 => return None,
                1 => bytes = rest,
                _ => {
                    let length = usize::from(*rest.first()?);
                    let option = bytes.get(..length).filter(|option| option.len() >= 2)?;
                    bytes = &bytes[length..];
                    return Some(option);
                }
            }
        }
    })
}
