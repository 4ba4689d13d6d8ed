//! A prefix as an argument.

use ipnet::IpNet;
use std::net::IpAddr;

/// A prefix like `192.0.2.0/24`; bits behind its length are cleared.
///
/// # Errors
/// If it has another form; the message shows the right one. An address alone is refused, since the
/// size of its network is not known.
pub fn parse_prefix(text: &str) -> Result<IpNet, String> {
    if let Ok(prefix) = text.parse::<IpNet>() {
        return Ok(prefix.trunc());
    }
    let Ok(address) = text.parse::<IpAddr>() else {
        return Err("no prefix like 192.0.2.0/24 or 2001:db8::/48".to_owned());
    };
    // Usual sizes of networks, without another configuration.
    let bits = if address.is_ipv4() { 24 } else { 48 };
    let network = IpNet::new_assert(address, bits).trunc();
    Err(format!("a prefix has a length; the network of this address may be {network}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_has_a_length_and_nothing_behind_it() {
        assert_eq!(parse_prefix("192.0.2.7/24").unwrap().to_string(), "192.0.2.0/24");
        assert_eq!(parse_prefix("2001:db8::1/48").unwrap().to_string(), "2001:db8::/48");
    }

    #[test]
    fn what_is_none_is_told_how_one_is_written() {
        assert!(parse_prefix("192.0.2.7").unwrap_err().ends_with("may be 192.0.2.0/24"));
        assert!(parse_prefix("2001:db8:1:2::3").unwrap_err().ends_with("may be 2001:db8:1::/48"));
        for text in ["", "192.0.2.0/33", "all", "192.0.2.0/", "192.0.2/24"] {
            assert!(parse_prefix(text).unwrap_err().starts_with("no prefix like"), "{text:?}");
        }
    }
}
