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
    let said = refused(&["check", "pages", "--pages", "carrier pigeon"]);
    assert!(said.contains("no page has \"carrier pigeon\""), "{said}");
    assert!(said.contains("slow document") && said.contains("small receive window"), "{said}");
    for number in ["0", "13"] {
        let said = refused(&["check", "quic", "--cells", number]);
        assert!(said.contains("use numbers from 1 to 12"), "{said}");
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
