//! The servers and clients that a user names: which end of a connection is the server's, and which
//! connections matter.

use crate::kinds::Retransmission;
use crate::sink::{SentData, TraceSink, TracedSender};
use crate::snapshot::SenderSnapshot;
use crate::summary::ConnectionTrace;
use crate::transfer::TransferReport;
use capture::{Observed, TcpEnd};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use units::{Duration, Instant};

/// A pattern that names servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPattern {
    /// Their addresses; `None`: any.
    network: Option<IpNet>,
    /// Their port; `None`: any.
    port: Option<u16>,
}

impl ServerPattern {
    fn matches_end(&self, end: TcpEnd) -> bool {
        self.port.is_none_or(|port| port == end.port)
            && self.network.is_none_or(|network| network.contains(&end.ip))
    }
}

impl From<IpAddr> for ServerPattern {
    /// Matches all ports of one host.
    fn from(host: IpAddr) -> Self {
        Self { network: Some(host.into()), port: None }
    }
}

impl FromStr for ServerPattern {
    type Err = String;

    /// Parses `443`, `192.0.2.1`, `2001:db8::1`, `192.0.2.0/24`, `192.0.2.1:443` or
    /// `[2001:db8::1]:443`.
    fn from_str(text: &str) -> Result<Self, String> {
        let only = |ip: IpAddr| Some(IpNet::from(ip));
        if let Ok(port) = text.parse::<u16>()
            && port > 0
        {
            return Ok(Self { network: None, port: Some(port) });
        }
        if let Ok(end) = text.parse::<SocketAddr>() {
            return Ok(Self { network: only(end.ip()), port: Some(end.port()) });
        }
        let network = network(text);
        let way_out = "neither a port, like 443, nor an address, like 192.0.2.1, 192.0.2.0/24 or 192.0.2.1:443";
        network.map_or_else(
            || Err(way_out.to_owned()),
            |network| Ok(Self { network: Some(network), port: None }),
        )
    }
}

/// Parses `192.0.2.0/24`, or a single address.
fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| Some(IpNet::from(text.parse::<IpAddr>().ok()?)))
}

/// Renames the addresses of a network.
fn rename_network(network: IpNet, rename: &mut impl FnMut(IpAddr) -> IpAddr) -> IpNet {
    IpNet::new_assert(rename(network.network()), network.prefix_len()).trunc()
}

/// A network of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPattern(IpNet);

impl FromStr for ClientPattern {
    type Err = String;

    /// Parses `192.0.2.0/24`, `2001:db8::/48`, or a single address.
    fn from_str(text: &str) -> Result<Self, String> {
        let way_out = "no network of clients, like 192.0.2.0/24, 2001:db8::/48 or 192.0.2.1";
        network(text).map(Self).ok_or_else(|| way_out.to_owned())
    }
}

/// Clients that the user has named. If the list is empty, all clients match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedClients(Vec<IpNet>);

impl FromIterator<ClientPattern> for NamedClients {
    fn from_iter<I: IntoIterator<Item = ClientPattern>>(networks: I) -> Self {
        Self(networks.into_iter().map(|network| network.0).collect())
    }
}

impl NamedClients {
    /// Returns true if none is named, or this is one of them.
    #[inline]
    pub fn include(&self, client: IpAddr) -> bool {
        self.0.is_empty() || self.0.iter().any(|network| network.contains(&client))
    }

    /// Renames the addresses of the clients, as [`NamedServers::rename_addresses`] does.
    #[must_use]
    pub fn rename_addresses(self, mut rename: impl FnMut(IpAddr) -> IpAddr) -> Self {
        Self(self.0.into_iter().map(|network| rename_network(network, &mut rename)).collect())
    }

    /// Returns true if the segment is to or from one of them.
    #[inline]
    pub fn concern(&self, segment: &Observed) -> bool {
        self.include(segment.source.ip) || self.include(segment.destination.ip)
    }
}

/// Servers that the user has named. If the list is empty, the handshake of each connection shows
/// its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedServers(Vec<ServerPattern>);

impl FromIterator<ServerPattern> for NamedServers {
    fn from_iter<I: IntoIterator<Item = ServerPattern>>(patterns: I) -> Self {
        Self(patterns.into_iter().collect())
    }
}

impl NamedServers {
    /// Returns true if none is named, or this is one of them.
    #[inline]
    pub fn include(&self, end: TcpEnd) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| pattern.matches_end(end))
    }

    /// Renames the addresses of the servers. `rename` must keep addresses of one network together,
    /// as `capture::Anonymizer` does.
    pub fn rename_addresses(self, mut rename: impl FnMut(IpAddr) -> IpAddr) -> Self {
        let patterns = self.0.into_iter().map(|pattern| ServerPattern {
            network: pattern.network.map(|network| rename_network(network, &mut rename)),
            ..pattern
        });
        patterns.collect()
    }

    /// Returns true if the segment is to or from one of them.
    #[inline]
    pub fn concern(&self, segment: &Observed) -> bool {
        self.0.is_empty() || self.concern_some(segment)
    }

    fn concern_some(&self, segment: &Observed) -> bool {
        self.include(segment.source) || self.include(segment.destination)
    }

    /// Returns the server's end of a segment if exactly one end is named: 0 the source, 1 the
    /// destination.
    pub(crate) fn end_of(&self, segment: &Observed) -> Option<usize> {
        match (self.include(segment.source), self.include(segment.destination)) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }
}

/// Forwards results about connections between named clients and named servers, and counts the
/// others. The others are connections that a named server has opened itself, and connections with
/// other clients.
#[derive(Debug, Default)]
pub struct OnlyServers<S> {
    servers: NamedServers,
    clients: NamedClients,
    /// The sink that receives the forwarded results.
    pub inner: S,
    /// Number of connections whose server was not named.
    pub left_out: u64,
    /// Number of connections of named servers whose client was not named.
    pub of_other_clients: u64,
}

impl<S> OnlyServers<S> {
    /// Forwards results to `inner`.
    pub const fn new(servers: NamedServers, inner: S) -> Self {
        let clients = NamedClients(Vec::new());
        Self { servers, clients, inner, left_out: 0, of_other_clients: 0 }
    }

    /// Forwards connections of these clients alone.
    #[must_use]
    pub fn with_clients(self, clients: NamedClients) -> Self {
        Self { clients, ..self }
    }

    /// Returns a filter with the same servers and clients in front of another sink, with its
    /// counters at zero.
    pub fn around<T>(&self, inner: T) -> OnlyServers<T> {
        OnlyServers::new(self.servers.clone(), inner).with_clients(self.clients.clone())
    }

    #[inline]
    fn passes_filter(&self, sender: &TracedSender) -> bool {
        self.servers.include(sender.server) && self.clients.include(sender.client.ip)
    }
}

impl<S: TraceSink> TraceSink for OnlyServers<S> {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        if !self.servers.include(summary.server) {
            self.left_out += 1;
        } else if !self.clients.include(summary.client.ip) {
            self.of_other_clients += 1;
        } else {
            self.inner.on_connection(summary);
        }
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        if self.passes_filter(sender) {
            self.inner.on_begin(sender, at);
        }
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        if self.passes_filter(sender) {
            self.inner.on_over(sender, at);
        }
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        if self.passes_filter(sender) {
            self.inner.on_request(sender, at, bytes);
        }
    }

    #[inline]
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        if self.passes_filter(sender) {
            self.inner.on_sent(sender, sent);
        }
    }

    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        if self.passes_filter(sender) {
            self.inner.on_retransmission(sender, retransmission);
        }
    }

    fn wants_packets(&self) -> bool {
        self.inner.wants_packets()
    }

    fn wants_round_trips(&self) -> bool {
        self.inner.wants_round_trips()
    }

    #[inline]
    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        if self.passes_filter(sender) {
            self.inner.on_round_trip(sender, at, rtt);
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        if self.passes_filter(sender) {
            self.inner.on_transfer(sender, report);
        }
    }

    fn wants_windows(&self) -> bool {
        self.inner.wants_windows()
    }

    #[inline]
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        if self.passes_filter(sender) {
            self.inner.on_window(sender, point);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> TcpEnd {
        text.parse::<SocketAddr>().unwrap().into()
    }

    #[test]
    fn servers_are_named_by_address_port_or_both() {
        let cases = [
            ("443", "192.0.2.1:443", "192.0.2.1:80"),
            ("192.0.2.1", "192.0.2.1:5", "192.0.2.2:5"),
            ("192.0.2.0/24", "192.0.2.77:5", "192.0.3.1:5"),
            ("192.0.2.1:443", "192.0.2.1:443", "192.0.2.1:80"),
            ("[2001:db8::1]:443", "[2001:db8::1]:443", "[2001:db8::2]:443"),
            ("2001:db8::1", "[2001:db8::1]:1", "192.0.2.1:1"),
            ("2001:db8::/32", "[2001:db8:9::1]:1", "[2001:db9::1]:1"),
        ];
        for (pattern, yes, no) in cases {
            let servers: NamedServers = [pattern.parse().unwrap()].into_iter().collect();
            assert!(servers.include(end(yes)) && !servers.include(end(no)), "{pattern}");
        }
        for wrong in ["", "0", "65536", "example.org", "192.0.2", "192.0.2.0/33", ":80"] {
            assert!(wrong.parse::<ServerPattern>().unwrap_err().contains("like 443"), "{wrong}");
        }
    }

    #[test]
    fn one_named_end_is_the_server_and_two_or_none_do_not_tell() {
        let segment = Observed {
            source: end("192.0.2.1:9000"),
            destination: end("198.51.100.1:80"),
            ..Observed::default()
        };
        let of = |names: &[&str]| -> NamedServers {
            names.iter().map(|name| name.parse::<ServerPattern>().unwrap()).collect()
        };
        assert_eq!(of(&["9000"]).end_of(&segment), Some(0));
        assert_eq!(of(&["7", "80"]).end_of(&segment), Some(1));
        assert_eq!(of(&["9000", "80"]).end_of(&segment), None);
        assert_eq!(of(&[]).end_of(&segment), None);
        assert!(of(&["80"]).concern(&segment) && of(&[]).concern(&segment));
        assert!(!of(&["81"]).concern(&segment));
    }

    /// A client is named by network or address, of either family. Renamed networks match the
    /// renamed addresses.
    #[test]
    fn clients_are_named_by_network_and_renamed() {
        let of = |names: &[&str]| -> NamedClients {
            names.iter().map(|name| name.parse::<ClientPattern>().unwrap()).collect()
        };
        let clients = of(&["192.0.2.9/24", "2001:db8::7"]);
        for (ip, expected) in [
            ("192.0.2.77", true),
            ("192.0.3.77", false),
            ("2001:db8::7", true),
            ("2001:db8::8", false),
        ] {
            assert_eq!(clients.include(ip.parse().unwrap()), expected, "{ip}");
            assert!(of(&[]).include(ip.parse().unwrap()));
        }
        let renamed = of(&["192.0.2.0/24"]).rename_addresses(|_| "203.0.113.5".parse().unwrap());
        assert!(renamed.include("203.0.113.200".parse().unwrap()));
        assert!("443".parse::<ClientPattern>().unwrap_err().contains("like 192.0.2.0/24"));
    }

    /// A host of the named network serves another host: that connection has another client.
    #[test]
    fn only_connections_of_named_clients_are_handed_on() {
        #[derive(Default)]
        struct Ends(Vec<TcpEnd>);
        impl TraceSink for Ends {
            fn on_connection(&mut self, summary: &ConnectionTrace) {
                self.0.push(summary.client);
            }
        }
        let clients = std::iter::once("192.0.2.0/24".parse::<ClientPattern>().unwrap()).collect();
        let servers = std::iter::once("443".parse::<ServerPattern>().unwrap()).collect();
        let mut only = OnlyServers::new(servers, Ends::default()).with_clients(clients);
        for (client, server) in [
            ("192.0.2.1:9", "198.51.100.1:443"),
            ("198.51.100.1:9", "192.0.2.1:443"),
            ("192.0.2.1:9", "198.51.100.1:80"),
        ] {
            let (client, server) = (end(client), end(server));
            only.on_connection(&ConnectionTrace { client, server, ..ConnectionTrace::default() });
        }
        assert_eq!(only.inner.0, [end("192.0.2.1:9")]);
        assert_eq!((only.left_out, only.of_other_clients), (1, 1));
    }
}
