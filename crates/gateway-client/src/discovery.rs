//! The addresses of gateways. A gateway is named by an address, by a host whose addresses DNS
//! lists, or by a service (`_headstart._tcp.example`) whose hosts DNS lists (RFC 2782).
//!
//! The system's lookup does not return for how long an answer holds. So names are looked up again
//! at a fixed interval ([`LOOKUP_INTERVAL`]). A name server on the way keeps answers for their
//! time.

use crate::service_records::{ServiceRecord, service_records};
use std::cmp::Reverse;
use std::fmt::{self, Debug, Display, Formatter};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// Time between two lookups of the connected gateway's name.
pub(crate) const LOOKUP_INTERVAL: Duration = Duration::from_secs(3);
/// Maximum number of addresses of one name that are tried for a connection.
pub(crate) const MAX_TRIED: usize = 64;
/// Time limit of each lookup: of a service, and of each host.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// Beginning of the name of a service.
const SERVICE: &str = "_headstart._tcp.";
/// Maximum number of servers of a service. An answer by TCP may have more than a thousand.
const MAX_RECORDS: usize = 256;
/// Number of hosts that are looked up at a time: the system's lookup takes a thread for each.
const CONCURRENT_LOOKUPS: usize = 16;
/// Number of lookups in a row that must lack a gateway before it counts as gone. A host that could
/// not be looked up is missing from one answer, and a name server may give a part of a list.
const MIN_LOOKUPS_WITHOUT: u32 = 3;

/// Result of a lookup, when it is there.
pub type Lookup<'a, T> = Pin<Box<dyn Future<Output = io::Result<Vec<T>>> + Send + 'a>>;

/// Looks names up.
pub trait NameService: Debug + Send + Sync {
    /// Returns the addresses of a host.
    fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, IpAddr>;
    /// Returns the servers of a service.
    fn servers<'a>(&'a self, service: &'a str) -> Lookup<'a, ServiceRecord>;
}

/// The names that this host knows: `/etc/hosts`, and its name servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNames;

impl SystemNames {
    /// Returns the names for a configuration.
    pub fn shared() -> Arc<dyn NameService> {
        Arc::new(Self)
    }
}

impl NameService for SystemNames {
    fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, IpAddr> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn servers<'a>(&'a self, service: &'a str) -> Lookup<'a, ServiceRecord> {
        Box::pin(service_records(service))
    }
}

/// An address of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedGateway {
    /// Name, or address, that the gateway's certificate has.
    pub(crate) host: String,
    pub(crate) address: SocketAddr,
}

impl Display for ResolvedGateway {
    /// Writes the name of the host, and its address unless that is its name.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { host, address } = self;
        match host.parse::<IpAddr>() {
            Ok(_) => write!(f, "{address}"),
            Err(_) => write!(f, "{host}:{} ({})", address.port(), address.ip()),
        }
    }
}

/// Returns whether an entry names a service.
pub(crate) fn is_service(entry: &str) -> bool {
    entry.strip_prefix(SERVICE).is_some_and(|domain| !domain.is_empty() && !domain.contains(':'))
}

/// Returns the host and the port of an entry; `None` if it is a service, or wrong.
pub(crate) fn host_and_port(entry: &str) -> Option<(&str, u16)> {
    let (host, port) = entry.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    (!host.is_empty()).then_some((host, port))
}

/// Notices when a gateway is no longer among the addresses of its name.
#[derive(Debug, Default)]
pub(crate) struct Absence {
    lookups_without: u32,
}

impl Absence {
    /// Notes a lookup that has succeeded; returns true if the gateway is gone.
    pub(crate) fn note(&mut self, is_listed: bool) -> bool {
        self.lookups_without = if is_listed { 0 } else { self.lookups_without.saturating_add(1) };
        self.lookups_without >= MIN_LOOKUPS_WITHOUT
    }
}

/// Returns all addresses of an entry of [`crate::ClientConfig::gateways`], the preferred one first.
///
/// # Errors
/// If the entry has none, or they cannot be looked up: the reason.
pub(crate) async fn addresses_of(
    names: &Arc<dyn NameService>,
    entry: &str,
) -> Result<Vec<ResolvedGateway>, String> {
    let found = match host_and_port(entry) {
        Some((host, port)) => addresses_of_host(names.as_ref(), host, port).await,
        None => addresses_of_service(names, entry).await,
    };
    let all = found.map_err(|why| format!("cannot look up {entry}: {why}"))?;
    match all.is_empty() {
        true => Err(format!("cannot look up {entry}: it has no address")),
        false => Ok(all),
    }
}

/// Returns whether an entry still has the gateway. Looks up no other host of a service.
pub(crate) async fn is_listed(
    names: &Arc<dyn NameService>,
    entry: &str,
    gateway: &ResolvedGateway,
) -> io::Result<bool> {
    let (host, port) = (&gateway.host, gateway.address.port());
    if host_and_port(entry).is_none() {
        let servers = first_records(in_time(names.servers(entry)).await?);
        if !servers.iter().any(|record| record.host == *host && record.port == port) {
            return Ok(false);
        }
    }
    Ok(addresses_of_host(names.as_ref(), host, port).await?.contains(gateway))
}

/// Returns the number of gateways that have these addresses: those of one family, whichever has
/// more.
pub(crate) fn gateways_among(found: &[ResolvedGateway]) -> usize {
    let of_v6 = found.iter().filter(|gateway| gateway.address.is_ipv6()).count();
    of_v6.max(found.len() - of_v6)
}

/// Returns the addresses of a host; a host that is an address needs no look-up.
async fn addresses_of_host(
    names: &dyn NameService,
    host: &str,
    port: u16,
) -> io::Result<Vec<ResolvedGateway>> {
    let addresses = match host.parse() {
        Ok(address) => vec![address],
        Err(_) => in_time(names.addresses(host)).await?,
    };
    let of = |address: IpAddr| ResolvedGateway {
        host: host.to_owned(),
        address: SocketAddr::new(address, port),
    };
    Ok(addresses.into_iter().map(of).collect())
}

/// Looks up the addresses of a service's hosts. A host that cannot be looked up does not keep the
/// others from an answer. No lookup starts later than [`LOOKUP_TIMEOUT`].
async fn addresses_of_service(
    names: &Arc<dyn NameService>,
    service: &str,
) -> io::Result<Vec<ResolvedGateway>> {
    let records = in_order(first_records(in_time(names.servers(service)).await?));
    let (mut all, mut trouble) = (Vec::new(), None);
    let began = Instant::now();
    for some in records.chunks(CONCURRENT_LOOKUPS) {
        if began.elapsed() > LOOKUP_TIMEOUT {
            trouble = Some(io::ErrorKind::TimedOut.into());
            break;
        }
        let mut lookups = JoinSet::new();
        for (place, ServiceRecord { host, port, .. }) in some.iter().cloned().enumerate() {
            let names = Arc::clone(names);
            lookups.spawn(
                async move { (place, addresses_of_host(names.as_ref(), &host, port).await) },
            );
        }
        let mut found = lookups.join_all().await;
        found.sort_by_key(|(place, _)| *place);
        for (_, found) in found {
            match found {
                Ok(addresses) => all.extend(addresses),
                Err(why) => trouble = Some(why),
            }
        }
    }
    match trouble {
        Some(why) if all.is_empty() => Err(why),
        _ => Ok(all),
    }
}

async fn in_time<T>(lookup: Lookup<'_, T>) -> io::Result<Vec<T>> {
    let found = timeout(LOOKUP_TIMEOUT, lookup).await;
    found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Returns at most [`MAX_RECORDS`] servers, those with the lowest priority and name. Each lookup
/// leaves the same ones out: a gateway must not leave the list by chance.
fn first_records(mut records: Vec<ServiceRecord>) -> Vec<ServiceRecord> {
    if records.len() > MAX_RECORDS {
        records.sort_by(|a, b| (a.priority, &a.host, a.port).cmp(&(b.priority, &b.host, b.port)));
        records.truncate(MAX_RECORDS);
    }
    records
}

/// Orders servers by priority, and at random by weight among the same priority (RFC 2782).
fn in_order(records: Vec<ServiceRecord>) -> Vec<ServiceRecord> {
    // The highest of u^(1/weight) is drawn with a probability of its weight's share (Efraimidis and
    // Spirakis 2006).
    let key = |record: &ServiceRecord| {
        let chance = f64::from(getrandom::u32().unwrap_or(1)) / f64::from(u32::MAX);
        let drawn = chance.powf(1.0 / f64::from(record.weight.max(1)));
        (record.priority, Reverse((drawn * 1e15) as u64))
    };
    let mut drawn: Vec<_> = records.into_iter().map(|record| (key(&record), record)).collect();
    drawn.sort_by_key(|(key, _)| *key);
    drawn.into_iter().map(|(_, record)| record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hosts of one service.
    #[derive(Debug)]
    struct TwoHosts;

    impl NameService for TwoHosts {
        fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, IpAddr> {
            Box::pin(async move {
                match host {
                    "a.example" => Ok(vec![[192, 0, 2, 1].into(), [192, 0, 2, 2].into()]),
                    "b.example" => Ok(vec![[192, 0, 2, 3].into()]),
                    "none.example" => Ok(vec![]),
                    _ => Err(io::ErrorKind::NotFound.into()),
                }
            })
        }

        fn servers<'a>(&'a self, _: &'a str) -> Lookup<'a, ServiceRecord> {
            let of = |priority, port, host: &str| ServiceRecord {
                priority,
                weight: 0,
                port,
                host: host.to_owned(),
            };
            let all = vec![of(2, 7, "a.example"), of(0, 9, "gone.example"), of(1, 8, "b.example")];
            Box::pin(async move { Ok(all) })
        }
    }

    /// A service whose records a test sets. Hosts have the address 192.0.2.7, except
    /// `slow.example`, whose lookup never ends.
    #[derive(Debug)]
    struct Records(Vec<ServiceRecord>);

    impl NameService for Records {
        fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, IpAddr> {
            Box::pin(async move {
                match host {
                    "slow.example" => std::future::pending().await,
                    _ => Ok(vec![[192, 0, 2, 7].into()]),
                }
            })
        }

        fn servers<'a>(&'a self, _: &'a str) -> Lookup<'a, ServiceRecord> {
            Box::pin(async { Ok(self.0.clone()) })
        }
    }

    async fn ports_of(records: Vec<ServiceRecord>) -> Vec<u16> {
        let names: Arc<dyn NameService> = Arc::new(Records(records));
        let all = addresses_of(&names, "_headstart._tcp.example").await.unwrap();
        all.iter().map(|gateway| gateway.address.port()).collect()
    }

    fn record(priority: u16, port: u16, host: &str) -> ServiceRecord {
        ServiceRecord { priority, weight: 0, port, host: host.to_owned() }
    }

    /// Each lookup has five seconds. Hosts are looked up together, so two slow ones take no ten
    /// seconds.
    #[tokio::test]
    async fn a_host_whose_lookup_never_ends_keeps_no_other_from_an_answer() {
        let begun = Instant::now();
        let hosts = ["slow.example", "slow.example", "a.example"];
        let records = (7..).zip(hosts).map(|(port, host)| record(1, port, host)).collect();
        assert_eq!(ports_of(records).await, [9]);
        assert!((5.0..9.9).contains(&begun.elapsed().as_secs_f64()), "{:?}", begun.elapsed());
    }

    /// 300 servers have one priority, and the records arrive in any order. The names that sort
    /// first are h000 to h255, whose ports are 1 to 256.
    #[tokio::test]
    async fn the_same_servers_of_many_are_kept_at_each_lookup() {
        let name = |n: u16| record(1, n + 1, &format!("h{n:03}.example"));
        let mut records: Vec<_> = (0..300).map(name).collect();
        for _ in 0..2 {
            records.reverse();
            let mut ports = ports_of(records.clone()).await;
            ports.sort_unstable();
            assert_eq!(ports, (1..=256).collect::<Vec<_>>());
        }
        // A lower priority comes before any name.
        records.push(record(0, 999, "z.example"));
        assert_eq!(ports_of(records).await[0], 999);
    }

    #[test]
    fn a_gateway_is_gone_after_three_lookups_in_a_row_without_it() {
        let mut absence = Absence::default();
        let listed = [false, false, true, false, false, false];
        let is_gone = listed.map(|is_listed| absence.note(is_listed));
        assert_eq!(is_gone, [false, false, false, false, false, true]);
    }

    async fn shown(entry: &str) -> Result<Vec<String>, String> {
        let names: Arc<dyn NameService> = Arc::new(TwoHosts);
        let all = addresses_of(&names, entry).await?;
        Ok(all.iter().map(ToString::to_string).collect())
    }

    #[tokio::test]
    async fn entries_have_the_addresses_of_their_kind() {
        let of_a = ["a.example:5 (192.0.2.1)", "a.example:5 (192.0.2.2)"];
        assert_eq!(shown("a.example:5").await.unwrap(), of_a);
        assert_eq!(shown("192.0.2.9:5").await.unwrap(), ["192.0.2.9:5"]);
        assert_eq!(shown("[2001:db8::1]:5").await.unwrap(), ["[2001:db8::1]:5"]);
        // By priority; the host that does not exist is left out.
        let all = ["b.example:8 (192.0.2.3)", "a.example:7 (192.0.2.1)", "a.example:7 (192.0.2.2)"];
        assert_eq!(shown("_headstart._tcp.example").await.unwrap(), all);
        let why = shown("none.example:5").await.unwrap_err();
        assert_eq!(why, "cannot look up none.example:5: it has no address");
        assert!(shown("gone.example:5").await.is_err());
    }

    /// The server of weight 3 is first in 3,000 of 4,000 draws; the standard deviation is 27.
    #[test]
    fn servers_of_one_priority_come_by_weight() {
        let of =
            |priority, weight| ServiceRecord { priority, weight, port: 1, host: String::new() };
        let first = |_: &u32| in_order(vec![of(1, 9), of(0, 1), of(0, 3)])[0].weight == 3;
        let count = (0..4000).filter(first).count();
        assert!((2870..=3130).contains(&count), "{count}");
        assert_eq!(in_order(vec![of(1, 9), of(0, 1), of(0, 3)])[2].weight, 9);
    }
}
