//! The subscribers of a tenant by name: who is connected, and who was. A subscriber that comes back
//! is notified of what was forgotten meanwhile. The table is bounded: the subscriber that has been
//! away longest is left out first.

use super::Tenant;
use super::subscriptions::UpdateReceiver;
use crate::os::clock::{SiteClock, ticks};
use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::Arc;
use units::{Duration, Instant};

/// Maximum number of subscribers of a tenant that are remembered.
const MAX_SUBSCRIBERS: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();
/// Time before the end of a subscription whose updates may have been lost with the connection.
const UNCERTAIN_TIME: Duration = Duration::from_secs(600);

/// All subscribers of a tenant.
#[derive(Debug)]
pub(super) struct Subscribers(LruCache<String, SubscriberRecord>);

#[derive(Clone, Copy, Debug)]
struct SubscriberRecord {
    /// Its open subscriptions.
    open: u32,
    /// Time until which it certainly had one.
    last: Instant,
}

/// An open subscription, until this value is dropped.
#[derive(Debug)]
pub(crate) struct OpenSubscription {
    tenant: Arc<Tenant>,
    name: String,
    clock: SiteClock,
}

/// Subscribers by whether a change is sent to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NotifiedHosts {
    /// Names of those with an open subscription.
    pub(crate) notified: Vec<String>,
    /// Names of those that had one since the gateway started.
    pub(crate) missed: Vec<String>,
}

impl Default for Subscribers {
    fn default() -> Self {
        Self(LruCache::new(MAX_SUBSCRIBERS))
    }
}

impl Subscribers {
    /// Notes a subscription from `now` on. Returns until when the subscriber certainly had the
    /// updates; `None` if it is new here.
    fn open(&mut self, name: &str, now: Instant) -> Option<Instant> {
        let known = self.0.get_mut(name);
        // A subscriber that opens another stream beside its own has had all updates until now.
        let last = known.as_ref().map(|record| if record.open > 0 { now } else { record.last });
        match known {
            Some(record) => record.open += 1,
            None => drop(self.0.put(name.to_owned(), SubscriberRecord { open: 1, last: now })),
        }
        last
    }

    fn close(&mut self, name: &str, now: Instant) {
        if let Some(record) = self.0.get_mut(name) {
            *record = SubscriberRecord { open: record.open.saturating_sub(1), last: now };
        }
    }

    /// Lists the hosts by whether they have an open stream, each list in the order of names.
    fn notified_hosts(&self) -> NotifiedHosts {
        let mut hosts = NotifiedHosts::default();
        for (name, record) in &self.0 {
            let names = if record.open > 0 { &mut hosts.notified } else { &mut hosts.missed };
            names.push(name.clone());
        }
        hosts.notified.sort_unstable();
        hosts.missed.sort_unstable();
        hosts
    }
}

impl Tenant {
    /// Returns the updates for `name` from now on, after the networks that were forgotten since its
    /// last subscription. A subscriber that is new here may come from another gateway, so it gets
    /// all that are kept.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        name: &str,
        clock: SiteClock,
    ) -> (UpdateReceiver, OpenSubscription) {
        let last = self.known().subscribers.open(name, clock.now());
        let since = last.map_or(Instant::ZERO, |last| {
            Instant::ZERO + last.saturating_since(Instant::ZERO).saturating_sub(UNCERTAIN_TIME)
        });
        let forgotten: Vec<_> = {
            let memory = self.memory();
            let late = memory.forgotten().iter().filter(|forget| forget.at >= ticks(since));
            late.map(|forget| forget.network).collect()
        };
        let updates = self.updates.subscribe(since, forgotten);
        (updates, OpenSubscription { tenant: Arc::clone(self), name: name.to_owned(), clock })
    }

    /// Returns which subscribers are notified of a change now.
    pub(crate) fn notified_hosts(&self) -> NotifiedHosts {
        self.known().subscribers.notified_hosts()
    }
}

impl Drop for OpenSubscription {
    fn drop(&mut self) {
        self.tenant.known().subscribers.close(&self.name, self.clock.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_subscriber_is_notified_while_one_of_its_subscriptions_is_open() {
        let mut subscribers = Subscribers::default();
        assert_eq!(subscribers.open("web-2", at(1)), None);
        assert_eq!(subscribers.open("web-1", at(2)), None);
        // It connects again before the first connection ends, and has had all updates until then.
        assert_eq!(subscribers.open("web-1", at(5)), Some(at(5)));
        subscribers.close("web-1", at(9));
        let hosts = subscribers.notified_hosts();
        assert_eq!((hosts.notified, hosts.missed), (names(&["web-1", "web-2"]), Vec::new()));
        subscribers.close("web-1", at(20));
        let hosts = subscribers.notified_hosts();
        assert_eq!((hosts.notified, hosts.missed), (names(&["web-2"]), names(&["web-1"])));
        assert_eq!(subscribers.open("web-1", at(30)), Some(at(20)));
    }
}
