//! Plans from outside: the measurements of a run, its random numbers, refusals.

use crate::common::{execute, read, value};
use experiment::plan::{Plan, WorkloadMetric};
use std::path::PathBuf;

/// Workload, member, start and bytes of each transfer.
fn drawn(plan: &Plan<'_>, index: usize, workload: &str) -> Vec<[String; 3]> {
    let (_, rows) = execute(plan, index);
    let of = rows.into_iter().filter(|row| row[0] == workload);
    of.map(|row| [row[1].clone(), row[6].clone(), row[10].clone()]).collect()
}

const DUMBBELL: &str = "\
[topology]
kind = \"dumbbell\"
bottleneck = { rate = \"1mbit\", delay = \"10ms\" }
";

#[test]
fn a_single_packet_takes_what_its_bits_and_round_trips_take() {
    // SYN and SYN-ACK, 125 bytes at 1 Mbit/s each, are 1 ms on the link and 10 ms on the way: 22
    // ms. Data of 1000 bytes without overhead: 8 ms and 10 ms. No other packet is sent first.
    let text = format!(
        "schemes = [\"newreno\"]\npackets = {{ data_overhead = 0, control_bytes = 125 }}\n{DUMBBELL}\
         [workload.one]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = {{ kind = \"bulk\", size = \"1kB\" }}\n"
    );
    let (result, rows) = execute(&read(&text), 0);
    assert_eq!(value(&result, WorkloadMetric::CompletionMean), 0.04);
    assert_eq!((rows.len(), rows[0][8].as_str()), (1, "0.04"));
}

#[test]
fn metrics_are_those_of_the_measured_interval() {
    // An endless flow fills a link of 1 Mbit/s with segments of 1460 bytes and 40 of header: its
    // payload is 97.3 % of that. From 10 s to 20 s nothing else happens.
    let text = format!(
        "duration = \"30s\"\nschemes = [\"newreno\"]\n{DUMBBELL}\
         [workload.long]\nfrom = \"sources\"\nto = \"sinks\"\ntraffic = {{ kind = \"bulk\" }}\n\
         [measure]\nfrom = \"10s\"\nuntil = \"20s\"\nwaiting = true\n"
    );
    let (result, _) = execute(&read(&text), 0);
    let payload = 1e6 * 1460.0 / 1500.0;
    let goodput = value(&result, WorkloadMetric::Goodput);
    assert!((goodput / payload - 1.0).abs() < 0.005, "{goodput} instead of {payload}");
    let link = result.links.iter().find(|row| row.link == "bottleneck").unwrap();
    assert!((0.999..=1.0).contains(&link.utilisation), "{link:?}");
    assert!(link.mean_packets.unwrap() > 1.0 && link.drops == 0, "{link:?}");
    assert_eq!(result.end, 30.0);
}

/// Results of a run in its measured interval.
struct Late {
    goodput: f64,
    /// Utilisation of the bottleneck.
    utilisation: f64,
    end: f64,
}

/// One transfer of 1000 bytes that starts at 3 s.
fn late_transfer(more: &str) -> Late {
    let text = format!(
        "{more}schemes = [\"newreno\"]\npackets = {{ data_overhead = 0, control_bytes = 125 }}\n{DUMBBELL}\
         [workload.one]\nfrom = \"sources\"\nto = \"sinks\"\nstart = \"3s\"\n\
         traffic = {{ kind = \"bulk\", size = \"1kB\" }}\n"
    );
    let (result, _) = execute(&read(&text), 0);
    let link = result.links.iter().find(|row| row.link == "bottleneck").unwrap();
    let goodput = value(&result, WorkloadMetric::Goodput);
    Late { goodput, utilisation: link.utilisation, end: result.end }
}

#[test]
fn the_measured_interval_leaves_out_the_time_before_the_first_start() {
    let close =
        |is: f64, hand: f64| assert!((is / hand - 1.0).abs() < 1e-6, "{is} instead of {hand}");
    // As in the first test, the data arrives 40 ms after the start. The receiver waits 200 ms for a
    // second segment; then its ACK of 125 bytes takes 1 ms on the link and 10 ms on the way. So the
    // run ends 251 ms after the start. The bottleneck has sent the SYN for 1 ms and the data for 8
    // ms: 9 ms of 251.
    let Late { goodput, utilisation, end } = late_transfer("");
    close(end, 3.251);
    close(goodput, 8000.0 / 0.251);
    close(utilisation, 0.009 / 0.251);
    // With a duration the interval lasts to the run's end: from 3 s to 5 s.
    let Late { goodput, utilisation, end } = late_transfer("duration = \"5s\"\n");
    assert_eq!(end, 5.0);
    close(goodput, 8000.0 / 2.0);
    close(utilisation, 0.009 / 2.0);
    // A warm-up that the plan gives is taken at its word: from 1 s to 5 s.
    let Late { goodput, utilisation, .. } =
        late_transfer("duration = \"5s\"\nmeasure = { from = \"1s\" }\n");
    close(goodput, 8000.0 / 4.0);
    close(utilisation, 0.009 / 4.0);
    // A warm-up of nothing asks for the whole run.
    let Late { goodput, .. } = late_transfer("duration = \"5s\"\nmeasure = { from = \"0s\" }\n");
    close(goodput, 8000.0 / 5.0);
}

/// Two schemes, two repeats, random starts and sizes; `more` are further lines.
fn random(more: &str) -> String {
    format!(
        "repeats = 2\nschemes = [\"newreno\", \"linux\"]\n{DUMBBELL}\
         [workload.web]\nfrom = \"sources\"\nto = \"sinks\"\ncount = 4\n\
         start = {{ kind = \"uniform\", until = \"5s\" }}\n\
         traffic = {{ kind = \"bulk\", size = {{ kind = \"exponential\", mean = \"5kB\" }} }}\n{more}"
    )
}

#[test]
fn schemes_meet_the_same_random_numbers_and_repeats_others() {
    let text = random("");
    let plan = read(&text);
    // Runs: newreno 0 and 1, linux 2 and 3.
    let runs: Vec<_> = (0..4).map(|run| drawn(&plan, run, "web")).collect();
    assert_eq!(runs[0], runs[2]);
    assert_eq!(runs[1], runs[3]);
    assert_ne!(runs[0], runs[1]);
}

#[test]
fn what_is_added_shifts_nothing_that_was_there() {
    let (text, other) = (
        random(""),
        random(
            "[workload.a]\nfrom = \"sources\"\nto = \"sinks\"\nbackground = true\n\
             traffic = { kind = \"on-off\", rate = \"100kbit\", on = \"1s\", off = \"1s\" }\n",
        ),
    );
    let before = drawn(&read(&text), 0, "web");
    assert_eq!(before, drawn(&read(&other), 0, "web"));
    let more = text.replace("count = 4", "count = 7");
    assert_eq!(before[..], drawn(&read(&more), 0, "web")[..4]);
}

#[test]
fn cells_that_differ_in_anything_but_schemes_draw_anew() {
    let axis = |key: &str, values: &str| {
        random(&format!("[[sweep]]\nkey = \"{key}\"\nvalues = [{values}]\n"))
    };
    // Runs: the axis's first value 0 to 3, its second 4 to 7.
    let rates = axis("topology.bottleneck.rate", "\"1mbit\", \"2mbit\"");
    let plan = read(&rates);
    assert_ne!(drawn(&plan, 0, "web"), drawn(&plan, 4, "web"));
    let schemes = axis("workload.web.scheme", "\"reno\", \"sack\"");
    let plan = read(&schemes);
    assert_eq!(drawn(&plan, 0, "web"), drawn(&plan, 4, "web"));
}

#[test]
fn random_pairs_cross_a_hop() {
    let text = "schemes = [\"newreno\"]\n[topology]\nkind = \"chain\"\nhops = 3\n\
        hop = { rate = \"10mbit\" }\nside = { rate = \"100mbit\" }\n\
        [workload.any]\nfrom = \"cross-in\"\nto = \"cross-out\"\npairing = \"random\"\ncount = 40\n\
        traffic = { kind = \"bulk\", size = \"1kB\" }\n\
        [workload.flows]\nfrom = \"cross-in\"\nto = \"cross-out\"\npairing = \"random\"\n\
        traffic = { kind = \"poisson\", mean_gap = \"10ms\", size = \"1kB\", flows = 40 }\n";
    let (result, rows) = execute(&read(text), 0);
    assert_eq!((rows.len(), value(&result, WorkloadMetric::Flows)), (80, 80.0));
    // Hosts of router n are in<n>-0 and out<n>-0.
    for row in &rows {
        assert_ne!(row[4].trim_start_matches("in"), row[5].trim_start_matches("out"), "{row:?}");
    }
}

#[test]
fn a_page_is_one_transfer_from_its_start_to_its_last_byte() {
    let text = format!(
        "schemes = [\"newreno\"]\n{DUMBBELL}[workload.page]\nfrom = \"sources\"\nto = \"sinks\"\n\
         start = \"3s\"\ntraffic = {{ kind = \"page\", page = \"text\" }}\n"
    );
    let (result, rows) = execute(&read(&text), 0);
    let bytes = workload::Page::builtin("text").unwrap().response_bytes();
    assert_eq!(
        (rows.len(), rows[0][6].as_str(), rows[0][10].clone()),
        (1, "3.0", bytes.to_string())
    );
    // At best its bytes at 1 Mbit/s and a round trip; it begins at 3 s and ends with the run.
    let completion = value(&result, WorkloadMetric::CompletionMean);
    assert!(completion > bytes as f64 * 8e-6 + 0.02, "{completion}");
    assert!(result.end >= 3.0 + completion, "{} {completion}", result.end);
}

#[test]
fn visits_follow_one_another_with_time_to_think_between() {
    let text = format!(
        "schemes = [\"newreno\"]\n{DUMBBELL}[workload.page]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = {{ kind = \"page\", page = \"text\", visits = 3, think = \"7s\" }}\n"
    );
    let (result, rows) = execute(&read(&text), 0);
    assert_eq!((rows.len(), value(&result, WorkloadMetric::Flows)), (3, 3.0));
    // Columns: start 6, received 8. No other traffic is on the path: a visit starts 7 s after the
    // end of the one before, and takes as long.
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    let lasted = |row| number(row, 8) - number(row, 6);
    for row in 1..3 {
        assert!((number(row, 6) - number(row - 1, 8) - 7.0).abs() < 1e-9, "{rows:?}");
        assert!((lasted(row) - lasted(0)).abs() < 1e-9, "{rows:?}");
    }
}

#[test]
fn one_way_visits_note_when_the_html_had_arrived() {
    // The text page has 29 KiB of HTML and images of 7, 10 and 13 KiB. These are 21, 5, 8 and 10
    // segments of 1460 bytes with 40 of header, the first of each connection with 8 of SYN options.
    // Without a handshake, and with windows that never limit, the page takes the time of 1 Mbit/s
    // and 10 ms.
    let visits = |requests: &str| {
        let text = format!(
            "schemes = [\"newreno+open=one-way+iw=100\"]\n{DUMBBELL}\
             [workload.page]\nfrom = \"sources\"\nto = \"sinks\"\ntraffic = {{ kind = \"page\", \
             page = \"text\", one_way = true, visits = 2, think = \"1s\", requests = \"{requests}\" }}\n"
        );
        let (_, rows) = execute(&read(&text), 0);
        // Columns: start 6, received 8, html 16.
        let number = |row: &[String], column: usize| row[column].parse::<f64>().unwrap();
        let times = |row: &Vec<String>| [16, 8].map(|at| number(row, at) - number(row, 6));
        rows.iter().map(times).collect::<Vec<_>>()
    };
    let bits = |kib: f64, segments: f64, connections: f64| {
        (kib * 1024.0 + 40.0 * segments + 8.0 * connections) * 8e-6
    };
    let (html, images) = (bits(29.0, 21.0, 1.0), bits(30.0, 23.0, 3.0));
    let close =
        |time: f64, expected: f64| assert!((time - expected).abs() < 1e-6, "{time} {expected}");
    // No data of the first visit is left when the second begins.
    for [html_at, all_at] in visits("at-end") {
        close(html_at, html + 0.01);
        close(all_at, html + 0.01 + images + 0.01);
    }
    for [_, all_at] in visits("all-at-once") {
        close(all_at, html + images + 0.01);
    }
}

#[test]
fn processing_keeps_what_starts_together_apart() {
    // Two packets of two hosts reach their router at one instant, and the second waits. With up to
    // 1 s of processing at the senders each comes at a time of its own.
    let plan = |processing: &str| {
        format!(
            "schemes = [\"newreno+open=data\"]\n{processing}{DUMBBELL}[workload.one]\n\
             from = \"sources\"\nto = \"sinks\"\ncount = 2\n\
             traffic = {{ kind = \"bulk\", size = \"100B\" }}\n"
        )
    };
    let apart = |text: &str| {
        let (_, rows) = execute(&read(text), 0);
        let received = |row: usize| rows[row][8].parse::<f64>().unwrap();
        (received(0), (received(1) - received(0)).abs())
    };
    let (first, together) = apart(&plan(""));
    let longest = "processing = [{ hosts = \"sources\", longest = \"1s\" }]\n";
    let (delayed, random) = apart(&plan(longest));
    assert!(delayed > first && delayed <= first + 1.0 + together, "{delayed} {first}");
    assert!((random - together).abs() > 1e-6, "{random} {together}");
    // Each host has one connection, so `per` makes no difference, but is read.
    let each = plan(&longest.replace(" }]", ", per = \"connection\" }]"));
    assert_eq!(apart(&each), (delayed, random));
    let nobody = plan(longest).replace("hosts = \"sources\"", "hosts = \"source\"");
    let error = Plan::read("test.toml", &nobody, &|_| Err(String::new())).unwrap_err().to_string();
    assert!(error.starts_with("test.toml:2:") && error.contains("sources"), "{error}");
}

fn corpus() -> Vec<PathBuf> {
    let folder = format!("{}/fuzz-corpus/plan", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Replays the corpus of the fuzz target: `ok-*` are plans, and `bad-*` are refused with one line
/// that names file and line. Other files that fuzzing has left there give either.
#[test]
fn every_file_of_the_corpus_is_what_its_name_says() {
    let (mut ok, mut bad) = (0, 0);
    for path in corpus() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let plan = Plan::read(&name, &text, &|_| Ok(b"1\n2\n".to_vec()));
        if name.starts_with("ok-") {
            ok += 1;
            assert!(plan.is_ok(), "{name}: {plan:?}");
        } else if name.starts_with("bad-") {
            bad += 1;
            let error = plan.expect_err(&name).to_string();
            let (place, why) = error.split_once(": ").unwrap();
            let line = place.strip_prefix(&format!("{name}:")).unwrap();
            assert!(line.parse::<usize>().is_ok() && !why.is_empty(), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
    assert_eq!((ok, bad), (7, 21), "none was lost");
}

#[test]
fn parameters_of_plan_workload_and_scheme_add_up_and_draw_nothing_anew() {
    let text = |scheme: &str, all: &str, own: &str| {
        format!(
            "schemes = [\"{scheme}\"]\nparameters = \"{all}\"\n{DUMBBELL}\
             [workload.one]\nfrom = \"sources\"\nto = \"sinks\"\nparameters = \"{own}\"\n\
             start = {{ kind = \"uniform\", until = \"1s\" }}\n\
             traffic = {{ kind = \"bulk\", size = \"1kB\" }}\n"
        )
    };
    let given = text("newreno+iw=3", "tick=10ms", "window=8");
    let (_, rows) = execute(&read(&given), 0);
    assert_eq!(rows[0][3], "newreno+tick=10ms+window=8+iw=3");
    // A parameter says which TCP is used: the start, drawn, is that of the plan without any.
    let none = text("newreno", "", "");
    assert_eq!(drawn(&read(&none), 0, "one"), drawn(&read(&given), 0, "one"));
    let twice = text("newreno+iw=3", "iw=3", "");
    let error = Plan::read("test.toml", &twice, &|_| Err(String::new())).unwrap_err().to_string();
    assert!(error.contains("iw is given twice") && error.starts_with("test.toml:2:"), "{error}");
}

/// As in the first test, with 30 ms each way from 2 s on. SYN and SYN-ACK take (1 + 30) ms each,
/// and the data takes (8 + 30) ms: 100 ms. The way back changes alike, unless it has a delay of its
/// own. Then 1 + 30, 1 + 10 and 8 + 30 are 80 ms.
#[test]
fn a_delay_changes_during_the_run() {
    let completion = |steps: &str| {
        let text = format!(
            "schemes = [\"newreno\"]\npackets = {{ data_overhead = 0, control_bytes = 125 }}\n[topology]\n\
             kind = \"dumbbell\"\n[topology.bottleneck]\nrate = \"1mbit\"\ndelay = \"10ms\"\n{steps}\n\
             [workload.one]\nfrom = \"sources\"\nto = \"sinks\"\nstart = \"3s\"\n\
             traffic = {{ kind = \"bulk\", size = \"1kB\" }}\n"
        );
        value(&execute(&read(&text), 0).0, WorkloadMetric::CompletionMean)
    };
    assert_eq!(completion("delay_steps = \"2s:30ms/60s:1ms\""), 0.1);
    assert_eq!(completion("delay_steps = \"2s:30ms\"\nback = { delay = \"10ms\" }"), 0.08);
    assert_eq!(completion("delay_steps = \"4s:30ms\""), 0.04);
}

/// A version of Linux is a parameter of every scheme that names none. Versions hold back ACKs
/// behind losses for other times, so that a flow with losses ends at another time.
#[test]
fn a_plan_names_the_version_of_linux() {
    let end = |scheme: &str, more: &str| {
        let text = format!(
            "schemes = [\"{scheme}\"]\n{more}\n[topology]\nkind = \"dumbbell\"\n\
             bottleneck = {{ rate = \"20mbit\", delay = \"20ms\", queue = \"20p\" }}\n\
             [workload.one]\nfrom = \"sources\"\nto = \"sinks\"\n\
             traffic = {{ kind = \"bulk\", size = \"3MB\" }}\n"
        );
        execute(&read(&text), 0).0.end
    };
    let [old, new] = [end("linux", ""), end("linux+linux=7.0", "")];
    assert_ne!(old, new);
    assert_eq!(end("linux", "linux = \"6.18\""), old);
    assert_eq!(end("linux", "linux = \"7.0\""), new);
    assert_eq!(end("linux+linux=7.0", "linux = \"6.18\""), new);
    let wrong = format!("linux = \"6.13\"\n{DUMBBELL}");
    let error = Plan::read("test.toml", &wrong, &|_| Err(String::new())).unwrap_err().to_string();
    assert!(error.starts_with("test.toml:1:") && error.contains("6.12, 6.18, 7.0"), "{error}");
}

#[test]
fn parallel_transfers_begin_together_and_go_one_after_another_under_phttp() {
    let text = format!(
        "schemes = [\"newreno\", \"phttp\"]\n{DUMBBELL}\
         [workload.page]\nfrom = \"sources\"\nto = \"sinks\"\ncount = 2\n\
         start = {{ kind = \"staggered\", every = \"1s\" }}\n\
         traffic = {{ kind = \"bulk\", size = \"10kB\", parallel = 3 }}\n"
    );
    let plan = read(&text);
    // Member, number of the transfer, start, bytes.
    let places = |run| {
        let (_, rows) = execute(&plan, run);
        let of = rows.into_iter().map(|row| [1, 2, 6, 10].map(|column| row[column].clone()));
        of.collect::<Vec<_>>()
    };
    let three = |member: &str, start: &str| {
        ["0", "1", "2"].map(|part| [member, part, start, "10000"].map(str::to_owned))
    };
    assert_eq!(places(0), [three("0", "0.0"), three("1", "1.0")].concat());
    let whole = |member: &str, start: &str| [member, "0", start, "30000"].map(str::to_owned);
    assert_eq!(places(1), [whole("0", "0.0"), whole("1", "1.0")]);
}

#[test]
fn rounds_can_keep_step_and_begin_otherwise_than_they_go_on() {
    let text = format!(
        "schemes = [\"newreno\"]\n{DUMBBELL}\
         [workload.r]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = {{ kind = \"rounds\", rounds = 3, size = \"1kB\", first_jitter = \"7s\", \
         jitter = \"1s\", every = \"10s\" }}\n"
    );
    let starts = drawn(&read(&text), 0, "r").into_iter().map(|[_, start, _]| start);
    // Rounds begin at 0, 10 and 20 s; transfers 7 s after the first and 1 s after the others.
    assert_eq!(starts.collect::<Vec<_>>(), ["7.0", "11.0", "21.0"]);
}

/// A source makes two transfers of 30 KB over 1.6 Mbit/s and 100 ms. A minute later another source
/// makes one to another sink. Returns the times of the first transfer of either.
fn one_after_the_other(memory: &str) -> [f64; 2] {
    let text = format!(
        "schemes = [\"spand+iw=1+mss=1000\"]\n{memory}\n\
         [topology]\nkind = \"dumbbell\"\npairs = 2\n\
         bottleneck = {{ rate = \"1.6mbit\", delay = \"50ms\" }}\n\
         [workload.early]\nfrom = \"sources[0]\"\nto = \"sinks[0]\"\n\
         traffic = {{ kind = \"rounds\", rounds = 2, size = \"30kB\", idle = \"5s\" }}\n\
         [workload.late]\nfrom = \"sources[1]\"\nto = \"sinks[1]\"\nstart = \"60s\"\n\
         traffic = {{ kind = \"bulk\", size = \"30kB\" }}\n"
    );
    let (_, rows) = execute(&read(&text), 0);
    let seconds = |text: &String| text.parse::<f64>().unwrap();
    // To the microsecond: the difference of two times of day rounds.
    [&rows[0], &rows[2]].map(|row| ((seconds(&row[8]) - seconds(&row[6])) * 1e6).round() / 1e6)
}

#[test]
fn the_hosts_of_a_site_know_what_one_of_them_has_learnt() {
    let [first, second] = one_after_the_other("");
    assert_eq!(first, second, "each source has a gateway of its own");
    for collecting in ["reports", "option", "passive"] {
        let memory = format!("memory = {{ sites = [\"sources\"], collecting = \"{collecting}\" }}");
        let [first, second] = one_after_the_other(&memory);
        // From one segment slow start sends 30 in five round trips, or in more if every second
        // segment is acknowledged. Its final window lets the next transfer send them in two or
        // three.
        assert!(second < first - 0.2, "{collecting}: {first}, then {second}");
    }
    for forgets in ["window = \"50s\"", "scope = \"host\"", "enough = 5", "max_age = \"50s\""] {
        let memory = format!("memory = {{ sites = [\"sources\"], {forgets} }}");
        let [first, second] = one_after_the_other(&memory);
        assert_eq!(first, second, "{forgets}");
    }
}

#[test]
fn a_gateway_knows_what_its_rule_lets_transfers_tell() {
    let [alone, _] = one_after_the_other("");
    let second = |rule: &str| {
        one_after_the_other(&format!("memory = {{ sites = [\"sources\"], {rule} }}"))[1]
    };
    // Losses alone: there is none, so nothing is known. The largest flight of slow start is less
    // than the window that it ends with, and the next transfer needs a round trip more or as many.
    assert_eq!(second("quiet = \"none\""), alone);
    let (used, window) = (second("quiet = \"used\""), second("quiet = \"window\""));
    assert!(window <= used && used < alone, "{window}, {used}, {alone}");
    let no_loss = ["quiet = \"recorded\"", "early_loss = \"share\"", "early_loss = \"end\""];
    for same in no_loss.into_iter().chain(["weigh = \"hosts\""]) {
        // Only one host has reports.
        assert_eq!(second(same), window, "{same}");
    }
}

#[test]
fn a_host_has_one_gateway() {
    let text = format!(
        "memory = {{ sites = [\"sources\", \"s0\"] }}\n{DUMBBELL}\
         [workload.one]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = {{ kind = \"bulk\", size = \"1kB\" }}\n"
    );
    let Err(error) = Plan::read("test.toml", &text, &|_| Err("no files".to_owned())) else {
        panic!("the plan was taken");
    };
    let text = error.to_string();
    assert!(text.contains("s0 is in a site already") && text.contains("test.toml:1"), "{text}");
}
