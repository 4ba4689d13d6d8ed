//! Certificates that an operator renews while the client is connected.

use crate::names::{Names, named, port_of};
use crate::{Fake, SignedPem, Site, client, connected, first, question, until};
use gateway_client::{SiteClient, SiteEvent};
use gateway_proto::v1::Report;
use std::collections::BTreeSet;
use std::fs;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Asks and reports every few milliseconds until `is_over`; returns the number of both.
fn keep_asking(client: &SiteClient<()>, is_over: impl Fn() -> bool) -> u64 {
    let mut asked = 0;
    until("the load is over", || {
        client.ask(question());
        client.report(Report { window: 5, ..Report::default() });
        asked += 1;
        is_over()
    });
    asked
}

/// The certificate is replaced three times under load. Each time another connection has the new
/// one, and each question has an answer. A report that both connections have carried has the same
/// number twice, and a gateway counts it once.
#[test]
fn a_renewed_certificate_is_used_without_a_lost_question_or_report() {
    let site = Site::new("renewed");
    let fake = Fake { window: 7, ..Fake::default() };
    let (gateway, _runs) = site.serve(fake.clone());
    let (client, events) = client(site.config(&[gateway]));
    first(&events, connected);
    let shown = || fake.shown.lock().unwrap().len();
    let mut asked = 0;
    for certificates in 2..=4 {
        site.renew();
        asked += keep_asking(&client, || shown() == certificates);
    }
    asked += keep_asking(&client, || client.status().in_time > 0);
    assert!(client.flush(Duration::from_secs(30)));
    until("all is answered", || client.status().in_time == asked);
    let status = client.status();
    assert_eq!((status.asked, status.late, status.none), (asked, 0, 0), "{status:?}");
    assert_eq!((status.reports_dropped, status.reports_refused), (0, 0), "{status:?}");
    let batches = fake.batches.lock().unwrap();
    let mut counted = BTreeSet::new();
    let first_time = batches.iter().filter(|batch| counted.insert(batch.sequence));
    assert_eq!(first_time.map(|batch| batch.reports.len() as u64).sum::<u64>(), asked);
    assert_eq!(fake.shown.lock().unwrap().iter().collect::<BTreeSet<_>>().len(), 4);
    let lost = events.try_iter().find(|event| matches!(event, SiteEvent::Lost(_)));
    assert_eq!(lost, None);
}

fn not_renewed(events: &Receiver<SiteEvent<()>>) -> String {
    first(events, |event| match event {
        SiteEvent::NotRenewed(why) => Some(why),
        SiteEvent::Lost(why) => panic!("{why}"),
        _ => None,
    })
}

/// A missing key is an event once, at the second of the looks every three seconds. So is the key of
/// another certificate, and another authority. Meanwhile the connection lives. Good files end this.
#[test]
fn renewed_files_with_a_fault_leave_the_connection_and_are_reported_once() {
    let (site, other) = (Site::new("fault"), Site::new("fault-other"));
    let (address, _runs) = site.serve(Fake { window: 7, ..Fake::default() });
    let names = Arc::new(Names::default());
    *names.hosts.lock().unwrap() = vec![("a.example", "127.0.0.1")];
    let entry = format!("a.example:{}", port_of(&address));
    let (client, events) = client(named(&site, &entry, &names));
    first(&events, connected);
    let key = site.file("key");
    fs::rename(&key, key.with_extension("away")).unwrap();
    let why = not_renewed(&events);
    assert!(why.starts_with("cannot read") && why.contains("/key: "), "{why}");
    site.write("key", &SignedPem::new(&site.ca, &["agent"]).key);
    let why = not_renewed(&events);
    assert!(why.contains("/key (gateway-key) is not the key of"), "{why}");
    names.wait_for_lookups(2);
    assert_eq!(events.try_iter().collect::<Vec<_>>(), []);
    site.write("ca", &other.ca.pem());
    site.renew();
    let why = not_renewed(&events);
    assert!(why.contains("is not of the authority in") && why.contains("/ca"), "{why}");
    client.ask(question());
    until("it is answered", || client.status().in_time == 1);
    site.write("ca", &site.ca.pem());
    assert_eq!(first(&events, connected), format!("{entry} (127.0.0.1)"));
}

/// An observer's connection is replaced as an agent's is.
#[test]
fn an_observer_uses_a_renewed_certificate() {
    let site = Site::new("observer-renewed");
    let fake = Fake { is_for_observers: true, ..Fake::default() };
    let (gateway, _runs) = site.serve(fake.clone());
    let (tell, events) = mpsc::channel();
    let hear = move |event| drop(tell.send(event));
    let client = SiteClient::observe(site.config(&[gateway]), hear).unwrap();
    first(&events, connected);
    site.renew();
    first(&events, |event| match event {
        SiteEvent::Lost(why) => panic!("{why}"),
        event => connected(event),
    });
    client.report(Report { window: 5, ..Report::default() });
    assert!(client.flush(Duration::from_secs(30)));
    assert_eq!(fake.batches.lock().unwrap().len(), 1);
}
