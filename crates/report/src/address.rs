//! Addresses of objects, in parts.

/// The host with its port, and the path with query and fragment, of an absolute address
/// (RFC 3986 §3); `None` of any other text. The path may be empty.
pub fn split_address(label: &str) -> Option<(&str, &str)> {
    let (_, rest) = label.split_once("://")?;
    Some(rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_ends_where_path_query_or_fragment_begin() {
        let split = split_address;
        assert_eq!(split("https://a.example:8443/b/c?d#e"), Some(("a.example:8443", "/b/c?d#e")));
        assert_eq!(split("https://a.example"), Some(("a.example", "")));
        assert_eq!(split("https://a.example?d=/e"), Some(("a.example", "?d=/e")));
        assert_eq!(split("http://[2001:db8::1]/"), Some(("[2001:db8::1]", "/")));
        assert_eq!(split("30kB"), None);
    }
}
