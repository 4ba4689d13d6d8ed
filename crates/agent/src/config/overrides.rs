//! The operator's rules for prefixes, as words of the command line.

use crate::contract::Override;
use ipnet::IpNet;

/// Returns the prefixes that are left alone unless the operator names them: this host itself, since
/// nothing there is far enough to need a memory.
pub(super) fn loopback() -> [Override; 2] {
    let alone = |prefix: &str| prefix.parse().map(|prefix| Override { prefix, cap: 0 });
    ["127.0.0.0/8", "::1/128"].map(|prefix| alone(prefix).expect("a prefix"))
}

/// A prefix, and a cap of its own where one is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixCap {
    prefix: IpNet,
    cap: Option<u32>,
}

impl PrefixCap {
    /// Returns the rule, with `cap` if none is named.
    pub fn or_cap(self, cap: u32) -> Override {
        Override { prefix: self.prefix, cap: self.cap.unwrap_or(cap) }
    }
}

/// Parses `PREFIX` or `PREFIX=CAP`.
///
/// # Errors
/// If it has another form; the message shows the right one.
pub(super) fn parse(text: &str) -> Result<PrefixCap, String> {
    let (prefix, cap) = match text.split_once('=') {
        None => (text, None),
        Some((prefix, cap)) => {
            let number = cap.parse().ok().filter(|cap| *cap <= MAX_CAP);
            let why = format!("{cap:?} is no number of segments from 0 (leave alone) to {MAX_CAP}");
            (prefix, Some(number.ok_or(why)?))
        }
    };
    let prefix: IpNet = prefix
        .parse()
        .map_err(|_| format!("{prefix:?} is no prefix like 192.0.2.0/24 or 2001:db8::/32"))?;
    Ok(PrefixCap { prefix: prefix.trunc(), cap })
}

/// No first window may be larger, whatever is configured, segments: 1.5 MB.
pub(super) const MAX_CAP: u32 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_alone_has_the_cap_of_all() {
        let said = parse("198.51.100.77/22").unwrap().or_cap(256);
        assert_eq!(said, Override { prefix: "198.51.100.0/22".parse().unwrap(), cap: 256 });
        assert_eq!(parse("2001:db8::/32=0").unwrap().or_cap(256).cap, 0);
    }

    #[test]
    fn errors_name_what_is_wrong() {
        assert!(parse("198.51.100.0").unwrap_err().contains("\"198.51.100.0\" is no prefix"));
        assert!(parse("10.0.0.0/8=1025").unwrap_err().contains("\"1025\""));
        assert!(parse("10.0.0.0/8=off").unwrap_err().contains("leave alone"));
    }
}
