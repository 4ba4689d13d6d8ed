//! The servers that a user names: which end of a connection is the server's, and which connections matter.

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

/// One way to name servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerPattern {
    /// Their addresses; `None`: any.
    network: Option<IpNet>,
    /// Their port; `None`: any.
    port: Option<u16>,
}

impl ServerPattern {
    fn matches(&self, end: TcpEnd) -> bool {
        self.port.is_none_or(|port| port == end.port)
            && self.network.is_none_or(|network| network.contains(&end.ip))
    }
}

impl From<IpAddr> for ServerPattern {
    /// All ports of one host.
    fn from(host: IpAddr) -> Self {
        Self { network: Some(host.into()), port: None }
    }
}

impl FromStr for ServerPattern {
    type Err = String;

    /// `443`, `192.0.2.1`, `2001:db8::1`, `192.0.2.0/24`, `192.0.2.1:443` or `[2001:db8::1]:443`.
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
        let network = text.parse::<IpNet>().ok().or_else(|| only(text.parse().ok()?));
        let way_out = "neither a port, like 443, nor an address, like 192.0.2.1, 192.0.2.0/24 or 192.0.2.1:443";
        network.map_or_else(
            || Err(way_out.to_owned()),
            |network| Ok(Self { network: Some(network), port: None }),
        )
    }
}

/// Servers that a user has named. Without any, each connection tells by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedServers(Vec<ServerPattern>);

impl FromIterator<ServerPattern> for NamedServers {
    fn from_iter<I: IntoIterator<Item = ServerPattern>>(patterns: I) -> Self {
        Self(patterns.into_iter().collect())
    }
}

impl NamedServers {
    /// True if none is named, or this is one of them.
    #[inline]
    pub fn include(&self, end: TcpEnd) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| pattern.matches(end))
    }

    /// The same servers, of addresses that others stand for. `rename` has to keep which addresses are in one network,
    /// as `capture::Anonymizer` does.
    pub fn renamed(self, mut rename: impl FnMut(IpAddr) -> IpAddr) -> Self {
        let mut renamed = |network: IpNet| {
            let instead = IpNet::new_assert(rename(network.network()), network.prefix_len());
            instead.trunc()
        };
        let patterns = self.0.into_iter();
        let patterns = patterns
            .map(|pattern| ServerPattern { network: pattern.network.map(&mut renamed), ..pattern });
        patterns.collect()
    }

    /// True if the segment is to or from one of them.
    #[inline]
    pub fn concern(&self, segment: &Observed) -> bool {
        self.0.is_empty() || self.concern_some(segment)
    }

    fn concern_some(&self, segment: &Observed) -> bool {
        self.include(segment.source) || self.include(segment.destination)
    }

    /// Which end of a segment is the server's, where only one is named: 0 the source, 1 the destination.
    pub(crate) fn end_of(&self, segment: &Observed) -> Option<usize> {
        match (self.include(segment.source), self.include(segment.destination)) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }
}

/// Hands on what is about connections of named servers, and counts the others: those that a named server has opened
/// itself, to somebody else.
#[derive(Debug, Default)]
pub struct OnlyServers<S> {
    servers: NamedServers,
    /// Where it is handed on to.
    pub inner: S,
    /// Connections whose server was not named.
    pub left_out: u64,
}

impl<S> OnlyServers<S> {
    /// Hands on to `inner`.
    pub const fn new(servers: NamedServers, inner: S) -> Self {
        Self { servers, inner, left_out: 0 }
    }

    /// The same of another sink, with nothing left out yet.
    pub(crate) fn around<T>(&self, inner: T) -> OnlyServers<T> {
        OnlyServers::new(self.servers.clone(), inner)
    }

    #[inline]
    fn passes(&self, sender: &TracedSender) -> bool {
        self.servers.include(sender.server)
    }
}

impl<S: TraceSink> TraceSink for OnlyServers<S> {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        match self.servers.include(summary.server) {
            true => self.inner.on_connection(summary),
            false => self.left_out += 1,
        }
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        if self.passes(sender) {
            self.inner.on_begin(sender, at);
        }
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        if self.passes(sender) {
            self.inner.on_over(sender, at);
        }
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        if self.passes(sender) {
            self.inner.on_request(sender, at, bytes);
        }
    }

    #[inline]
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        if self.passes(sender) {
            self.inner.on_sent(sender, sent);
        }
    }

    fn on_retransmission(&mut self, sender: &TracedSender, again: &Retransmission) {
        if self.passes(sender) {
            self.inner.on_retransmission(sender, again);
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
        if self.passes(sender) {
            self.inner.on_round_trip(sender, at, rtt);
        }
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        if self.passes(sender) {
            self.inner.on_transfer(sender, report);
        }
    }

    fn wants_windows(&self) -> bool {
        self.inner.wants_windows()
    }

    #[inline]
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        if self.passes(sender) {
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
}
