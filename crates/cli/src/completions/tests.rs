//! The lists are whole: nothing that has a list of values is forgotten, and nothing is offered that
//! is refused.

use super::values;
use crate::Cli;
use clap::CommandFactory;
use cmdline::complete::{Asked, Completion, schemes, unlisted};
use tcp::Scheme;
use tcp::scheme::parameters;

/// Values that cannot be listed: numbers, times, sizes, addresses, names that the user makes up.
const FREE: &[&str] = &[
    "address",
    "arguments",
    "background",
    "budget",
    "client",
    "client_window",
    "connections",
    "count",
    "date",
    "device",
    "dns",
    "fd",
    "from",
    "grace",
    "har_page",
    "idle",
    "jobs",
    "keep",
    "log_format",
    "lost",
    "min_rate",
    "most_transfers",
    "network",
    "pid",
    "port",
    "queue",
    "rate",
    "repeat",
    "rotate",
    "rtt",
    "rtt_of",
    "seed",
    "sent",
    "site",
    "snap",
    "spin",
    "stall",
    "threads",
    "time",
    "tls_flight",
    "to",
    "upload",
    "visits",
    "weights",
    "window",
];

fn typed(command: &str, argument: &str, typed: &str) -> Completion {
    values::of(&Asked { command, argument, typed }).unwrap_or_default()
}

fn texts(completion: &Completion) -> Vec<&str> {
    completion.candidates.iter().map(|candidate| candidate.text.as_ref()).collect()
}

#[test]
fn every_option_has_its_values() {
    assert_eq!(unlisted(Cli::command(), &values::of), FREE);
}

#[test]
fn parameters_with_names_for_values_offer_all_of_them() {
    for parameter in parameters() {
        let scheme = format!("linux+{}=", parameter.name);
        let offered = typed("serve", "scheme", &scheme);
        assert_eq!(offered.settled, scheme.len());
        for value in texts(&offered) {
            Scheme::parse(&format!("{scheme}{value}")).unwrap();
        }
        let named = parameter.values.split('|').filter(|_| parameter.values.contains('|'));
        for value in named.filter(|value| !value.contains(' ')) {
            let is_taken = Scheme::parse(&format!("{scheme}{value}")).is_ok();
            assert_eq!(texts(&offered).contains(&value), is_taken, "{scheme}{value}");
        }
        if let Some(default) = parameter.default {
            assert!(texts(&offered).contains(&default), "{scheme}{default}");
        }
    }
}

#[test]
fn lists_and_paths_go_on_behind_commas() {
    let second = typed("race", "schemes", "linux,newreno+cc=");
    assert_eq!(second.settled, "linux,newreno+cc=".len());
    assert!(texts(&second).contains(&"bbr"));
    assert!(texts(&typed("race", "schemes", "")).contains(&"hs-cubic"));
    assert!(texts(&typed("serve", "scheme", "")).contains(&"hs-cubic"));
    assert!(texts(&typed("race", "schemes", "hs-cubic+")).contains(&"size="));
    assert!(texts(&typed("race", "path", "20mbit,80ms,")).is_empty());
    assert!(texts(&typed("race", "path", "20mbit,80ms,9p,")).contains(&"fq_codel"));
    assert!(!texts(&typed("emulate", "up", "20mbit,80ms,9p,")).contains(&"up="));
    // A parameter that is there is not offered again.
    assert!(!texts(&schemes::one("linux+iw=3+", |_| true)).contains(&"iw="));
}
