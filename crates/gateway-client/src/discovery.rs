//! The addresses of gateways. A gateway is named by an address, by a host whose addresses DNS
//! lists, or by a service (`_headstart._tcp.example`) whose hosts DNS lists (RFC 2782).
//!
//! The system's lookup does not return for how long an answer holds. So names are looked up again
//! at a fixed interval ([`LOOK_EVERY`]); a name server on the way keeps answers for their time.

use crate::service_records::{ServiceRecord, service_records};
use std::cmp::Reverse;
use std::fmt::{self, Debug, Display, Formatter};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Time between two lookups of the connected gateway's name.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Longest lookup.
const PATIENCE: Duration = Duration::from_secs(5);
/// Beginning of the name of a service.
const SERVICE: &str = "_headstart._tcp.";
/// Maximum number of addresses of one name.
const MOST: usize = 64;

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

/// Returns the addresses of an entry of [`crate::ClientConfig::gateways`], the preferred one first.
///
/// # Errors
/// If the entry has none, or they cannot be looked up: the reason.
pub(crate) async fn addresses_of(
    names: &dyn NameService,
    entry: &str,
) -> Result<Vec<ResolvedGateway>, String> {
    let found = match host_and_port(entry) {
        Some((host, port)) => timeout(PATIENCE, addresses_of_host(names, host, port)).await,
        None => timeout(PATIENCE, addresses_of_service(names, entry)).await,
    };
    let found = found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let mut all = found.map_err(|why| format!("cannot look up {entry}: {why}"))?;
    all.truncate(MOST);
    match all.is_empty() {
        true => Err(format!("cannot look up {entry}: it has no address")),
        false => Ok(all),
    }
}

async fn addresses_of_host(
    names: &dyn NameService,
    host: &str,
    port: u16,
) -> io::Result<Vec<ResolvedGateway>> {
    let addresses = match host.parse() {
        Ok(address) => vec![address],
        Err(_) => names.addresses(host).await?,
    };
    let of = |address: IpAddr| ResolvedGateway {
        host: host.to_owned(),
        address: SocketAddr::new(address, port),
    };
    Ok(addresses.into_iter().map(of).collect())
}

/// A host that cannot be looked up does not keep the others from an answer.
async fn addresses_of_service(
    names: &dyn NameService,
    service: &str,
) -> io::Result<Vec<ResolvedGateway>> {
    let (mut all, mut trouble) = (Vec::new(), None);
    for ServiceRecord { host, port, .. } in in_order(names.servers(service).await?) {
        match addresses_of_host(names, &host, port).await {
            Ok(addresses) => all.extend(addresses),
            Err(why) => trouble = Some(why),
        }
    }
    match trouble {
        Some(why) if all.is_empty() => Err(why),
        _ => Ok(all),
    }
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

    async fn shown(entry: &str) -> Result<Vec<String>, String> {
        let all = addresses_of(&TwoHosts, entry).await?;
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
