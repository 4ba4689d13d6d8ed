//! TCP options of agents in captured packets ([`crate::path_option`]). Any host can write this
//! option. So it counts only in packets from an address that the operator has named as a server's.
//! An option that the wire shows twice counts once.

use crate::config::CaptureConfig;
use crate::counts::ObserverCounts;
use crate::passive::PassiveReport;
use crate::path_option::{ID, PathOption};
use crate::reporting::Found;
use capture::{Observed, TcpEnd};
use gateway_client::network_of;
use ipnet::IpNet;
use lru::LruCache;
use segment::Flags;
use std::num::NonZeroUsize;
use units::SeqNum;

/// Number of options that are remembered: one interface may show a packet twice, and segments of
/// one burst have the same header.
const REMEMBERED_OPTIONS: NonZeroUsize = NonZeroUsize::new(4096).expect("above 0");

/// Reads options, on the capture's thread.
pub(crate) struct PathOptionReader {
    servers: Vec<IpNet>,
    ports: Vec<u16>,
    /// Options seen, by both ends and the acknowledgement number: an agent writes one option in the
    /// lifetime of a connection.
    seen: LruCache<(TcpEnd, TcpEnd, SeqNum), ()>,
}

impl PathOptionReader {
    pub(crate) fn new(config: &CaptureConfig) -> Self {
        let (servers, ports) = (config.option_servers.clone(), config.ports.clone());
        Self { servers, ports, seen: LruCache::new(REMEMBERED_OPTIONS) }
    }

    /// Returns the content of a segment's option, if it has one that counts.
    pub(crate) fn read(&mut self, segment: &Observed, counts: &ObserverCounts) -> Option<Found> {
        let (id, value) = segment.options.experiment()?;
        // An agent writes it only into a FIN, so further options of a host do not count.
        let is_end = segment.has(Flags::FIN) && !segment.has(Flags::SYN);
        if id != ID || self.servers.is_empty() || !is_end {
            return None;
        }
        if !self.is_of_server(&segment.source) {
            counts.foreign_options.inc();
            return None;
        }
        let Some(option) = PathOption::read(&value) else {
            counts.bad_options.inc();
            return None;
        };
        let connection = (segment.source, segment.destination, segment.ack);
        if self.seen.put(connection, ()).is_some() {
            return None;
        }
        let client = segment.destination.ip;
        let report = option.report(network_of(client));
        Some(Found::Option(PassiveReport { at: segment.at, client, report }))
    }

    fn is_of_server(&self, end: &TcpEnd) -> bool {
        let address = end.ip.to_canonical();
        self.ports.contains(&end.port) && self.servers.iter().any(|net| net.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{CapturePlace, ReportedPrefix};
    use crate::testing::segments;
    use std::net::IpAddr;

    /// Returns a segment of 192.0.2.1:443 to 198.51.100.7:50000 whose header has `options`.
    fn segment(options: &[u8], flags: u8) -> Observed {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0];
        packet.extend([192, 0, 2, 1, 198, 51, 100, 7]);
        packet.extend([443_u16.to_be_bytes(), 50_000_u16.to_be_bytes()].concat());
        packet.extend([0, 0, 0, 1, 0, 0, 0, 2, (5 + options.len() as u8 / 4) << 4, flags]);
        packet.extend([0, 0, 0, 0, 0, 0]);
        packet.extend(options);
        let total = packet.len() as u8;
        packet[3] = total;
        segments(&[&[total][..], &packet].concat())[0]
    }

    fn reader(servers: &[&str]) -> PathOptionReader {
        PathOptionReader::new(&CaptureConfig {
            place: CapturePlace::Interfaces(vec![]),
            ports: vec![443],
            passive: true,
            push: true,
            longest: ReportedPrefix { v4: 24, v6: 48 },
            option_servers: servers.iter().map(|net| net.parse().unwrap()).collect(),
        })
    }

    const FIN_ACK: u8 = 0x11;
    const SYN_ACK: u8 = 0x12;
    const ACK: u8 = 0x10;
    /// The option of the tests in `path_option`: a loss at 144,768 bytes.
    const OPTION: [u8; 16] =
        [254, 16, 0x48, 0x53, 0x11, 0, 0x20, 0x6b, 0x30, 0xc4, 0x1c, 0xe2, 0, 139, 0, 2];

    #[test]
    fn an_option_of_a_server_is_a_report_of_the_visitors_network_once() {
        let (mut reader, counts) = (reader(&["192.0.2.0/28"]), ObserverCounts::default());
        let spoken = segment(&OPTION, FIN_ACK);
        let Some(Found::Option(found)) = reader.read(&spoken, &counts) else { panic!("none") };
        assert_eq!(found.client, "198.51.100.7".parse::<IpAddr>().unwrap());
        assert_eq!((found.report.window, found.report.sent, found.report.lost), (144_768, 139, 2));
        let network = found.report.network.unwrap().to_net().unwrap();
        assert_eq!(network, "198.51.100.0/24".parse::<IpNet>().unwrap());
        assert!(reader.read(&spoken, &counts).is_none(), "the same packet once more");
        assert_eq!((counts.foreign_options.get(), counts.bad_options.get()), (0, 0));
    }

    #[test]
    fn what_is_not_of_a_server_on_a_syn_or_malformed_is_none() {
        let counts = ObserverCounts::default();
        let spoken = segment(&OPTION, FIN_ACK);
        assert!(reader(&["192.0.2.2/32"]).read(&spoken, &counts).is_none());
        assert_eq!(counts.foreign_options.get(), 1);
        let mut own = reader(&["192.0.2.1/32"]);
        let mut version = OPTION;
        version[4] = 0x21;
        assert!(own.read(&segment(&version, FIN_ACK), &counts).is_none());
        assert_eq!(counts.bad_options.get(), 1);
        let mut other = OPTION;
        other[3] = 0x54;
        for silent in [
            segment(&OPTION, SYN_ACK),
            segment(&OPTION, ACK),
            segment(&other, FIN_ACK),
            segment(&[], FIN_ACK),
        ] {
            assert!(own.read(&silent, &counts).is_none());
        }
        assert!(reader(&[]).read(&spoken, &counts).is_none(), "no servers are named");
        assert_eq!((counts.foreign_options.get(), counts.bad_options.get()), (1, 1));
    }
}
