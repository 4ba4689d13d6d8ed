//! Attribution to measures: bytes that are delivered in parts, transfers that are under way when a
//! run ends.

use crate::common::{execute, read, value};
use experiment::plan::{Plan, RunResult, WorkloadMetric};

/// One line of `flows.csv`.
struct Row {
    member: usize,
    flow: usize,
    start: f64,
    is_received: bool,
    retransmissions: u64,
}

/// The result of a plan's first run, and its transfers.
fn first_run(text: &str) -> (RunResult, Vec<Row>) {
    let (result, rows) = execute(&read(text), 0);
    let row = |cells: Vec<String>| Row {
        member: cells[1].parse().unwrap(),
        flow: cells[2].parse().unwrap(),
        start: cells[6].parse().unwrap(),
        is_received: !cells[8].is_empty(),
        retransmissions: cells[12].parse().unwrap(),
    };
    (result, rows.into_iter().map(row).collect())
}

/// A message of 100 bytes is sent every 0.7 s. At 10 s, 14 have been sent, the last at 9.8 s, and
/// are delivered. At 60.2 s the 86th is sent and not delivered. So 71 are delivered in 50.2 s.
#[test]
fn telnet_is_received_message_by_message() {
    let (result, _) = first_run(
        "duration = \"60.2s\"\nschemes = [\"newreno\"]\nmeasure = { from = \"10s\" }\n\
         [topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"1mbit\", delay = \"10ms\" }\n\
         [workload.keys]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = { kind = \"telnet\", gaps = \"0.7s\", size = \"100B\" }\n",
    );
    let (goodput, by_hand) = (value(&result, WorkloadMetric::Goodput), 71.0 * 800.0 / 50.2);
    assert!((goodput / by_hand - 1.0).abs() < 1e-9, "{goodput} instead of {by_hand}");
}

/// Two sources of one workload, of which one has a link of 8 kbit/s: its 100 KB take 100 s.
#[test]
fn a_round_with_a_slow_connection_shows_the_transfers_that_are_over() {
    let (result, rows) = first_run(
        "duration = \"20s\"\nschemes = [\"newreno\"]\n\
         [topology]\nkind = \"graph\"\nhosts = [\"fast\", \"slow\", \"sink\"]\nrouters = [\"router\"]\n\
         [topology.link.fast]\nfrom = \"fast\"\nto = \"router\"\nwire = { rate = \"10mbit\" }\n\
         [topology.link.slow]\nfrom = \"slow\"\nto = \"router\"\nwire = { rate = \"8kbit\" }\n\
         [topology.link.out]\nfrom = \"router\"\nto = \"sink\"\nwire = { rate = \"10mbit\" }\n\
         [topology.group]\nsources = [\"fast\", \"slow\"]\n\
         [workload.rounds]\nfrom = \"sources\"\nto = \"sink\"\ncount = 2\n\
         traffic = { kind = \"rounds\", rounds = 3, size = \"100kB\" }\n",
    );
    let of = |metric| value(&result, metric);
    assert_eq!((of(WorkloadMetric::Flows), of(WorkloadMetric::Unfinished)), (2.0, 1.0));
    let seen: Vec<_> = rows.iter().map(|row| (row.member, row.flow, row.is_received)).collect();
    assert_eq!(seen, [(0, 0, true), (1, 0, false)]);
    // 100,000 bytes in 20 s.
    assert_eq!(of(WorkloadMetric::Goodput), 40_000.0);
    assert!(of(WorkloadMetric::CompletionMean) < 1.0);
}

/// 1 MB at 1 Mbit/s takes 8 s: none of the arrivals of 5 s is over, and those before 2 s do not
/// count.
#[test]
fn arrivals_under_way_count_by_their_start() {
    let (result, rows) = first_run(
        "duration = \"5s\"\nschemes = [\"newreno\"]\nmeasure = { from = \"2s\" }\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = { rate = \"1mbit\", delay = \"10ms\", queue = \"10p\" }\n\
         [workload.web]\nfrom = \"sources\"\nto = \"sinks\"\n\
         traffic = { kind = \"poisson\", mean_gap = \"200ms\", size = \"1MB\" }\n",
    );
    let counted: Vec<&Row> = rows.iter().filter(|row| row.start >= 2.0).collect();
    assert!(!counted.is_empty() && counted.len() < rows.len(), "{}", counted.len());
    assert!(rows.iter().all(|row| !row.is_received));
    let numbers: Vec<usize> = rows.iter().map(|row| row.flow).collect();
    assert_eq!(numbers, (0..rows.len()).collect::<Vec<_>>());
    let of = |metric| value(&result, metric);
    let number = counted.len() as f64;
    assert_eq!((of(WorkloadMetric::Flows), of(WorkloadMetric::Unfinished)), (number, number));
    let retransmissions = counted.iter().map(|row| row.retransmissions).sum::<u64>() as f64;
    assert!(retransmissions > 0.0);
    assert_eq!(of(WorkloadMetric::Retransmissions), retransmissions);
}

/// Two hosts and a link of this name, which has these keys more.
fn graph(name: &str, more: &str) -> Result<(), String> {
    let text = format!(
        "schemes = [\"newreno\"]\n[topology]\nkind = \"graph\"\nhosts = [\"a\", \"b\"]\n\
         [topology.link.plain]\nfrom = \"a\"\nto = \"b\"\nwire = {{ rate = \"1mbit\" }}\n\
         [topology.link.\"{name}\"]\nfrom = \"a\"\nto = \"b\"\n{more}\n\
         [workload.one]\nfrom = \"a\"\nto = \"b\"\ntraffic = {{ kind = \"bulk\", size = \"1kB\" }}\n\
         [measure]\ncaptures = [\"{name}\"]\n"
    );
    let plan = Plan::read("test.toml", &text, &|_| Err("no files".to_owned()));
    plan.map(|_| ()).map_err(|error| error.to_string())
}

/// A capture is a file of the link's name in the folder of its run.
#[test]
fn a_link_s_name_leads_nowhere_else() {
    let wire = "wire = { rate = \"1mbit\" }";
    for name in ["/tmp/x", "../x", "", "a b"] {
        let why = graph(name, wire).unwrap_err();
        assert!(why.starts_with("test.toml:10: ") && why.contains("use letters"), "{why}");
    }
    graph("up-2_x", wire).unwrap();
}

#[test]
fn a_one_way_link_has_no_way_back() {
    let why = graph("x", "one_way = true\nwire = { rate = \"1mbit\", back = { loss = 0.1 } }");
    assert!(why.unwrap_err().contains("leave back out"));
    graph("x", "one_way = true\nwire = { rate = \"1mbit\" }").unwrap();
}

/// A last ACK is half a second on its way. With 50 arrivals a second, the data of some 25 transfers
/// is delivered at the end of the run while their ACK is not. They have a time, so their bytes
/// count: 1000 each.
#[test]
fn an_arrival_counts_in_goodput_once_it_has_a_time() {
    let (result, rows) = first_run(
        "duration = \"5s\"\nschemes = [\"newreno\"]\nmeasure = { from = \"0s\" }\n\
         [topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"10mbit\", delay = \"500ms\" }\n\
         [workload.all]\nfrom = \"sources\"\nto = \"sinks\"\n\
         [workload.all.traffic]\nkind = \"poisson\"\nmean_gap = \"20ms\"\nsize = \"1kB\"\n",
    );
    let received = rows.iter().filter(|row| row.is_received).count() as f64;
    assert!(received > 100.0, "{received}");
    let (goodput, by_hand) = (value(&result, WorkloadMetric::Goodput), received * 8000.0 / 5.0);
    assert!((goodput / by_hand - 1.0).abs() < 1e-9, "{goodput} instead of {by_hand}");
}

/// The map page has five objects. Over one connection at a time each of the four behind the first
/// waits once for the turnaround.
#[test]
fn what_waits_for_a_connection_waits_for_the_turnaround() {
    let time = |turnaround: &str| {
        let (result, _) = first_run(&format!(
            "schemes = [\"reno\"]\nparameters = \"profile=ns2-one-way+mss=512\"\n\
             [topology]\nkind = \"dumbbell\"\nbottleneck = {{ rate = \"800kbit\", delay = \"50ms\" }}\n\
             [workload.page]\nfrom = \"sources\"\nto = \"sinks\"\n\
             [workload.page.traffic]\nkind = \"page\"\npage = \"map\"\none_way = true\nconnections = 1\n\
             turnaround = \"{turnaround}\"\n",
        ));
        value(&result, WorkloadMetric::CompletionMean)
    };
    let waits = time("50ms") - time("0s");
    assert!((waits - 4.0 * 0.05).abs() < 1e-9, "{waits}");
}
