//! `headstart race` from outside: what it prints, that it prints the same again, what it writes.

use crate::run::{folder, headstart, stdout};
use serde_json::Value;
use std::fs;

/// The rows of the two limits.
const LIMIT: &str = "limit";
/// The row of servers that know the path.
const PERFECT: &str = "perfect start";
const NO_HANDSHAKE: &str = "limit, no handshake";

/// A path with the recordings of a drive both ways, at 45.83 and 4.58 Mbit/s on average.
const DRIVEN: &str =
    "trace=crates/link/data/drive.csv,40ms,200p,up=trace=crates/link/data/drive.csv";

/// A race of three frames, each revealed by the one before it, with a server time of 5 ms.
pub(crate) const FRAMES: [&str; 6] = [
    "race",
    "crates/cli/tests/recordings/frames.har",
    "--path",
    "100mbit,20ms,1bdp",
    "--schemes",
    "linux",
];

pub(crate) fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).expect("JSON")
}

fn scheme<'a>(race: &'a Value, name: &str) -> &'a Value {
    let schemes = race["schemes"].as_array().expect("an array");
    let found = schemes.iter().find(|s| s["name"] == name);
    found.unwrap_or_else(|| panic!("no scheme {name}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn number_of(race: &Value, name: &str, key: &str) -> f64 {
    number(&scheme(race, name)[key])
}

#[test]
fn without_arguments_a_page_of_today_finishes() {
    let table = stdout(&["race"]);
    for word in
        ["linux", "linux-bbr", "hs-cubic", "perfect start", "limit", "document", "last byte"]
    {
        assert!(table.contains(word), "{word} is missing:\n{table}");
    }
}

#[test]
fn every_recording_shipped_races_end_to_end() {
    for name in ["app", "article", "landing"] {
        let file = format!("pages/{name}.har");
        let race = json(&["race", &file, "--json", "--schemes", "newreno,phttp"]);
        let schemes = race["schemes"].as_array().unwrap();
        let names: Vec<_> = schemes.iter().map(|s| s["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["linux", "newreno", "phttp", PERFECT, LIMIT, NO_HANDSHAKE], "{name}");
        let least = number_of(&race, NO_HANDSHAKE, "page_s");
        // All three shake hands, and these pages keep connections alive, as phttp does.
        for scheme in &schemes[..5] {
            assert!(number(&scheme["ratio_to_limit"]) >= 1.0, "{name}: {scheme}");
        }
        for scheme in schemes {
            assert_eq!(scheme["completed"], true, "{name}: {scheme}");
            assert!(number(&scheme["page_s"]) >= least, "{name}: {scheme}");
            let times = |key: &str| number(&scheme["milestones"][key]["time_s"]);
            let keys = ["document", "content_loaded", "load", "last_byte"];
            assert!(keys.map(times).is_sorted(), "{name}: {scheme}");
            assert_eq!(number(&scheme["page_s"]), times("load"), "{name}");
        }
    }
}

#[test]
fn json_obeys_the_schema_it_publishes() {
    let schema: Value = serde_json::from_str(&stdout(&["race", "--json-schema"])).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for arguments in [
        &["race", "--json"][..],
        &["race", "--json", "--repeat", "3", "--background", "1"],
        &["race", "map", "--json", "--path", "1mbit,50ms,inf,up=300kbit,loss=2%"],
        &["race", "map", "--json", "--visits", "3", "--idle", "20", "--site", "2"],
        &["race", "30kB", "--json", "--path", DRIVEN, "--schemes", "linux", "--visits", "2"],
        &["race", "30kB", "--json", "--path", "mobile,50ms,200p", "--schemes", "linux"],
        // On a machine without namespaces this is simulated alone, and still of the schema.
        &[
            "race",
            "text",
            "--json",
            "--on",
            "sim,wire",
            "--path",
            "20mbit,20ms,50p",
            "--repeat",
            "2",
        ],
        &[
            "race",
            "text",
            "--json",
            "--on",
            "sim",
            "--on",
            "kernel",
            "--visits",
            "2",
            "--idle",
            "0.01",
            "--schemes",
            "linux",
        ],
    ] {
        let race = json(arguments);
        let errors: Vec<_> = validator.iter_errors(&race).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{arguments:?}: {errors:?}");
    }
    // It refuses what is not of it, so the above means something.
    let mut wrong = json(&["race", "--json"]);
    wrong["schemes"][0]["page_s"] = Value::from(-1);
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn keys_come_in_the_published_order() {
    let text = stdout(&["race", "--json", "--schemes", "linux"]);
    let keys = [
        "version",
        "format",
        "page",
        "until",
        "path",
        "seed",
        "repeats",
        "runs",
        "exact",
        "worlds",
        "schemes",
        "name",
        "on",
        "page_s",
        "ratio_to_limit",
        "gain_over_linux",
        "retransmitted_segments",
        "timeouts",
        "dropped_packets",
        "background_harm",
        "milestones",
        "bound",
        "completed",
    ];
    let mut rest = text.as_str();
    for key in keys {
        let at = rest.find(&format!("\"{key}\":"));
        let at = at.unwrap_or_else(|| panic!("{key} is missing or out of order"));
        rest = &rest[at + 1..];
    }
}

#[test]
fn the_same_bytes_again_and_on_any_number_of_threads() {
    let race = |threads: &str, name: &str| {
        let folder = folder(name);
        let report = folder.join("report.html");
        let captures = folder.join("captures");
        let output = headstart(&[
            "race",
            "pages/landing.har",
            "--path",
            "8mbit,60ms,20p,loss=0.01",
            "--background",
            "1",
            "--repeat",
            "3",
            "--schemes",
            "newreno,sack",
            "--json",
            "--seed",
            "5",
            "--threads",
            threads,
            "--report",
            report.to_str().unwrap(),
            "--pcap",
            captures.to_str().unwrap(),
        ]);
        assert_eq!(output.status.code(), Some(0));
        let read = |path: &std::path::Path| fs::read(path).unwrap();
        let capture = read(&captures.join("sack-down.pcap"));
        (output.stdout, read(&report), capture)
    };
    let one = race("1", "threads-1");
    assert!(one == race("2", "threads-2"), "one thread and two differ");
    assert!(one == race("1", "threads-again"), "two runs differ");
}

#[test]
fn a_seed_changes_what_chance_decides() {
    let race = |seed| {
        let path = ["--path", "8mbit,60ms,20p,loss=0.02"];
        stdout(&["race", "--json", "--seed", seed, path[0], path[1]])
    };
    assert_ne!(race("1"), race("2"));
}

#[test]
fn gains_are_held_against_linux_and_the_limit_is_the_best() {
    let race = json(&[
        "race",
        "map",
        "--path-preset",
        "t1-1998",
        "--schemes",
        "tahoe,newreno",
        "--json",
        "--exact",
    ]);
    let linux = number_of(&race, "linux", "page_s");
    for name in ["linux", "tahoe", "newreno", "limit"] {
        let page = number_of(&race, name, "page_s");
        let gain = number_of(&race, name, "gain_over_linux");
        assert!((gain - (1.0 - page / linux)).abs() < 1e-12, "{name}");
        assert!(page >= number_of(&race, "limit", "page_s"), "{name}");
    }
    assert_eq!(number_of(&race, "linux", "gain_over_linux"), 0.0);
    assert!(scheme(&race, "limit")["timeouts"].is_null());
}

#[test]
fn repeats_come_with_intervals_of_their_medians() {
    let race =
        json(&["race", "--json", "--repeat", "6", "--background", "2", "--schemes", "linux"]);
    let linux = scheme(&race, "linux");
    let mut times: Vec<f64> = linux["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sample| number(&sample["page_s"]))
        .collect();
    times.sort_by(f64::total_cmp);
    assert_eq!(times.len(), 6);
    // With six times, the median is the mean of the third and the fourth, and its interval goes to
    // the extremes.
    assert_eq!(number(&linux["page_s"]), f64::midpoint(times[2], times[3]));
    assert_eq!(linux["page_s_interval"], serde_json::json!([times[0], times[5]]));
    assert!(times[0] < times[5], "{times:?}");
    assert!(scheme(&race, "limit")["page_s_interval"].is_null());
    let single = json(&["race", "--json", "--exact", "--schemes", "linux"]);
    assert!(scheme(&single, "linux").get("page_s_interval").is_none());
}

/// One segment more or less in a full queue decides the race of `linux+iw=32+pacing=on` on this
/// page. In one exact load each it gains 1.4 % over linux at 61 ms, and loses 6.3 % at 60 ms and
/// 2.1 % at 62 ms.
#[test]
fn chance_does_not_look_like_a_gain() {
    let race = |rtt: &str, more: &[&str]| {
        let path = format!("20mbit,{rtt}ms,100p");
        let schemes = "linux,linux+iw=32+pacing=on";
        let fixed = ["race", "pages/article.har", "--path", &path, "--schemes", schemes];
        stdout(&[&fixed, more].concat())
    };
    let table = race("61", &[]);
    assert!(table.contains("no difference ("), "{table}");
    // Exact hosts: the same load as often as it is asked for, and nothing that says how sure it is.
    // Seeds decide ties in the queue, by half a millisecond: these two round to the same figures.
    let exact = race("61", &["--exact", "--seed", "3"]);
    assert_eq!(exact, race("61", &["--exact", "--seed", "2"]));
    assert!(exact.contains("+1.4 %") && !exact.contains("min – max"), "{exact}");
}

#[test]
fn harm_is_nothing_for_linux_and_there_only_with_background() {
    let race = json(&[
        "race",
        "--json",
        "--background",
        "1",
        "--schemes",
        "linux+iw=100",
        // A deeper queue takes a burst without harm to others.
        "--path",
        "20mbit,60ms,100p",
    ]);
    assert_eq!(number_of(&race, "linux", "background_harm"), 0.0);
    let harm = number_of(&race, "linux+iw=100", "background_harm");
    assert!(harm > 0.0 && harm < 1.0, "a burst of 100 segments takes from others: {harm}");
    let alone = json(&["race", "--json", "--schemes", "linux"]);
    assert!(scheme(&alone, "linux")["background_harm"].is_null());
    let heads = |more: &[&str]| {
        let table = stdout(&[&["race", "text", "--schemes", "linux"], more].concat());
        table.lines().find(|line| line.starts_with("scheme ")).unwrap().contains("harm")
    };
    assert!(heads(&["--background", "1"]) && !heads(&[]));
}

/// 300 KB over 50 Mbit/s and 104 ms, of which a client that offers 16 kB lets eleven segments flow
/// in each round trip.
const NARROW: [&str; 6] =
    ["race", "300kB", "--path", "50mbit,104ms,200p", "--client-window", "16kB"];

#[test]
fn each_row_says_what_bounded_it() {
    let race = json(&[&NARROW[..], &["--schemes", "linux", "--json"]].concat());
    let causes = ["path", "cwnd", "rwnd", "recovery", "server", "client", "rounds"];
    let linux = scheme(&race, "linux");
    let shares = causes.map(|cause| number(&linux["bound"][cause]));
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    // 208 segments are 19 round trips, and two without any make 21: at least 17 of these are the
    // window's.
    assert!(shares[2] > 17.0 / 21.0, "{shares:?}");
    let samples = linux["samples"].as_array().unwrap();
    assert!(samples.iter().all(|sample| sample["bound"]["rwnd"].is_number()));
    assert!(scheme(&race, LIMIT)["bound"].is_null());
    let table = stdout(&[&NARROW[..], &["--schemes", "linux"]].concat());
    let row = table.lines().find(|line| line.starts_with("linux")).unwrap();
    assert!(
        table.contains("bound by") && row.contains(&format!("rwnd {:.0} %", shares[2] * 100.0))
    );
}

/// If the client bounds loads, a remark says so, with the way out if there is one; otherwise there
/// is no remark.
#[test]
fn a_race_says_whom_the_client_bounded() {
    let printed = |arguments: &[&str]| {
        let output = headstart(arguments);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        printed.lines().find(|line| line.contains("receive window")).map(str::to_owned)
    };
    let narrow = printed(&[&NARROW[..], &["--schemes", "linux"]].concat()).expect("a note");
    assert!(
        narrow.contains("bounded linux for ") && !narrow.contains("--client-window"),
        "{narrow}"
    );
    let fast = ["race", "300kB", "--path", "50mbit,104ms,200p", "--schemes", "linux,jump-start"];
    let as_it_comes = printed(&fast).expect("a note");
    // Perfect start meets the same window.
    let bounded = "bounded jump-start for 14 %, perfect start for 42 % of the time";
    assert!(as_it_comes.contains(bounded), "{as_it_comes}");
    assert!(as_it_comes.contains("--client-window 1MB"), "{as_it_comes}");
    assert_eq!(printed(&[&fast[..], &["--client-window", "1MB"]].concat()), None);
}

#[test]
fn a_load_that_cannot_end_fails_with_exit_1_and_says_so() {
    // 1.2 MB at 10 kbit/s take 960 s; 600 are allowed.
    let output =
        headstart(&["race", "--path", "10kbit,50ms,100p", "--json", "--schemes", "newreno"]);
    assert_eq!(output.status.code(), Some(1));
    let race: Value = serde_json::from_slice(&output.stdout).unwrap();
    let newreno = scheme(&race, "newreno");
    assert_eq!(newreno["completed"], false);
    assert!(newreno["page_s"].is_null() && newreno["gain_over_linux"].is_null());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("newreno: not finished"), "{errors}");
}

#[test]
fn no_scheme_moves_the_limits() {
    let limits = |schemes: &str| {
        let race = json(&["race", "--json", "--schemes", schemes]);
        [LIMIT, NO_HANDSHAKE].map(|name| number_of(&race, name, "page_s"))
    };
    let alone = limits("linux");
    for schemes in ["newreno", "phttp", "linux+open=data", "newreno+mss=536", "etcp"] {
        assert_eq!(limits(schemes), alone, "{schemes}");
    }
}

/// Chromium takes 20 ms to read a document, which no TCP can spare, and which the account puts down
/// to the client. A remark says that the model is one of HTTP/1.1, if another version is used.
#[test]
fn the_client_model_moves_the_limit_and_is_said() {
    let ms = |model: &str| {
        let page = ["pages/article.har", "--path", "1gbit,20ms,1000p", "--http", "1.1"];
        let how = ["--schemes", "linux", "--exact", "--client-model", model];
        let race = json(&[&["race", "--json"], &page[..], &how].concat());
        let linux = scheme(&race, "linux");
        let client = number(&linux["bound"]["client"]) * number(&linux["page_s"]);
        [number_of(&race, NO_HANDSHAKE, "page_s"), client].map(|seconds| seconds * 1e3)
    };
    let ([limit, client], [plain_limit, plain_client]) = (ms("chromium"), ms("loader"));
    for (with, without) in [(limit, plain_limit), (client, plain_client)] {
        assert!((19.9..20.1).contains(&(with - without)), "{with}, {without}");
    }
    let printed = |http: &str| {
        let how = ["--schemes", "linux", "--exact", "--client-model", "chromium", "--http", http];
        let output = headstart(&[&["race"], &how[..]].concat());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let note = "--http 1.1 compares like with like";
    assert!(printed("2").contains(note) && !printed("1.1").contains(note));
    assert!(printed("1.1").contains("the loader loads as chromium"));
    let report = folder("client-model").join("race.html");
    let how = ["--schemes", "linux", "--exact", "--client-model", "chromium", "--server-model"];
    let to = ["nginx", "--report", report.to_str().unwrap()];
    assert_eq!(headstart(&[&["race"], &how[..], &to].concat()).status.code(), Some(0));
    let html = fs::read_to_string(&report).unwrap();
    assert!(html.contains("The loader loads as chromium") && html.contains("write as nginx"));
}

#[test]
fn http_and_tls_can_be_overridden() {
    let time = |http: &str, tls: &str| {
        let race = json(&["race", "--json", "--schemes", "linux", "--http", http, "--tls", tls]);
        number(&scheme(&race, "limit")["milestones"]["document"]["time_s"])
    };
    // A round trip of 30 ms more for TLS, whatever the version.
    for http in ["1.0", "1.1", "2"] {
        let extra = time(http, "1.3") - time(http, "none");
        assert!((0.030..0.034).contains(&extra), "{http}: {extra}");
    }
}

#[test]
fn visits_are_tabled_drawn_and_the_same_on_any_number_of_threads() {
    let report = folder("visits").join("visits.html");
    let race = ["race", "map", "--visits", "3", "--idle", "5s", "--schemes", "linux,newreno-nssr"];
    let more = ["--background", "1", "--repeat", "2", "--report", report.to_str().unwrap()];
    let on = |threads| stdout(&[&race[..], &more, &["--threads", threads]].concat());
    let tables = on("1");
    assert_eq!(tables, on("2"));
    // Words stand before the table, milestones and the critical path behind it.
    let table = tables.split("\n\n").nth(1).expect("a table");
    // Two schemes, perfect start and the two limits; HTTP/1.0 keeps no connection, so a repeated
    // visit has both limits, too.
    assert_eq!(table.matches(" first ").count(), 5, "{table}");
    assert_eq!(table.matches(" repeated ").count(), 5, "{table}");
    let html = fs::read_to_string(&report).unwrap();
    assert!(html.contains("newreno-nssr · first visit") && html.contains("linux · repeated visit"));
    let one = stdout(&["race", "map", "--schemes", "linux"]);
    assert!(!one.contains("visit"), "{one}");
    for wrong in [&["--visits", "0"][..], &["--idle", "5"], &["--visits", "2", "--idle", "soon"]] {
        let output = headstart(&[&["race"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_size_is_a_page_of_one_object() {
    let race: Value =
        serde_json::from_str(&stdout(&["race", "30kB", "--path", "20mbit,80ms,100p", "--json"]))
            .unwrap();
    assert_eq!(race["page"], "30 KB");
    // Handshake and request take 160 ms, 30 kB at 20 Mbit/s 12 ms, and no more than 1 ms for
    // headers.
    let limit = number_of(&race, LIMIT, "page_s");
    assert!((0.172..0.1735).contains(&limit), "{limit}");
    // Without the handshake a round trip of 80 ms less.
    let least = number_of(&race, NO_HANDSHAKE, "page_s");
    assert!((0.0919..0.0935).contains(&least), "{least}");
    for (wrong, why) in [("0B", "an object of 0B"), ("30zB", "as a size")] {
        let output = headstart(&["race", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{wrong}");
    }
}

#[test]
fn visits_that_reconnect_take_a_handshake_more() {
    let visits = |more: &[&str]| {
        let race = [
            "race",
            "30kB",
            "--visits",
            "2",
            "--idle",
            "1",
            "--path",
            "20mbit,80ms,100p",
            "--json",
        ];
        let race: Value = serde_json::from_str(&stdout(&[&race[..], more].concat())).unwrap();
        let rows = race["schemes"].as_array().unwrap().clone();
        let of = |name: &str, visit: &str| {
            let row = rows.iter().find(|row| row["name"] == name && row["visit"] == visit).unwrap();
            row["page_s"].as_f64().unwrap()
        };
        ["first", "repeated"].map(|visit| (of("linux", visit), of("limit", visit)))
    };
    let [first, kept] = visits(&[]);
    // One round trip of 80 ms less for the limit, and the handshake's packets of 44 bytes, 17.6 µs
    // each.
    assert!((first.1 - kept.1 - 0.08).abs() < 1e-4, "{first:?}, {kept:?}");
    let [first, anew] = visits(&["--reconnect"]);
    // `linux` remembers nothing, so the second visit is like the first.
    assert!((first.0 - anew.0).abs() < 1e-3 && first.1 == anew.1, "{first:?}, {anew:?}");
}

#[test]
fn connections_to_a_host_can_be_counted_out() {
    let page_s = |connections: &str| {
        let race = ["race", "graphics", "--http", "1.1", "--connections", connections, "--json"];
        let race: Value = serde_json::from_str(&stdout(&race)).unwrap();
        race["schemes"][0]["page_s"].as_f64().unwrap()
    };
    // Thirteen pictures one after another take more round trips than four at a time.
    assert!(page_s("1") > page_s("4"));
}

/// 25 repeats start at 25 times of the recording, the same for both schemes. The limit's row is a
/// median over them.
#[test]
fn a_recorded_link_is_raced_from_many_times_on() {
    let arguments = ["race", "500kB", "--path", DRIVEN, "--schemes", "linux,linux+iw=32"];
    let race = json(&[&arguments[..], &["--json"]].concat());
    let trace = &race["path"]["trace"];
    assert_eq!((&trace["column"], &trace["unit"]), (&"DL_bitrate".into(), &"kbit/s".into()));
    assert_eq!((number(&trace["mean_bps"]), number(&trace["duration_s"])), (45_833_333.0, 60.0));
    assert_eq!((number(&trace["peak_bps"]), number(&trace["outage_s"])), (80e6, 5.0));
    assert_eq!(race["path"]["up_trace"]["column"], "UL_bitrate");
    assert_eq!(number(&race["path"]["up_bps"]), 4_583_333.0);
    let phases = |name: &str| -> Vec<u64> {
        let samples = scheme(&race, name)["samples"].as_array().unwrap();
        samples.iter().map(|sample| (number(&sample["phase_s"]) * 1e9) as u64).collect()
    };
    let mut linux = phases("linux");
    assert_eq!(linux, phases("linux+iw=32"));
    linux.sort_unstable();
    linux.dedup();
    assert_eq!(linux.len(), 25);
    let limit = scheme(&race, LIMIT);
    assert!(number(&limit["page_s_max"]) > number(&limit["page_s_min"]));
    assert!(number(&scheme(&race, "linux")["ratio_to_limit_min"]) >= 1.0);
    let notes = String::from_utf8(headstart(&arguments).stderr).unwrap();
    for words in ["rates in DL_bitrate (kbit/s)", "rates in UL_bitrate", "45.83 Mbit/s on average"]
    {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

/// An outage from 40 to 45 s: a load that starts half a second before its end waits for that long
/// at least.
#[test]
fn a_load_starts_at_the_time_that_the_path_says() {
    let path = "trace=crates/link/data/drive.csv,40ms,200p,from=44.5s";
    let arguments = ["race", "30kB", "--path", path, "--schemes", "linux", "--exact"];
    let race = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(
        (number(&race["repeats"]), number(&scheme(&race, "linux")["samples"][0]["phase_s"])),
        (1.0, 44.5)
    );
    // The SYN-ACK passes at 0.5 s and is there 20 ms later; request and answer take another round
    // trip, and 30 kB at 50 Mbit/s at least 4.8 ms.
    let limit = number(&scheme(&race, LIMIT)["page_s"]);
    assert!((0.565..0.57).contains(&limit), "{limit}");
    assert!(number(&scheme(&race, "linux")["page_s"]) >= limit);
    let notes = String::from_utf8(headstart(&arguments).stderr).unwrap();
    assert!(notes.contains("a fifth of the mean down, 9.17 Mbit/s"), "{notes}");
}

#[test]
fn a_report_names_a_recorded_path() {
    let folder = folder("race-recorded");
    let report = folder.join("race.html");
    let name = report.display().to_string();
    stdout(&[
        "race",
        "30kB",
        "--path",
        DRIVEN,
        "--schemes",
        "linux",
        "--repeat",
        "2",
        "--report",
        &name,
    ]);
    let page = fs::read_to_string(report).unwrap();
    for words in [
        "over trace=drive.csv,40ms,200p,up=trace=drive.csv",
        "45.83 Mbit/s (mean) down, 4.58 Mbit/s (mean) up",
        "5.0 s of outage",
        "Each repeat starts at another time of the recording",
    ] {
        assert!(page.contains(words), "{words}");
    }
}
