//! Perfect start: between the limit and every scheme that knows nothing of the path.

use crate::limit::{any_page, any_path};
use crate::plain::{OPTIONS, plain_race, schemes};
use link::path::PathSpec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use race::Race;
use tcp::Scheme;
use units::Duration;
use workload::{HostId, Http, Object, ObjectKind, Page, PageHost};

fn race(page: &Page, path: PathSpec, names: &[&str]) -> Race {
    Race { seed: 7, ..plain_race(page, path, schemes(names)) }
}

fn first_load(race: &Race) -> Duration {
    race.perfect_start(OPTIONS).turns[0].visits[0].page.expect("it ends")
}

/// 300 kB over 20 Mbit/s and 80 ms: two round trips until the first byte, then the link is full, as
/// in the limit. The rest is the handshake's ACK and the options of segments.
#[test]
fn one_object_takes_as_long_as_the_link_needs() {
    for queue in ["100p", "5p", "inf"] {
        for loss in ["0", "0.05"] {
            let path = format!("20mbit,80ms,{queue},loss={loss}").parse().unwrap();
            let race = race(&Page::single(300_000), path, &["linux+rwnd=1MB"]);
            // The client's window is that of Linux unless a client is named, so name a wide one.
            let race = Race { client: Some(Scheme::parse("linux+rwnd=1MB").unwrap()), ..race };
            let (least, time) = (race.run(OPTIONS).limit.page, first_load(&race));
            let over = time.as_nanos() as f64 / least.as_nanos() as f64;
            assert!((1.0..1.02).contains(&over), "{queue}, {loss}: {time}, limit {least}");
        }
    }
}

/// Two objects of 150 kB from two servers share the link: each is complete at the end of both.
#[test]
fn transfers_share_the_link() {
    let path: PathSpec = "20mbit,80ms,50p".parse().unwrap();
    let hosts = ["a", "b"].map(|name| PageHost::plain(name, Http::Http11));
    let objects = [0, 1].map(|host| Object {
        host: HostId(host),
        ..Object::plain("object", ObjectKind::Image, 150_000)
    });
    let page = Page::new("two", hosts.into(), objects.into()).unwrap();
    let load = &race(&page, path, &["linux"]).perfect_start(OPTIONS).turns[0].visits[0];
    let times: Vec<Duration> = load.objects.iter().map(|time| time.expect("it ends")).collect();
    // Two packets of 1514 bytes and their headers apart at most: 600 us each.
    let apart = times[0].as_nanos().abs_diff(times[1].as_nanos());
    assert!(apart < 2_000_000, "{times:?}");
    assert_eq!((load.retransmitted, load.dropped), (Some(0), 0));
}

/// Six connections carry two images of 20 kB each. At equal shares all first images would end at
/// the same instant. The second ones would take a round trip and six images' time on the link, 30
/// ms. One after another, the last connection's second image ends a round trip and one image's
/// time after its first. The image takes 1.7 ms: 14 packets of at most 1514 bytes at 100 Mbit/s.
#[test]
fn connections_of_a_browser_take_the_link_in_turn_if_that_is_faster() {
    let path: PathSpec = "100mbit,20ms,100p".parse().unwrap();
    let time_of = |images: usize| {
        let hosts = vec![PageHost::plain("a", Http::Http11)];
        let images = vec![Object::plain("image", ObjectKind::Image, 20_000); images];
        first_load(&race(&Page::new("images", hosts, images).unwrap(), path, &["linux"]))
    };
    let longer = (time_of(12) - time_of(6)).as_secs_f64();
    assert!((0.0216..0.0225).contains(&longer), "{longer}");
}

/// The client offers 64 kB at first and more a round trip later. So 300 kB need three flights, and
/// the last one begins at 4 round trips of 104 ms, 416 ms. The link needs 48 ms for all of them.
#[test]
fn the_client_is_that_of_any_contestant() {
    let path = "50mbit,104ms,200p".parse().unwrap();
    let time = first_load(&race(&Page::single(300_000), path, &["linux"]));
    assert!((0.416..0.464).contains(&time.as_secs_f64()), "{time}");
}

/// Random pages over random paths, whose ACKs have room: perfect start is never faster than the
/// limit, and hardly ever slower than a scheme that begins without knowledge. Transfers that share
/// the link in another order can be luckier: 0.4 % of these loads are faster by more than 2 %, and
/// 0.2 % by more than 5 %.
#[test]
fn no_scheme_without_knowledge_is_much_faster() {
    let schemes = ["linux", "linux+iw=32", "linux-bbr", "hs-cubic", "jump-start"];
    let generator = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), generator);
    let mut faster: Vec<f64> = Vec::new();
    for _ in 0..700 {
        let page = any_page().new_tree(&mut runner).expect("a page").current();
        let path = any_path().new_tree(&mut runner).expect("a path").current();
        if path.down().as_bps() > 50 * path.up().as_bps() {
            continue;
        }
        let race = race(&page, path, &schemes);
        let outcome = race.run(OPTIONS);
        let perfect = first_load(&race);
        assert!(perfect >= outcome.limit.page, "{path}: {perfect} before {}", outcome.limit.page);
        let loads = outcome.contestants.iter().flat_map(|one| &one.turns[0].visits);
        let times = loads.filter_map(|load| load.page);
        faster.extend(times.map(|time| 1.0 - time.as_nanos() as f64 / perfect.as_nanos() as f64));
    }
    let share_above = |gain: f64| {
        faster.iter().filter(|faster| **faster > gain).count() as f64 / faster.len() as f64
    };
    assert!(faster.len() > 2000, "{}", faster.len());
    let shares = [0.02, 0.05, 0.2].map(share_above);
    assert!(shares[0] < 0.005 && shares[1] < 0.003 && shares[2] == 0.0, "{shares:?}");
}
