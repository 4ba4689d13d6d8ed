//! Hosts that are nearer or farther than the path says.

use crate::plain::{OPTIONS, plain_race, schemes};
use link::path::PathSpec;
use race::{Bound, Hosts, MeasuredLoad, Race, RaceOutcome};
use units::Duration;
use workload::{Discovery, HostId, Http, Object, ObjectId, ObjectKind, Page, PageHost, Tls};

const SCHEMES: [&str; 3] = ["linux", "linux+iw=4+rwnd=20kB", "newreno"];

/// An object of a host that thinks for 9 ms, and a second one that it reveals.
fn page(rtt_ms: Option<u64>) -> Page {
    let first = Object {
        server_wait: Duration::from_millis(9),
        ..Object::plain("first", ObjectKind::Html, 90_000)
    };
    let discovery =
        Discovery::InBody { parent: ObjectId(0), offset: 40_000, delay: Duration::from_millis(3) };
    let second = Object { discovery, ..Object::plain("second", ObjectKind::Image, 60_000) };
    let host = PageHost { tls: Tls::Tls13, ..PageHost::plain("a", Http::Http11) };
    let page = Page::new("page", vec![host], vec![first, second]).expect("a page");
    page.with_hosts(|_, host| host.rtt = rtt_ms.map(Duration::from_millis))
}

fn outcome(page: &Page, path: &str) -> RaceOutcome {
    plain_race(page, path.parse().expect("a path"), schemes(&SCHEMES)).run(OPTIONS)
}

/// Times, counts and critical path of a load.
fn seen(load: &MeasuredLoad) -> impl PartialEq + std::fmt::Debug {
    let counts = (load.retransmitted, load.dropped, load.timeouts, load.sent);
    (load.times, load.objects.clone(), counts, load.critical.clone())
}

/// A host at 80 ms has the same times, losses and critical path if a part of its delay is on a link
/// of its own. The access link is as busy, and the server thinks as long. A packet is dropped later
/// after it was sent, and its repair begins then: `recovery` is shorter, and `cwnd` longer.
#[test]
fn a_delay_has_the_same_effect_on_either_link() {
    for queue in ["100p", "5p"] {
        let path = |rtt: u64| format!("8mbit,{rtt}ms,{queue},up=2mbit");
        let there = outcome(&page(None), &path(80));
        for nearer_or_farther in [20, 200] {
            let own = outcome(&page(Some(80)), &path(nearer_or_farther));
            assert_eq!(own.limit, there.limit);
            assert_eq!(own.limit_without_handshake, there.limit_without_handshake);
            for (own, there) in own.contestants.iter().zip(&there.contestants) {
                let [own, there] = [own, there].map(|one| &one.turns[0].visits[0]);
                assert_eq!(seen(own), seen(there), "{queue} over {nearer_or_farther} ms");
                let [own, there] = [own, there].map(|one| one.bounds.expect("an account"));
                assert!(own.get(Bound::Recovery) <= there.get(Bound::Recovery) + 1e-9);
                for cause in [Bound::Path, Bound::Server] {
                    let [own, there] = [own, there].map(|shares| shares.get(cause));
                    assert!((own - there).abs() < 0.04, "{queue}, {cause:?}: {own} and {there}");
                }
            }
        }
    }
}

/// Two objects of a segment each. The handshake and the exchange with the far host take 200 ms each
/// in place of 40.
#[test]
fn each_host_has_its_own_round_trip() {
    let hosts = ["near", "far"].map(|name| PageHost::plain(name, Http::Http11)).to_vec();
    let object = |n| Object { host: HostId(n), ..Object::plain("object", ObjectKind::Html, 1000) };
    let page = Page::new("two", hosts, vec![object(0), object(1)]).expect("a page");
    let far = page.with_hosts(|id, host| {
        host.rtt = (id == HostId(1)).then(|| Duration::from_millis(200));
    });
    let outcome = outcome(&far, "1gbit,40ms,inf");
    let load = &outcome.contestants[0].turns[0].visits[0];
    let ms = |time: Duration| (time.as_secs_f64() * 1e3).round() as u64;
    let done: Vec<u64> = load.objects.iter().map(|done| ms(done.expect("it came"))).collect();
    assert_eq!(done, [80, 400]);
    let limits: Vec<u64> = outcome.limit.objects.iter().map(|one| ms(one.done)).collect();
    assert_eq!((limits, ms(outcome.limit.page)), (vec![80, 400], 400));
}

/// Perfect start keeps the link full to the farthest host, and downloads are as far as the path.
#[test]
fn perfect_start_and_downloads_know_the_distances() {
    let path: PathSpec = "20mbit,20ms,100p".parse().expect("a path");
    let big = Page::single(2_000_000).with_hosts(|_, host| {
        host.rtt = Some(Duration::from_millis(300));
    });
    let race = plain_race(&big, path, schemes(&["linux"]));
    let client = Some(schemes(&["linux+rwnd=6MB"]).remove(0));
    let race = Race { client, ..race };
    let perfect = race.perfect_start(OPTIONS).turns[0].visits[0].page.expect("it ended");
    let limit = race.run(OPTIONS).limit.page;
    assert!(perfect.as_secs_f64() < 1.05 * limit.as_secs_f64(), "{perfect} and {limit}");
    let near = big.with_hosts(|_, host| host.rtt = Some(Duration::from_millis(4)));
    let beside = Race { background: 1, ..plain_race(&near, path, schemes(&["linux"])) };
    let load = beside.run(OPTIONS).contestants[0].turns[0].visits[0].clone();
    assert_eq!((load.harm, load.background_bytes > 0), (Some(0.0), true));
}

/// If one server has all hosts, it is at the end of the path.
#[test]
fn hosts_together_have_the_round_trip_of_the_path() {
    let path: PathSpec = "8mbit,80ms,100p".parse().expect("a path");
    let run = |page: &Page| {
        let race = plain_race(page, path, schemes(&["linux"]));
        let outcome = Race { hosts: Hosts::Together, ..race }.run(OPTIONS);
        (outcome.limit.page, outcome.contestants[0].turns[0].visits[0].page)
    };
    assert_eq!(run(&page(Some(400))), run(&page(None)));
}
