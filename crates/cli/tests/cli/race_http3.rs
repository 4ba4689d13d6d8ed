//! `headstart race --http 3`: what it changes, and what cannot be had with it.

use crate::race::{json, number_of};
use crate::run::refused;

/// A handshake of transport and TLS in one saves a round trip of 80 ms; packets take less than 2
/// ms more or less at 20 Mbit/s.
#[test]
fn an_object_is_there_a_round_trip_sooner_than_over_http2() {
    let over = |http, tls| {
        let race = ["race", "5kB", "--path", "20mbit,80ms,100p", "--http", http, "--tls", tls];
        let how = ["--schemes", "linux", "--exact", "--json"];
        number_of(&json(&[&race[..], &how].concat()), "linux", "page_s")
    };
    for tls in ["1.3", "0rtt"] {
        let sooner = over("2", tls) - over("3", tls);
        assert!((sooner - 0.08).abs() < 0.002, "{tls}: {sooner}");
    }
}

#[test]
fn what_has_no_quic_is_refused_with_the_way_out() {
    let http3 = |more: &[&'static str]| [&["race", "30kB", "--http", "3"], more].concat();
    refused(&http3(&["--on", "sim,kernel"]), &["--http 3", "simulations", "--http 2"]);
    refused(&http3(&["--tls", "1.2"]), &["TLS 1.3", "leave --tls out"]);
    refused(&http3(&["--tls", "none"]), &["TLS 1.3", "0rtt"]);
    refused(&http3(&["--server-model", "nginx"]), &["--server-model nginx", "leave it out"]);
    refused(&http3(&["--pcap", "captures"]), &["--pcap", "leave it out"]);
    refused(&["race", "30kB", "--http", "4"], &["1.0, 1.1, 2 or 3"]);
}
