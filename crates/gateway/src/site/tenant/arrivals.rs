//! Visitors whose SYNs or requests an observer has seen. The gateway notifies the server at the
//! destination address.

use super::judge::reported_network;
use super::{Speaker, Tenant, messages};
use gateway_proto::v1::{Estimate, Network, Refusal, Source};
use std::collections::BTreeSet;
use std::net::IpAddr;
use tokio::sync::broadcast;
use units::Instant;

/// Maximum number of arrivals that wait for a subscriber; older ones are of no use.
const MAX_WAITING_ARRIVALS: usize = 1024;

/// A visitor that opens a connection to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitorArrival {
    /// Destination of the SYN.
    pub server: IpAddr,
    /// The estimate for the visitor's network.
    pub estimate: Estimate,
}

/// Notifies all subscribers of a tenant about arrivals at the tenant's servers.
#[derive(Debug)]
pub struct Arrivals(broadcast::Sender<VisitorArrival>);

impl Default for Arrivals {
    fn default() -> Self {
        Self(broadcast::channel(MAX_WAITING_ARRIVALS).0)
    }
}

impl Arrivals {
    /// Receives the arrivals from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<VisitorArrival> {
        self.0.subscribe()
    }

    /// Returns true if a subscriber would be notified of an arrival.
    pub fn has_subscribers(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Notifies all subscribers. A slow subscriber delays no other.
    pub fn tell(&self, arrival: VisitorArrival) {
        // Sending fails if there is no subscriber, and then no subscriber misses the arrival.
        let _ = self.0.send(arrival);
    }
}

impl Tenant {
    /// Notifies the subscriber that serves at `server` of a visitor from `network`, with what is
    /// known of this network. If no host has reported the network, nothing is sent.
    ///
    /// # Errors
    /// If a report of this network would not count: why.
    pub fn announce(
        &self,
        now: Instant,
        speaker: Speaker<'_>,
        server: IpAddr,
        network: Option<&Network>,
    ) -> Result<(), Refusal> {
        let network = reported_network(network, speaker.allowed)?;
        if !self.arrivals.has_subscribers() {
            return Ok(());
        }
        let estimate = self.estimate(now, network.addr());
        let estimate = estimate.map(|estimate| messages::estimate_of(network, &estimate));
        if let Some(estimate) = estimate.filter(is_of_visitor) {
            self.arrivals.tell(VisitorArrival { server, estimate });
        }
        Ok(())
    }
}

/// Returns true if the visitor's network is known: it answers itself, or a prefix that covers it
/// and has its samples does. An estimate of neighbours or of the whole site is not worth a message
/// for each SYN: an agent that wants it asks.
fn is_of_visitor(estimate: &Estimate) -> bool {
    matches!(estimate.source(), Source::Network | Source::Covering)
}

/// Maximum number of addresses that a subscription may name.
const MAX_ADDRESSES: usize = 256;

/// Returns the addresses at which a subscriber serves: the addresses that it names, and the address
/// from which it is connected. The gateway trusts a subscriber's list of its own addresses, within
/// the subscriber's tenant.
///
/// # Errors
/// If the subscriber names too many addresses, or bytes that are no address.
pub fn addresses_of(
    named: &[Vec<u8>],
    own: Option<IpAddr>,
) -> Result<BTreeSet<IpAddr>, &'static str> {
    if named.len() > MAX_ADDRESSES {
        return Err("more than 256 addresses; leave some out");
    }
    let named: Result<BTreeSet<IpAddr>, _> = named.iter().map(|bytes| address_of(bytes)).collect();
    let mut all = named?;
    all.extend(own.map(|own| own.to_canonical()));
    Ok(all)
}

/// Returns the address of a server in a message.
///
/// # Errors
/// If the bytes are no address.
pub(crate) fn address_of(bytes: &[u8]) -> Result<IpAddr, &'static str> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    let address = v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
    let address = address.map_err(|_| "an address of a server has 4 or 16 bytes")?;
    Ok(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_four_or_sixteen_bytes() {
        let own: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
        let all = addresses_of(&[vec![192, 0, 2, 2], vec![0; 16]], Some(own)).unwrap();
        let expected = ["192.0.2.1", "192.0.2.2", "::"].map(|text| text.parse::<IpAddr>().unwrap());
        assert_eq!(all, BTreeSet::from(expected));
        assert!(addresses_of(&[vec![1, 2, 3]], None).is_err());
        assert!(addresses_of(&vec![vec![0; 4]; 257], None).is_err());
    }
}
