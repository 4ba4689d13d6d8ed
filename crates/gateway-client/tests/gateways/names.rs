//! Gateways that DNS names: several addresses of a name, servers of a service, and a gateway that
//! moves.

use crate::{Fake, Site, client, connected, first, question, until, window};
use gateway_client::{ClientConfig, Lookup, NameService, ServiceRecord, SiteEvent};
use gateway_proto::v1::Report;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

const SERVICE: &str = "_headstart._tcp.example";

/// Names that a test changes.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) hosts: Mutex<Vec<(&'static str, &'static str)>>,
    services: Mutex<Vec<ServiceRecord>>,
    /// Number of lookups of hosts, open ones too.
    lookups: AtomicU32,
}

impl Names {
    /// Waits for this number of further lookups.
    pub(super) fn wait_for_lookups(&self, more: u32) {
        let now = || self.lookups.load(Ordering::Relaxed);
        let before = now();
        until("names are looked up", || now() >= before + more);
    }
}

impl NameService for Names {
    fn addresses<'a>(&'a self, host: &'a str) -> Lookup<'a, IpAddr> {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let hosts = self.hosts.lock().unwrap();
            let named = hosts.iter().filter(|(name, _)| *name == host);
            match named.map(|(_, address)| address.parse().unwrap()).collect::<Vec<_>>() {
                none if none.is_empty() => Err(io::ErrorKind::NotFound.into()),
                some => Ok(some),
            }
        })
    }

    fn servers<'a>(&'a self, service: &'a str) -> Lookup<'a, ServiceRecord> {
        assert_eq!(service, SERVICE);
        Box::pin(async move { Ok(self.services.lock().unwrap().clone()) })
    }
}

pub(super) fn named(site: &Site, entry: &str, names: &Arc<Names>) -> ClientConfig {
    let names = Arc::clone(names) as Arc<dyn NameService>;
    ClientConfig { names, ..site.config(&[entry.to_owned()]) }
}

pub(super) fn port_of(address: &str) -> u16 {
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// The old gateway answers no question, so a question is open when the client moves. The new one
/// answers it, and acknowledges the report that the old one never did. The name is looked up every
/// three seconds, and the third lookup without the old address counts: six seconds or more.
#[test]
fn a_gateway_that_moves_is_followed_and_nothing_is_lost() {
    let site = Site::new("moved");
    let old = Fake { is_silent: true, never_acks: true, ..Fake::default() };
    let (address, _keep_old) = site.serve(old.clone());
    let port = port_of(&address);
    let new = Fake { window: 7, ..Fake::default() };
    let (_, _keep_new) = site.serve_at(new.clone(), &format!("127.0.0.2:{port}"));
    let names = Arc::new(Names::default());
    *names.hosts.lock().unwrap() = vec![("a.example", "127.0.0.1")];
    let (client, events) = client(named(&site, &format!("a.example:{port}"), &names));
    assert_eq!(first(&events, connected), format!("a.example:{port} (127.0.0.1)"));
    // Sums are no matter for a gateway of an earlier version.
    client.compare(&[]);
    client.report(Report::default());
    until("the old gateway has the report", || !old.batches.lock().unwrap().is_empty());
    until("the old gateway has the sums", || old.compared.load(Ordering::Relaxed) == 1);
    let moved = Instant::now();
    *names.hosts.lock().unwrap() = vec![("a.example", "127.0.0.2")];
    // It is asked after two of three lookups: a question has five seconds.
    names.wait_for_lookups(2);
    client.ask(question());
    assert_eq!(first(&events, connected), format!("a.example:{port} (127.0.0.2)"));
    let took = moved.elapsed().as_secs_f64();
    assert!((6.0..10.5).contains(&took), "{took}");
    let window = first(&events, |event| match event {
        SiteEvent::Answered(_, estimate) => Some(estimate.window),
        SiteEvent::Lost(why) => panic!("{why}"),
        _ => None,
    });
    assert_eq!(window, 7);
    assert!(client.flush(Duration::from_secs(10)));
    assert_eq!(new.batches.lock().unwrap().len(), 1);
    let status = client.status();
    assert_eq!((status.in_time, status.none, status.reports_taken), (1, 0, 1));
}

/// While a name cannot be looked up, its gateway stays. If its new address does not answer, too:
/// after the third lookup the client looks for other addresses, and tries the one that it finds
/// before its fifth lookup.
#[test]
fn a_gateway_stays_until_another_address_answers() {
    let site = Site::new("stays");
    let (address, _keep) = site.serve(Fake { window: 7, ..Fake::default() });
    let port = port_of(&address);
    let names = Arc::new(Names::default());
    *names.hosts.lock().unwrap() = vec![("a.example", "127.0.0.1")];
    let (client, events) = client(named(&site, &format!("a.example:{port}"), &names));
    first(&events, connected);
    for (hosts, lookups) in [(vec![], 3), (vec![("a.example", "127.0.0.3")], 5)] {
        *names.hosts.lock().unwrap() = hosts;
        names.wait_for_lookups(lookups);
        client.ask(question());
        first(&events, |event| match event {
            SiteEvent::Answered(..) => Some(()),
            other => panic!("{other:?}"),
        });
    }
}

/// A name has more addresses than are tried: 64 at which nothing listens precede the gateway. Where
/// it is the 64th itself, it is found.
#[test]
fn the_first_64_addresses_of_a_name_are_tried() {
    let site = Site::new("many");
    let (address, _keep) = site.serve(Fake::default());
    let port = port_of(&address);
    let names = Arc::new(Names::default());
    let with_dead = |count: usize| {
        let dead = ("a.example", "127.0.0.3");
        let mut hosts = vec![dead; count];
        hosts.push(("a.example", "127.0.0.1"));
        hosts
    };
    *names.hosts.lock().unwrap() = with_dead(64);
    let (_client, events) = client(named(&site, &format!("a.example:{port}"), &names));
    first(&events, |event| match event {
        SiteEvent::Lost(why) => {
            assert_eq!(why.matches("127.0.0.3").count(), 64, "{why}");
            Some(())
        }
        other => panic!("{other:?}"),
    });
    *names.hosts.lock().unwrap() = with_dead(63);
    first(&events, connected);
}

/// Two gateways have one name, and the first one answers no question. The client leaves it for the
/// other address, although its configuration names no second gateway.
#[test]
fn a_slow_gateway_is_left_for_another_address_of_its_name() {
    let site = Site::new("slow-address");
    let (address, _keep_slow) = site.serve(Fake { is_silent: true, ..Fake::default() });
    let port = port_of(&address);
    let (_, _keep) =
        site.serve_at(Fake { window: 7, ..Fake::default() }, &format!("127.0.0.2:{port}"));
    let names = Arc::new(Names::default());
    *names.hosts.lock().unwrap() = vec![("a.example", "127.0.0.1"), ("a.example", "127.0.0.2")];
    let (client, events) = client(named(&site, &format!("a.example:{port}"), &names));
    assert_eq!(first(&events, connected), format!("a.example:{port} (127.0.0.1)"));
    client.ask(question());
    assert_eq!(first(&events, connected), format!("a.example:{port} (127.0.0.2)"));
    client.ask(question());
    assert_eq!(first(&events, window), 7);
}

#[test]
fn all_addresses_of_a_name_are_tried() {
    let site = Site::new("several");
    let (address, _keep) = site.serve(Fake::default());
    let port = port_of(&address);
    let names = Arc::new(Names::default());
    // Nothing listens at the first address.
    *names.hosts.lock().unwrap() = vec![("a.example", "127.0.0.3"), ("a.example", "127.0.0.1")];
    let (_client, events) = client(named(&site, &format!("a.example:{port}"), &names));
    assert_eq!(first(&events, connected), format!("a.example:{port} (127.0.0.1)"));
}

/// The server with the lowest priority comes first; if it ends, the other one.
#[test]
fn servers_of_a_service_are_found_and_replaced() {
    let site = Site::new("service");
    let (one, keep_one) = site.serve(Fake::default());
    let (two, _keep_two) = site.serve(Fake::default());
    let names = Arc::new(Names::default());
    *names.hosts.lock().unwrap() = vec![("a.example", "127.0.0.1"), ("b.example", "127.0.0.1")];
    let server = |priority, host: &str, address: &str| ServiceRecord {
        priority,
        weight: 1,
        port: port_of(address),
        host: host.to_owned(),
    };
    *names.services.lock().unwrap() =
        vec![server(20, "b.example", &two), server(10, "a.example", &one)];
    let (client, events) = client(named(&site, SERVICE, &names));
    assert_eq!(first(&events, connected), format!("a.example:{} (127.0.0.1)", port_of(&one)));
    drop(keep_one);
    assert_eq!(first(&events, connected), format!("b.example:{} (127.0.0.1)", port_of(&two)));
    until("it is shown", || client.status().gateway.is_some());
}
