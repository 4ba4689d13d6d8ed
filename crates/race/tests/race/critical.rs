//! The critical path: a chain worked out by hand, and properties of every load.

use crate::limit::{any_page, any_path};
use crate::plain::{OPTIONS, plain_race, schemes};
use link::path::PathSpec;
use proptest::prelude::*;
use race::{CriticalCause, CriticalObject, MeasuredLoad, Race};
use units::Duration;
use workload::{
    Discovery, HostId, Http, LoaderConfig, Object, ObjectId, ObjectKind, Page, PageHost, Tls,
};

fn load(page: &Page, path: PathSpec) -> MeasuredLoad {
    first_load(&plain_race(page, path, schemes(&["linux"])))
}

fn first_load(race: &Race) -> MeasuredLoad {
    race.run(OPTIONS).contestants[0].turns[0].visits[0].clone()
}

fn object(server_wait_ms: u64, host: u32, discovery: Discovery) -> Object {
    Object {
        server_wait: Duration::from_millis(server_wait_ms),
        host: HostId(host),
        discovery,
        ..Object::plain("object", ObjectKind::Html, 1000)
    }
}

fn revealed_by(parent: u32, delay_ms: u64) -> Discovery {
    let delay = Duration::from_millis(delay_ms);
    Discovery::InBody { parent: ObjectId(parent), offset: 1000, delay }
}

/// In milliseconds, to the nearest: client, waiting, DNS, TCP, TLS, trip, server and receiving.
fn phases(object: &CriticalObject) -> [u64; 8] {
    object.phases.named().map(|(_, phase)| (phase.as_secs_f64() * 1e3).round() as u64)
}

/// A fast link with a round trip of 40 ms. Each object is one segment, so its first byte is its
/// last. The document takes TCP's handshake, TLS's, and a round trip with 5 ms of its server. The
/// script on another host is worked out for 30 ms and opens a connection of its own. A picture is
/// revealed with the script, ends earlier, and is on no path.
#[test]
fn each_object_waits_for_the_one_that_revealed_it() {
    let host = |name: &str| PageHost { tls: Tls::Tls13, ..PageHost::plain(name, Http::Http2) };
    let objects = vec![
        object(5, 0, Discovery::AtStart),
        object(7, 1, revealed_by(0, 30)),
        object(0, 0, revealed_by(0, 0)),
        object(11, 1, revealed_by(1, 0)),
    ];
    let page = Page::new("chain", vec![host("a"), host("b")], objects).unwrap();
    let load = load(&page, "1gbit,40ms,inf".parse().unwrap());
    let path: Vec<_> = load.critical.iter().map(|one| (one.object.0, one.after)).collect();
    let start = (0, CriticalCause::Start);
    assert_eq!(path, [start, (1, CriticalCause::Discovery), (3, CriticalCause::Discovery)]);
    assert_eq!(phases(&load.critical[0]), [0, 0, 0, 40, 40, 40, 5, 0]);
    assert_eq!(phases(&load.critical[1]), [30, 0, 0, 40, 40, 40, 7, 0]);
    assert_eq!(phases(&load.critical[2]), [0, 0, 0, 0, 0, 40, 11, 0]);
    assert_eq!((load.critical[1].connection.0, load.critical[2].connection.0), (1, 1));
    assert_eq!(load.critical[1].from.as_nanos() / 1_000_000, 125);
}

/// Two objects share the only connection: the second waits for the first, which holds it. The page
/// ends with the event that waits for these two; an object after it is on no path.
#[test]
fn an_object_waits_for_the_one_that_holds_its_connection() {
    let host = PageHost::plain("a", Http::Http11);
    let objects = vec![
        object(5, 0, Discovery::AtStart),
        object(9, 0, Discovery::AtStart),
        object(100, 0, Discovery::AtStart),
    ];
    let page = Page::new("queue", vec![host], objects).unwrap();
    let load = workload::PageMilestone::Load;
    let page = page.with_event(load, [ObjectId(0), ObjectId(1)]).measured_until(load);
    let race = |page: &Page| {
        let loader = LoaderConfig { connections: Some(1), ..LoaderConfig::default() };
        let race = plain_race(page, "1gbit,40ms,inf".parse().unwrap(), schemes(&["linux"]));
        first_load(&Race { loader, ..race })
    };
    let critical = race(&page).critical;
    let path: Vec<_> = critical.iter().map(|one| (one.object.0, one.after)).collect();
    assert_eq!(path, [(0, CriticalCause::Start), (1, CriticalCause::Connection)]);
    assert_eq!(phases(&critical[0]), [0, 0, 0, 40, 0, 40, 5, 0]);
    assert_eq!(phases(&critical[1]), [0, 0, 0, 0, 0, 40, 9, 0]);
    let whole = race(&page.measured_until(workload::PageMilestone::LastByte)).critical;
    assert_eq!(whole.last().map(|one| one.object.0), Some(2));
}

/// Eight objects of a host over HTTP/1.1 open six connections. The first six objects wait for a
/// handshake of 40 ms. The other two wait for a connection until one of these objects is complete,
/// after a handshake and a round trip.
#[test]
fn only_the_first_objects_of_a_connection_wait_for_its_handshake() {
    let objects = (0..8).map(|_| object(0, 0, Discovery::AtStart)).collect();
    let page = Page::new("wide", vec![PageHost::plain("a", Http::Http11)], objects).unwrap();
    let load = load(&page, "1gbit,40ms,inf".parse().unwrap());
    let detail = load.detail.expect("a load that was watched");
    assert_eq!(detail.connections.len(), 6);
    let waits = |id: usize| {
        let phases = detail.objects[id].phases.expect("an object that came");
        let ms = |time: Duration| (time.as_secs_f64() * 1e3).round() as u64;
        (ms(phases.waiting), ms(phases.tcp))
    };
    let expected = [(0, 40); 6].into_iter().chain([(80, 0); 2]);
    assert_eq!((0..8).map(waits).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Each moment of a load is in one phase of one object, for any page and path.
    #[test]
    fn the_phases_add_up_to_the_time_of_the_load(page in any_page(), path in any_path()) {
        let load = load(&page, path);
        let Some(time) = load.page else { return Ok(()) };
        let sum = load.critical.iter().map(|one| one.phases.total());
        let sum = sum.fold(Duration::ZERO, |sum, one| sum + one);
        prop_assert_eq!(sum, time);
        let mut from = Duration::ZERO;
        for one in &load.critical {
            prop_assert_eq!(one.from, from);
            from += one.phases.total();
        }
    }
}
