//! The round trips of a page's hosts. The nearest host is at the far end of the access link; each
//! other host is behind a link of its own, which has delay and no limit of rate.

use link::path::one_way_delays;
use link::{LinkConfig, QueueLimit};
use netsim::Duplex;
use units::{Duration, Rate};
use workload::{HostId, Page};

/// Round trips of hosts, without transmission times.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    /// The round trip of each host, by [`HostId`].
    hosts: Vec<Duration>,
    /// The round trip of the path.
    path: Duration,
    /// The shortest of all.
    nearest: Duration,
}

impl Distances {
    /// The distances of a page's hosts over a path of this round trip.
    pub(crate) fn new(page: &Page, path: Duration) -> Self {
        let hosts: Vec<Duration> =
            page.hosts().iter().map(|host| host.rtt.unwrap_or(path)).collect();
        let nearest = hosts.iter().copied().fold(path, Duration::min);
        Self { hosts, path, nearest }
    }

    /// One-way delays of the access link; forward is towards the client.
    pub(crate) fn access(&self) -> Duplex<Duration> {
        one_way_delays(self.nearest)
    }

    /// One-way delays between a host and the access link.
    ///
    /// # Panics
    /// If the host is of another page.
    pub(crate) fn delay_beyond_access(&self, host: HostId) -> Duplex<Duration> {
        self.to(self.hosts[host.index()])
    }

    /// The longest round trip.
    pub(crate) fn longest(&self) -> Duration {
        self.hosts.iter().copied().fold(self.path, Duration::max)
    }

    /// The links of the hosts' own, by [`HostId`]; `None` for a host at the access link.
    pub(crate) fn own_links(&self) -> impl Iterator<Item = Option<Duplex<LinkConfig>>> + '_ {
        self.hosts.iter().map(|rtt| self.link(*rtt))
    }

    /// The link of a host that is as far away as the path says.
    pub(crate) fn link_of_path(&self) -> Option<Duplex<LinkConfig>> {
        self.link(self.path)
    }

    fn link(&self, rtt: Duration) -> Option<Duplex<LinkConfig>> {
        let delays = self.to(rtt);
        let link = |delay| {
            LinkConfig::new(Rate::from_bps(u64::MAX), delay, QueueLimit::Unlimited)
                .expect("a link with a rate and room")
        };
        let own = Duplex { forward: link(delays.forward), reverse: link(delays.reverse) };
        (rtt > self.nearest).then_some(own)
    }

    fn to(&self, rtt: Duration) -> Duplex<Duration> {
        let (whole, access) = (one_way_delays(rtt), self.access());
        Duplex {
            forward: whole.forward.saturating_sub(access.forward),
            reverse: whole.reverse.saturating_sub(access.reverse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Http, Object, ObjectKind, PageHost};

    /// Hosts at 80 and 20 ms over a path of 60 ms, and one as far as the path says.
    #[test]
    fn the_nearest_host_is_at_the_access_link() {
        let hosts = ["a", "b", "c"].map(|name| PageHost::plain(name, Http::Http11));
        let object = Object::plain("o", ObjectKind::Html, 1);
        let page = Page::new("p", hosts.to_vec(), vec![object]).expect("a page");
        let ms = Duration::from_millis;
        let rtts = [Some(ms(80)), Some(ms(20)), None];
        let page = page.with_hosts(|id, host| host.rtt = rtts[id.index()]);
        let distances = Distances::new(&page, ms(60));
        assert_eq!(distances.access(), Duplex::symmetric(ms(10)));
        let beyond = [0, 1, 2].map(|n| distances.delay_beyond_access(HostId(n)).forward);
        assert_eq!(beyond, [ms(30), ms(0), ms(20)]);
        let own: Vec<bool> = distances.own_links().map(|link| link.is_some()).collect();
        assert_eq!((own, distances.longest()), (vec![true, false, true], ms(80)));
        assert_eq!(distances.link_of_path().expect("a link").reverse.delay(), ms(20));
    }

    /// An odd nanosecond stays on the way up, and no round trip loses one.
    #[test]
    fn odd_round_trips_are_whole() {
        let ns = Duration::from_nanos;
        for (near, far) in [(100, 101), (101, 102), (101, 103)] {
            let page = Page::single(1).with_hosts(|_, host| host.rtt = Some(ns(far)));
            let distances = Distances::new(&page, ns(near));
            let (access, beyond) = (distances.access(), distances.delay_beyond_access(HostId(0)));
            let sum = access.forward + access.reverse + beyond.forward + beyond.reverse;
            assert_eq!(sum, ns(far));
            assert_eq!(access.forward + beyond.forward, ns(far / 2));
        }
    }
}
