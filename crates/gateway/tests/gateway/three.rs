//! Three gateways over one store, each a separate process, are killed one after the other while
//! agents report and ask.

use crate::failover::FailoverLoad;
use gateway::daemon::Daemon;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{env, io, thread};
use tokio::sync::oneshot;

/// Longest time until an agent has answers of another gateway.
const FOLLOWS: Duration = Duration::from_secs(1);
/// Environment variable that makes this program a gateway, with the path of its configuration.
const CONFIG: &str = "HEADSTART_TEST_GATEWAY";

fn gateway(config: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "three::is_a_gateway_for_another_test", "--ignored", "--quiet"]);
    command.env(CONFIG, config);
    command
}

#[tokio::test]
#[ignore = "is no test: a gateway that another one starts and kills"]
async fn is_a_gateway_for_another_test() {
    let Some(config) = env::var_os(CONFIG) else { return };
    let (end, ended) = oneshot::channel();
    thread::spawn(move || {
        // The gateway runs until the test that has started it is gone.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = end.send(());
    });
    let handle = Daemon::open(config.as_ref()).await.unwrap().spawn(false);
    let _ = ended.await;
    handle.end().await.unwrap();
}

#[test]
fn agents_follow_when_gateways_are_killed_and_no_report_counts_twice() {
    // An agent leaves a gateway that gives no sign of life for most of a second; a stalled machine
    // looks the same.
    test_support::retry_on_any_stall(gateways_are_killed);
}

fn gateways_are_killed() {
    let load = FailoverLoad {
        agents: 3,
        reports_per_s: 1500,
        questions_per_s: 300,
        kills: 3,
        between: Duration::from_millis(2400),
        gateway,
    };
    let Some(outcome) = load.run() else { return };
    eprintln!("{outcome}");
    assert!(outcome.longest_silence() < FOLLOWS, "{outcome}");
    assert_eq!((outcome.twice, outcome.dropped, outcome.refused), (0, 0, 0), "{outcome}");
    // A kill loses the reports that the gateway took within the last fifth of a second, and a batch
    // that it had claimed. An agent's reports wait for a quarter of a second before they are sent.
    // So three kills in about nine seconds lose at most 3 * 0.45 / 9 of the reports, a seventh.
    assert!(outcome.lost.iter().all(|lost| (-1.0..0.1).contains(&lost.after_s)), "{outcome}");
    assert!(outcome.lost.len() as u64 <= outcome.sent / 6, "{outcome}");
}
