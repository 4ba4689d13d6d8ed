//! `headstart lab check pages` and `check quic`.

use crate::run::headstart;
use serde_json::Value;
use test_support::{EMULATION, has};

#[test]
fn pages_and_cells_that_are_not_there_are_refused_with_those_that_are() {
    let refused = |args: &[&str]| {
        let output = headstart(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let printed = refused(&["check", "pages", "--pages", "carrier pigeon"]);
    assert!(printed.contains("no page has \"carrier pigeon\""), "{printed}");
    assert!(
        printed.contains("slow document") && printed.contains("small receive window"),
        "{printed}"
    );
    for number in ["0", "13"] {
        let printed = refused(&["check", "quic", "--cells", number]);
        assert!(printed.contains("use numbers from 1 to 12"), "{printed}");
    }
}

/// 1 kB over a path of 200 ms: by quinn, too, a round trip for transport and TLS and one for the
/// object.
#[test]
fn quinn_loads_a_small_object_in_two_round_trips() {
    if !has(&EMULATION) {
        return;
    }
    let output = headstart(&["check", "quic", "--cells", "11", "--json"]);
    let cells: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(cells.as_array().map(Vec::len), Some(1));
    let peer = &cells[0]["peer"];
    assert_eq!(peer["loads"], 5);
    let mean = peer["mean_s"].as_f64().expect("a time");
    assert!((0.4..0.45).contains(&mean), "{peer}");
}
