//! Networks whose addresses have names of several domains. They show how wrong it is to take a /24,
//! or a /48 of IPv6, for one network (Zhang, Qiu & Keshav 2000 §5.2.1).

use memory::{PathKey, Scope};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::net::IpAddr;

/// Maximum number of addresses and networks that are remembered: memory is bounded.
const MAX_REMEMBERED: usize = 1 << 20;

/// The number of networks with several domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DomainFindings {
    /// Number of addresses.
    pub addresses: u64,
    /// Number of these addresses that have a name.
    pub named_addresses: u64,
    /// Number of networks.
    pub networks: u64,
    /// Number of these networks that have an address with a name.
    pub named_networks: u64,
    /// Number of these networks that have addresses of more than one domain: the last two labels of
    /// their names.
    pub several_domains: u64,
    /// Requests of addresses after the first 1,048,576, which no other counter includes.
    pub left_out: u64,
}

/// Collects addresses and their names.
#[derive(Debug, Default)]
pub struct DomainWatch {
    addresses: FxHashSet<IpAddr>,
    named: FxHashSet<IpAddr>,
    networks: FxHashMap<PathKey, DomainsOf>,
    left_out: u64,
}

/// The domains of a network.
#[derive(Debug, Default)]
struct DomainsOf {
    first: Option<Box<str>>,
    several: bool,
}

impl DomainWatch {
    /// Notes a request of `client`, which has this name, if any. Clients after the first
    /// `MAX_REMEMBERED` are left out; `left_out` has the number of their requests.
    pub fn on_request(&mut self, client: IpAddr, name: Option<&str>) {
        // An IPv4 address is the same client when it arrives over a socket of IPv6.
        let client = client.to_canonical();
        if self.addresses.len() >= MAX_REMEMBERED && !self.addresses.contains(&client) {
            self.left_out += 1;
            return;
        }
        self.addresses.insert(client);
        let domains = self.networks.entry(PathKey::new(client, Scope::Network)).or_default();
        let Some(domain) = name.map(domain) else { return };
        self.named.insert(client);
        match &domains.first {
            Some(first) => domains.several |= !first.eq_ignore_ascii_case(domain),
            None => domains.first = Some(domain.into()),
        }
    }

    /// Returns the results.
    pub fn findings(&self) -> DomainFindings {
        let count = |is: fn(&DomainsOf) -> bool| {
            self.networks.values().filter(|one| is(one)).count() as u64
        };
        DomainFindings {
            addresses: self.addresses.len() as u64,
            named_addresses: self.named.len() as u64,
            networks: self.networks.len() as u64,
            named_networks: count(|domains| domains.first.is_some()),
            several_domains: count(|domains| domains.several),
            left_out: self.left_out,
        }
    }
}

/// Returns the last two labels of a name.
fn domain(name: &str) -> &str {
    let name = name.trim_end_matches('.');
    let mut dots = name.rmatch_indices('.').map(|(at, _)| at);
    dots.nth(1).map_or(name, |at| &name[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// .1 and .2 are of one domain, in any case of letters; .3 is of another, so 192.0.2.0/24 has
    /// several. The network of 198.51.100.1 has one name, that of 2001:db8::1 none.
    #[test]
    fn networks_with_several_domains_are_counted() {
        let mut watch = DomainWatch::default();
        let mut ask = |client: &str, name| watch.on_request(client.parse().unwrap(), name);
        ask("192.0.2.1", Some("a.example.org"));
        ask("192.0.2.2", Some("b.c.EXAMPLE.org."));
        ask("192.0.2.2", Some("b.c.EXAMPLE.org."));
        ask("198.51.100.1", Some("x.example.net"));
        ask("2001:db8::1", None);
        ask("192.0.2.9", None);
        assert_eq!(watch.findings().several_domains, 0);
        watch.on_request("192.0.2.3".parse().unwrap(), Some("example.com"));
        let expected = DomainFindings {
            addresses: 6,
            named_addresses: 4,
            networks: 3,
            named_networks: 2,
            several_domains: 1,
            left_out: 0,
        };
        assert_eq!(watch.findings(), expected);
    }

    /// ::ffff:192.0.2.1 is 192.0.2.1 (RFC 4291 §2.5.5.2).
    #[test]
    fn a_mapped_address_is_the_address() {
        let mut watch = DomainWatch::default();
        watch.on_request("192.0.2.1".parse().unwrap(), Some("a.example.org"));
        watch.on_request("::ffff:192.0.2.1".parse().unwrap(), Some("a.example.org"));
        let found = watch.findings();
        assert_eq!((found.addresses, found.named_addresses, found.networks), (1, 1, 1));
    }

    #[test]
    fn a_domain_is_the_last_two_labels() {
        for (name, expected) in
            [("a.b.c.d", "c.d"), ("c.d", "c.d"), ("d", "d"), ("", ""), ("a.b.c.", "b.c")]
        {
            assert_eq!(domain(name), expected);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut watch = DomainWatch::default();
        (0..MAX_REMEMBERED as u32 + 5).for_each(|n| watch.on_request(IpAddr::V4(n.into()), None));
        watch.on_request(IpAddr::V4(7.into()), None);
        let found = watch.findings();
        assert_eq!((found.addresses, found.left_out), (MAX_REMEMBERED as u64, 5));
    }
}
