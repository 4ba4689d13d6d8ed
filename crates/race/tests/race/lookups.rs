//! Name lookups as a part of loads.

use crate::plain::{OPTIONS, plain_race, schemes};
use race::{BASELINE, Bound, MeasuredLoad, Race, RaceResult, VisitKind, Visits, World};
use units::Duration;
use workload::{Discovery, HostId, Http, Object, ObjectId, ObjectKind, Page, PageHost};

/// A document, and a picture of another host that the document reveals. Lookups take 25 ms.
fn page() -> Page {
    let hosts = ["a.example", "b.example"].map(|name| PageHost::plain(name, Http::Http11)).to_vec();
    let discovery = Discovery::InBody { parent: ObjectId(0), offset: 1000, delay: Duration::ZERO };
    let image = Object::plain("image", ObjectKind::Image, 1000);
    let objects = vec![
        Object::plain("document", ObjectKind::Html, 1000),
        Object { host: HostId(1), discovery, ..image },
    ];
    let page = Page::new("page", hosts, objects).expect("a page");
    page.with_hosts(|_, host| host.lookup = Some(Duration::from_millis(25)))
}

fn race(page: &Page, visits: Visits) -> Race {
    Race { visits, ..plain_race(page, "1gbit,40ms,inf".parse().unwrap(), schemes(&[BASELINE])) }
}

fn ms(time: Duration) -> u64 {
    (time.as_secs_f64() * 1e3).round() as u64
}

fn done(load: &MeasuredLoad) -> Vec<u64> {
    load.objects.iter().map(|done| ms(done.expect("it came"))).collect()
}

/// Each object has a lookup of 25 ms, a handshake and an exchange of 40 ms. Lookups have 50 of
/// 210 ms.
#[test]
fn each_name_is_looked_up_before_its_connection() {
    let race = race(&page(), Visits::default());
    let outcome = race.run(OPTIONS);
    let load = &outcome.contestants[0].turns[0].visits[0];
    assert_eq!(done(load), [105, 210]);
    assert_eq!(ms(outcome.limit.page), 210);
    let shares = load.bounds.expect("an account");
    assert!((shares.get(Bound::Dns) - 50.0 / 210.0).abs() < 1e-3, "{shares:?}");
    assert_eq!(shares.get(Bound::Client), 0.0);
    let phases = |phases: race::CriticalPhases| phases.named().map(|(_, time)| ms(time));
    for critical in &load.critical {
        assert_eq!(phases(critical.phases), [0, 0, 25, 40, 0, 40, 0, 0]);
    }
    let result = RaceResult::new(&race, &outcome);
    let row = result.row(BASELINE, World::Sim, VisitKind::First).expect("a row");
    let detail = row.first_load.as_ref().expect("a load");
    assert_eq!(phases(detail.objects[1].phases.expect("it came"))[2], 25);
    let image = &detail.connections[1];
    let times = [image.lookup, image.opened, image.connected].map(|time| ms(time.expect("a time")));
    assert_eq!(times, [105, 130, 170]);
}

/// Connections of a repeated visit are kept or its own; its names are known.
#[test]
fn a_repeated_visit_looks_nothing_up() {
    for (reconnects, site, expected) in
        [(false, 1, [40, 80]), (true, 1, [80, 160]), (false, 2, [80, 160])]
    {
        let idle = Duration::from_secs(1);
        let visits = Visits { count: 2, reconnects, site, idle, ..Visits::default() };
        let outcome = race(&page(), visits).run(OPTIONS);
        let visits = &outcome.contestants[0].turns[0].visits;
        assert_eq!((done(&visits[0]), done(&visits[1])), (vec![105, 210], expected.to_vec()));
        assert!(ms(outcome.limit_again.page) <= expected[1]);
        assert_eq!(visits[1].bounds.expect("an account").get(Bound::Dns), 0.0);
    }
}

/// The two hosts have one name: the picture waits for no lookup.
#[test]
fn a_name_is_looked_up_once() {
    let page = page().with_hosts(|id, host| host.name = format!("a.example:{}", 80 + id.0));
    let outcome = race(&page, Visits::default()).run(OPTIONS);
    let load = &outcome.contestants[0].turns[0].visits[0];
    assert_eq!((done(load), ms(outcome.limit.page)), (vec![105, 185], 185));
}
