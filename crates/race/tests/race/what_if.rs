//! Gains from changes of path, servers and browser, derived by hand.

use crate::plain::{OPTIONS, plain_race, schemes};
use link::path::PathSpec;
use race::{Change, ChangeResult, Race, World};
use units::Duration;
use workload::{Discovery, HostId, Http, Object, ObjectId, ObjectKind, Page, PageHost};

const THINKS: Duration = Duration::from_millis(60);
const WORKS: Duration = Duration::from_millis(40);

/// A document, and an image that the browser asks for some time after it. Both are smaller than a
/// packet. So the handshake takes a round trip, and each of them one.
fn page() -> Page {
    let document =
        Object { server_wait: THINKS, ..Object::plain("document", ObjectKind::Html, 500) };
    let image = Object {
        host: HostId(0),
        discovery: Discovery::InBody { parent: ObjectId::ROOT, offset: 500, delay: WORKS },
        ..Object::plain("image", ObjectKind::Image, 500)
    };
    let hosts = vec![PageHost::plain("a", Http::Http11)];
    Page::new("page", hosts, vec![document, image]).unwrap()
}

fn race(page: &Page, path: PathSpec) -> Race {
    plain_race(page, path, schemes(&["linux"]))
}

fn what_if(race: &Race) -> Vec<ChangeResult> {
    race.what_if(race.run(OPTIONS).baseline(World::Sim).unwrap(), OPTIONS)
}

fn seconds(results: &[ChangeResult], change: Change) -> f64 {
    let result = results.iter().find(|result| result.change == change);
    result.and_then(|result| result.page_s).unwrap().median
}

/// Three round trips of 100 ms, 60 ms of the server and 40 ms of the browser take 400 ms. Requests
/// and answers take 0.8 ms on a link of 20 Mbit/s.
#[test]
fn each_change_takes_its_own_time_away() {
    let race = race(&page(), "20mbit,100ms,100p".parse().unwrap());
    let results = what_if(&race);
    let changes = [
        (Change::TwiceTheRate, 0.4),
        (Change::HalfTheRoundTrip, 0.25),
        (Change::InstantServers, 0.34),
        (Change::InstantBrowser, 0.36),
    ];
    assert_eq!(results.len(), changes.len(), "{results:?}");
    for (change, expected) in changes {
        let time = seconds(&results, change);
        assert!((expected..expected + 0.001).contains(&time), "{change:?}: {time}");
    }
    // 150 of 400.8 ms.
    let gain = results[1].gain.unwrap().median;
    assert!((0.373..0.376).contains(&gain), "{gain}");
}

/// 250 kB at 2 Mbit/s take a second, and half of it at 4 Mbit/s.
#[test]
fn a_long_object_gains_from_the_rate() {
    let path = "2mbit,10ms,100p".parse().unwrap();
    let results = what_if(&race(&Page::single(250_000), path));
    let time = seconds(&results, Change::TwiceTheRate);
    assert!((0.5..0.56).contains(&time), "{time}");
    let changes: Vec<Change> = results.iter().map(|result| result.change).collect();
    assert_eq!(changes, [Change::TwiceTheRate, Change::HalfTheRoundTrip]);
}

/// A path that loses a packet in ten takes longer than one that loses none.
#[test]
fn only_a_path_with_random_loss_can_be_without_it() {
    let lossy: PathSpec = "20mbit,100ms,100p,loss=0.1".parse().unwrap();
    let lossless: PathSpec = "20mbit,100ms,100p".parse().unwrap();
    let page = Page::single(100_000);
    let results = what_if(&Race { repeats: 5, ..race(&page, lossy) });
    let without = results.iter().find(|result| result.change == Change::NoLoss).unwrap();
    let clean = race(&page, lossless).run(OPTIONS).contestants[0].turns[0].visits[0].page;
    assert_eq!(without.page_s.unwrap().median, clean.unwrap().as_secs_f64());
    assert!(without.gain.unwrap().median > 0.1, "{without:?}");
}

/// A queue of one bandwidth-delay product is one byte over 8 Mbit/s and a microsecond. Half of the
/// round trip would leave a queue of none, so the change is left out.
#[test]
fn a_queue_that_would_hold_nothing_is_no_change() {
    let race = race(&page(), "8mbit,1us,1bdp".parse().unwrap());
    assert!(what_if(&race).iter().all(|result| result.change != Change::HalfTheRoundTrip));
}

/// Downloads in the background cost no further loads: harm is not judged.
#[test]
fn each_change_is_loaded_once_a_repeat() {
    let race =
        Race { background: 1, repeats: 2, ..race(&page(), "20mbit,40ms,50p".parse().unwrap()) };
    assert_eq!(loads_of(&race), race.what_if_count());
}

/// Calls of `on_run`.
fn loads_of(race: &Race) -> u64 {
    let calls = std::sync::atomic::AtomicU64::new(0);
    let count = || {
        calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let outcome = race.run(OPTIONS);
    let options = race::RunOptions { on_run: &count, ..OPTIONS };
    race.what_if(outcome.baseline(World::Sim).unwrap(), options);
    calls.into_inner()
}

/// A path whose rate changes keeps its recording.
#[test]
fn recorded_rates_are_not_doubled() {
    let race = race(&page(), "mobile,40ms,100p".parse().unwrap());
    assert!(what_if(&race).iter().all(|result| result.change != Change::TwiceTheRate));
    assert_eq!((loads_of(&race), race.what_if_count()), (3, 3));
}

/// Without the redirect the load saves the round trip of its request, and the time of its server.
/// The handshake remains, since all objects are at one host. Without the image the load ends with
/// the document. The document itself has no such time.
#[test]
fn an_object_of_the_critical_path_costs_its_time() {
    let ms = Duration::from_millis;
    let redirect =
        Object { server_wait: ms(10), ..Object::plain("redirect", ObjectKind::Redirect, 0) };
    let reveal = |parent, offset, delay| Discovery::InBody { parent, offset, delay };
    let document = Object {
        server_wait: THINKS,
        discovery: reveal(ObjectId::ROOT, 0, Duration::ZERO),
        ..Object::plain("document", ObjectKind::Html, 500)
    };
    let image = Object {
        discovery: reveal(ObjectId(1), 500, WORKS),
        ..Object::plain("image", ObjectKind::Image, 500)
    };
    let hosts = vec![PageHost::plain("a", Http::Http11)];
    let page = Page::new("page", hosts, vec![redirect, document, image]).unwrap();
    let race = race(&page, "20mbit,100ms,100p".parse().unwrap());
    let mut path = race::RaceResult::new(&race, &race.run(OPTIONS)).critical.unwrap();
    race.save_without(&mut path, OPTIONS);
    let saved: Vec<Option<u64>> =
        path.objects.iter().map(|one| one.saved_without.map(Duration::as_millis)).collect();
    // A round trip and 10 ms; a round trip and the browser's 40 ms.
    assert_eq!(saved, [Some(110), None, Some(140)]);
    // A round trip, and the time of less than a millisecond for the request and the first byte.
    assert!(path.objects.iter().all(|one| one.queued < ms(1)), "{path:?}");
    assert!(path.objects.iter().all(|one| one.evidence.is_none()));
}
