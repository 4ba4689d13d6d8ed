//! The limit against the simulator: nothing beats it, and a sender that fills the link reaches it.

use crate::plain::{OPTIONS, plain_race, schemes};
use link::path::PathSpec;
use netsim::{Access, Cbr, CbrSpec, Simulation, SimulationConfig};
use proptest::prelude::*;
use race::limit::Limit;
use race::{MeasuredLoad, Race, RaceOutcome, Visits};
use units::{Duration, Instant};
use workload::{
    Discovery, HostId, Http, Object, ObjectId, ObjectKind, Page, PageHost, PageMilestone, Tls,
};

const SCHEMES: [&str; 12] = [
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "phttp",
    "linux",
    "linux+iw=1000+rwnd=6MB",
    "linux+open=data",
    "linux+pacing=on",
    "newreno+iw=500+open=data",
    "newreno+mss=536+timestamps=on",
    "sack+options=free+timestamps=on+rwnd=1MB",
];

fn run(page: &Page, path: PathSpec, names: &[&str]) -> RaceOutcome {
    Race { seed: 7, ..plain_race(page, path, schemes(names)) }.run(OPTIONS)
}

fn host(http: Http, tls: Tls) -> PageHost {
    PageHost { tls, http10_connections: 4, ..PageHost::plain("a.example", http) }
}

fn object(body_bytes: u64, discovery: Discovery) -> Object {
    Object {
        label: String::new(),
        host: HostId(0),
        kind: ObjectKind::Html,
        request_bytes: 300,
        response_header_bytes: 100,
        body_bytes,
        server_wait: Duration::from_millis(5),
        discovery,
    }
}

fn page_of_one(http: Http, tls: Tls) -> Page {
    let one = vec![object(300_000, Discovery::AtStart)];
    Page::new("one", vec![host(http, tls)], one).unwrap()
}

/// Time by which an object of 300 kB exceeds the limit if its sender fills the link at once.
fn gap(http: Http, tls: Tls, scheme: &str) -> Duration {
    let path: PathSpec = "20mbit,80ms,inf".parse().unwrap();
    let outcome = run(&page_of_one(http, tls), path, &[scheme]);
    outcome.contestants[0].turns[0].visits[0].page.unwrap() - outcome.limit.page
}

#[test]
fn a_sender_that_fills_the_link_reaches_it() {
    // The handshake's ACK leaves by itself ahead of the request and takes the 40 bytes of newreno
    // 16 us up the link, the 52 of linux 20.8. Newreno's SYN and SYN-ACK are 4 bytes longer than
    // the limit's, 1.6 us each; linux's 16 bytes, 6.4 us each. Timestamps take 12 bytes of each
    // packet. The 300,100 bytes of linux are 208 packets for the limit's 206, so 80 bytes, 12 for
    // each of 208, and 12 of the request's are added. They take (2 * 40 + 208 * 12) * 0.4 us =
    // 1030.4 us, and 4.8. The allowance for rounding is half a nanosecond for each of 206 packets
    // down and 3 others.
    for http in [Http::Http10, Http::Http11] {
        let newreno = gap(http, Tls::None, "newreno+iw=1000+rwnd=6MB");
        assert!((19_200..19_350).contains(&newreno.as_nanos()), "{newreno}");
        let linux = gap(http, Tls::None, "linux+iw=1000+rwnd=6MB");
        assert!((1_068_800..1_068_950).contains(&linux.as_nanos()), "{linux}");
    }
}

#[test]
fn a_sender_paced_at_the_rate_of_the_link_reaches_it() {
    // 300,660 bytes of body and 100 of header are 206 packets of 1500 bytes: one each 600 us.
    let path: PathSpec = "20mbit,80ms,inf".parse().unwrap();
    let access = Access::new(1, None, path.links());
    let (from, to) = (access.servers[0], access.client);
    let mut simulation = Simulation::new(access.topology, SimulationConfig::default());
    // SYNs of 44 bytes take 17.6 us each, the request's 340 bytes 136 us, the server thinks 5 ms.
    let asked = Duration::from_nanos(80_035_200 + 40_136_000 + 5_000_000);
    let paced = CbrSpec {
        from,
        to,
        wire_bytes: 1500,
        interval: Duration::from_micros(600),
        count: Some(206),
    };
    let id = simulation.add(Instant::ZERO + asked, Cbr::new(paced));
    simulation.run_until(Instant::ZERO + Duration::from_secs(1)).unwrap();
    let paced = simulation.application::<Cbr>(id).unwrap();
    let last = paced.last_received_at().unwrap() - Instant::ZERO;

    let one = vec![object(300_660, Discovery::AtStart)];
    let one = Page::new("one", vec![host(Http::Http11, Tls::None)], one).unwrap();
    let limit = run(&one, path, &["newreno"]).limit.page;
    // The allowance for rounding is half a nanosecond per packet, and for three others a whole.
    assert_eq!(last - limit, Duration::from_nanos(103 + 3));
}

#[test]
fn a_paced_tcp_reaches_it() {
    // Twice the window per round trip is 2 * 438 kB in 80 ms, 88 Mbit/s: the link of 20 is never
    // without a packet. The handshake's ACK and longer SYNs come on top, as above.
    let paced = gap(Http::Http11, Tls::None, "newreno+iw=300+rwnd=6MB+pacing=on");
    assert!((19_200..19_350).contains(&paced.as_nanos()), "{paced}");
}

#[test]
fn tls_and_http2_add_only_lone_acks_and_smaller_packets() {
    // At most four ACKs (16 us each) go up ahead of the awaited data. Down, TLS's flight and
    // HTTP/2's settings and frame headers leave as they are written, in packets of their own. That
    // makes at most one part-filled packet (16 us of headers) for each of 19 records of 16 kB and
    // these two. Longer SYNs take 3.2 us.
    for http in [Http::Http11, Http::Http2] {
        let gap = gap(http, Tls::Tls13, "newreno+iw=1000+rwnd=6MB");
        assert!(gap < Duration::from_micros(16 * (4 + 21) + 4), "{http}: {gap}");
    }
}

/// An object, and where it may be found.
#[derive(Debug)]
struct Draft {
    object: Object,
    /// Number of the object that names it; for a later number, it is requested at the start.
    parent: u32,
    /// Share of the parent's body.
    per_mille: u64,
    delay: Duration,
}

prop_compose! {
    /// An object found somewhere in an earlier one, or requested at the start.
    fn any_object()(
        (request, header, body) in (0u64..2000, 0u64..800, 1u64..60_000),
        (host, wait, delay) in (0u32..3, 0u64..50, 0u64..30),
        (parent, per_mille) in (0u32..20, 0u64..=1000),
        html: bool,
    ) -> Draft {
        let object = Object {
            request_bytes: request,
            response_header_bytes: header,
            host: HostId(host),
            kind: if html { ObjectKind::Html } else { ObjectKind::Image },
            server_wait: Duration::from_millis(wait),
            ..object(body, Discovery::AtStart)
        };
        Draft { object, parent, per_mille, delay: Duration::from_millis(delay) }
    }
}

prop_compose! {
    pub(crate) fn any_page()(
        drafts in prop::collection::vec(any_object(), 1..12),
        http in prop_oneof![
            Just(Http::Http10),
            Just(Http::Http11),
            Just(Http::Http2),
            Just(Http::Http3)
        ],
        tls in prop_oneof![
            Just(Tls::None),
            Just(Tls::Tls12),
            Just(Tls::Tls13),
            Just(Tls::ZeroRtt)
        ],
        rtts_us in prop::collection::vec(prop::option::of(0u64..400_000), 3),
        lookups_us in prop::collection::vec(prop::option::of(0u64..200_000), 3),
    ) -> Page {
        let mut objects: Vec<Object> = Vec::new();
        for Draft { mut object, parent, per_mille, delay } in drafts {
            if let Some(parent_object) = objects.get(parent as usize) {
                object.discovery = Discovery::InBody {
                    parent: ObjectId(parent),
                    offset: parent_object.body_bytes * per_mille / 1000,
                    delay,
                };
            }
            objects.push(object);
        }
        let page = Page::new("any", vec![host(http, tls); 3], objects).unwrap();
        page.with_hosts(|id, host| {
            // The first two have one name.
            host.name = format!("h{}.example:{}", id.0 / 2, id.0 + 80);
            host.rtt = rtts_us[id.index()].map(Duration::from_micros);
            host.lookup = lookups_us[id.index()].map(Duration::from_micros);
        })
    }
}

prop_compose! {
    /// Rates that change each 20 ms, outages among them, or opportunities to send a packet.
    fn changing_path()(
        rates in prop::collection::vec(prop_oneof![Just(0u32), 50..200_000u32], 1..20),
        is_mahimahi: bool,
        up in prop_oneof![Just("up=1mbit"), Just("up=trace=up"), Just("up=200mbit")],
        rtt_ms in 0u64..200,
        queue in prop_oneof![Just("5p"), Just("1MB")],
    ) -> PathSpec {
        let row = |(n, rate): (u32, &u32)| match is_mahimahi {
            true => format!("{}\n", n * 3 + rate % 3),
            false => format!("{},{rate}\n", n * 20),
        };
        let header = if is_mahimahi { "" } else { "time_ms,kbps\n" };
        let last = if is_mahimahi { "70\n" } else { "400,900\n420,30000\n" };
        let text = format!("{header}{}{last}", (0..).zip(&rates).map(row).collect::<String>());
        let spec = format!("trace=down,{rtt_ms}ms,{queue},{up}");
        PathSpec::read(&spec, &|_| Ok(text.clone())).unwrap()
    }
}

prop_compose! {
    pub(crate) fn any_path()(
        down in prop_oneof![50_000u64..5_000_000, 5_000_000u64..10_000_000_000],
        up in prop_oneof![50_000u64..5_000_000, 5_000_000u64..10_000_000_000],
        rtt_us in prop_oneof![0u64..1000, 1000u64..400_000],
        queue in prop_oneof![Just("5p"), Just("40p"), Just("1MB"), Just("inf")],
        loss in prop_oneof![Just("0"), Just("0.01"), Just("0.1")],
        changing in prop::option::of(changing_path()),
    ) -> PathSpec {
        let steady = || format!("{down}bit,{rtt_us}us,{queue},up={up}bit,loss={loss}").parse().unwrap();
        changing.unwrap_or_else(steady)
    }
}

/// True if a scheme opens connections by a handshake and uses them as the page says.
fn shakes_hands(scheme: &str) -> bool {
    scheme != "phttp" && !scheme.contains("open=data")
}

fn not_before(load: &MeasuredLoad, limit: &Limit) -> Result<(), TestCaseError> {
    if let Some(page) = load.page {
        prop_assert!(page >= limit.page, "page {page} before {}", limit.page);
    }
    for milestone in PageMilestone::ALL {
        let times = (load.times.get(milestone), limit.times.get(milestone));
        if let (Some(time), Some(earliest)) = times {
            prop_assert!(time >= earliest, "{milestone} {time} before {earliest}");
        }
    }
    for (n, (done, limit)) in load.objects.iter().zip(&limit.objects).enumerate() {
        if let Some(done) = done {
            prop_assert!(*done >= limit.done, "object {n}: {done} before {}", limit.done);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Under any scheme, over any path, no object, no HTML and no page is complete before its
    /// limit.
    #[test]
    fn nothing_beats_it(page in any_page(), path in any_path(), scheme in 0..SCHEMES.len()) {
        let outcome = run(&page, path, &[SCHEMES[scheme]]);
        let load = &outcome.contestants[0].turns[0].visits[0];
        not_before(load, &outcome.limit_without_handshake)?;
        if shakes_hands(SCHEMES[scheme]) {
            not_before(load, &outcome.limit)?;
        }
    }

    /// A repeated visit looks no name up, with kept connections or its own. It does not beat its
    /// limit.
    #[test]
    fn nor_does_a_repeated_visit(page in any_page(), path in any_path(), reconnects: bool) {
        let idle = Duration::from_secs(1);
        let visits = Visits { count: 2, reconnects, idle, ..Visits::default() };
        let race = Race { visits, ..plain_race(&page, path, schemes(&["linux"])) };
        let outcome = race.run(OPTIONS);
        if let [_, again] = &outcome.contestants[0].turns[0].visits[..] {
            not_before(again, &outcome.limit_again)?;
        }
    }

    /// The limits of a race depend on page and path, not on the contestants.
    #[test]
    fn the_list_of_schemes_does_not_move_it(page in any_page(), path in any_path(), n in 0..SCHEMES.len()) {
        let alone = run(&page, path, &["newreno"]);
        let beside = run(&page, path, &[SCHEMES[n], SCHEMES[(n + 5) % SCHEMES.len()]]);
        prop_assert_eq!(&alone.limit, &beside.limit);
        prop_assert_eq!(&alone.limit_without_handshake, &beside.limit_without_handshake);
        prop_assert!(alone.limit_without_handshake.page <= alone.limit.page);
    }
}
