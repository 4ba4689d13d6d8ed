//! The objects of a load in detail: a page worked out by hand, and properties of every load.

use crate::limit::{any_page, any_path};
use crate::plain::{OPTIONS, plain_race, schemes};
use proptest::prelude::*;
use race::{BASELINE, LoadDetail, Race, RaceResult, VisitKind, Visits, World};
use units::Duration;
use workload::{Discovery, HostId, Http, Object, ObjectId, ObjectKind, Page, PageHost, Tls};

/// The first load by `linux` of the visits of a kind.
fn detail(race: &Race, kind: VisitKind) -> LoadDetail {
    let result = RaceResult::new(race, &race.run(OPTIONS));
    let row = result.row(BASELINE, World::Sim, kind).expect("a row");
    row.first_load.clone().expect("a load that was watched")
}

fn ms(time: Duration) -> u64 {
    (time.as_secs_f64() * 1e3).round() as u64
}

/// A document, a script of another host that is worked out for 30 ms, and a picture of the first
/// host that comes over the open connection. Each is one segment, over a round trip of 40 ms.
fn page() -> Page {
    let host = |name: &str| PageHost { tls: Tls::Tls13, ..PageHost::plain(name, Http::Http2) };
    let revealed = |delay| Discovery::InBody {
        parent: ObjectId(0),
        offset: 1000,
        delay: Duration::from_millis(delay),
    };
    let object = |host, server_wait_ms, discovery| Object {
        host: HostId(host),
        server_wait: Duration::from_millis(server_wait_ms),
        discovery,
        ..Object::plain("object", ObjectKind::Html, 1000)
    };
    let objects = vec![
        object(0, 5, Discovery::AtStart),
        object(1, 7, revealed(30)),
        object(0, 0, revealed(0)),
    ];
    Page::new("page", vec![host("a"), host("b")], objects).expect("a page")
}

/// TCP's and TLS's handshakes, and an exchange with 5 ms of the server, end at 125 ms.
#[test]
fn times_and_phases_by_hand() {
    let race = plain_race(&page(), "1gbit,40ms,inf".parse().unwrap(), schemes(&[BASELINE]));
    let detail = detail(&race, VisitKind::First);
    let times = |at: usize| {
        let one = &detail.objects[at];
        [one.discovered, one.requested, one.first_byte, one.done].map(|time| ms(time.unwrap()))
    };
    let phases = |at: usize| detail.objects[at].phases.unwrap().named().map(|(_, time)| ms(time));
    assert_eq!((times(0), phases(0)), ([0, 80, 125, 125], [0, 0, 0, 40, 40, 40, 5, 0]));
    assert_eq!((times(1), phases(1)), ([155, 235, 282, 282], [30, 0, 0, 40, 40, 40, 7, 0]));
    // The picture waits for no handshake.
    assert_eq!((times(2), phases(2)), ([125, 125, 165, 165], [0, 0, 0, 0, 0, 40, 0, 0]));
    let carried: Vec<_> = detail.objects.iter().map(|one| one.connection.unwrap().0).collect();
    assert_eq!(carried, [0, 1, 0]);
    let opened = |at: usize| {
        let one = &detail.connections[at];
        let times = [one.opened, one.connected, one.ready].map(|time| ms(time.unwrap()));
        (one.host.as_str(), times)
    };
    assert_eq!(opened(0), ("a", [0, 40, 80]));
    assert_eq!(opened(1), ("b", [155, 195, 235]));
    assert_eq!(detail.connections.len(), 2);
}

/// A repeated visit finds both connections open.
#[test]
fn connections_of_visits_before_have_no_times() {
    let race = plain_race(&page(), "1gbit,40ms,inf".parse().unwrap(), schemes(&[BASELINE]));
    let visits = Visits { count: 2, ..Visits::default() };
    let detail = detail(&Race { visits, ..race }, VisitKind::Repeated);
    for connection in &detail.connections {
        let times = [connection.opened, connection.connected, connection.ready];
        assert_eq!(times, [None; 3]);
    }
    let document = &detail.objects[0];
    assert_eq!((ms(document.done.unwrap()), document.requested), (45, Some(Duration::ZERO)));
}

/// Only the first repeat is kept.
#[test]
fn later_repeats_keep_no_detail() {
    let race = plain_race(&page(), "1gbit,40ms,inf".parse().unwrap(), schemes(&[BASELINE]));
    let outcome = Race { repeats: 3, ..race }.run(OPTIONS);
    let kept = outcome.contestants[0].turns.iter().map(|turn| turn.visits[0].detail.is_some());
    assert_eq!(kept.collect::<Vec<_>>(), [true, false, false]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The phases of an object fill the time from its parent's byte to its own last byte.
    #[test]
    fn phases_add_up(page in any_page(), path in any_path()) {
        let detail = detail(&plain_race(&page, path, schemes(&[BASELINE])), VisitKind::First);
        prop_assert_eq!(detail.objects.len(), page.objects().len());
        for (object, own) in page.objects().iter().zip(&detail.objects) {
            let Some((phases, done)) = own.phases.zip(own.done) else { continue };
            let discovered = own.discovered.expect("it was");
            let revealed = done.saturating_sub(phases.total());
            prop_assert_eq!(revealed + phases.client, discovered);
            if let Discovery::InBody { parent, .. } = object.discovery {
                let parent = &detail.objects[parent.index()];
                prop_assert!(revealed >= parent.first_byte.expect("it revealed one"));
            }
        }
    }
}
