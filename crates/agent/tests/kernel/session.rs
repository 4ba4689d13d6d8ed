//! One window for all connections to a host: its share of a link, weights, joiners.
//!
//! 20 Mbit/s, 80 ms, a queue of 100 packets: 138 packets in a round trip, 238 with the queue.

use crate::bed::{Agent, Bed, assert_one_flight};
use serde::Deserialize;
use socket2::Domain;
use std::time::Duration;

const RTT: Duration = Duration::from_millis(80);

/// What `senders.py` prints.
#[derive(Debug, Deserialize)]
struct Sent {
    /// Bytes of each flow.
    acked: Vec<f64>,
    /// Segments, of each flow a while after the last had begun.
    windows: Vec<f64>,
}

impl Sent {
    /// The part that all but the last flow have together.
    fn share_of_all_but_last(&self) -> f64 {
        let all: f64 = self.acked.iter().sum();
        1.0 - self.acked.last().unwrap() / all
    }
}

fn session(bed: &Bed) -> Agent {
    bed.widen_receive_window();
    bed.agent_giving("session", &[])
}

/// `None` without Python.
fn send(bed: &Bed, seconds: f64, from: f64, flows: &[&str]) -> Option<Sent> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel/senders.py");
    let sink = bed.sink();
    let (seconds, from) = (seconds.to_string(), from.to_string());
    let (ip, port) = (sink.ip().to_string(), sink.port().to_string());
    let mut command = vec!["python3", script, &ip, &port, &seconds, &from];
    command.extend(flows);
    let command: Vec<_> = command.into_iter().map(str::to_owned).collect();
    let sent = serde_json::from_str(&bed.run(&command)?).unwrap();
    eprintln!("{flows:?}: {sent:?}");
    Some(sent)
}

/// The mean part of the link that four connections have beside one CUBIC, over some runs of so many seconds. Whose
/// packets a full queue drops is chance, and two flows share unevenly for a while after.
fn part_of_four(runs: u32, seconds: f64) -> Option<f64> {
    let bed = Bed::new()?;
    let _agent = session(&bed);
    let parts = (0..runs).map(|_| {
        let sent = send(&bed, seconds, 0.0, &["1", "1", "1", "1", "1:cubic"])?;
        Some(sent.share_of_all_but_last())
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    eprintln!("four beside one: {parts:?}");
    Some(parts.iter().sum::<f64>() / f64::from(runs))
}

#[test]
fn four_connections_take_far_less_than_four() {
    let Some(part) = part_of_four(3, 12.0) else { return };
    // Four CUBICs beside one take 0.8 of the link. Runs of 12 s range from 0.3 to 0.8, by chance.
    assert!((0.25..=0.72).contains(&part), "{part}");
}

#[test]
#[ignore = "takes eight minutes"]
fn four_connections_take_what_one_takes() {
    let Some(part) = part_of_four(8, 60.0) else { return };
    assert!((0.40..=0.60).contains(&part), "{part}");
}

#[test]
fn weights_are_ratios_of_rates() {
    let Some(bed) = Bed::new() else { return };
    let _agent = session(&bed);
    // From the third second on: slow start is over.
    let Some(sent) = send(&bed, 13.0, 3.0, &["1", "3"]) else { return };
    let ratio = sent.acked[1] / sent.acked[0];
    assert!((2.85..=3.15).contains(&ratio), "{ratio}, {sent:?}");
    // Nothing is left unused for it: 20 Mbit/s are 2.41 MB/s of data.
    let all: f64 = sent.acked.iter().sum();
    assert!(all >= 0.9 * 10.0 * 2.41e6, "{all}");
}

#[test]
fn a_joiner_has_its_share_within_a_round_trip() {
    let Some(bed) = Bed::new() else { return };
    let _agent = session(&bed);
    // The windows are read 0.2 s after it began to connect: one round trip of handshake, queue included, and less than
    // one after it.
    let Some(sent) = send(&bed, 5.0, 1.0, &["1", "1", "1", "1", "1@4"]) else { return };
    let sum: f64 = sent.windows.iter().sum();
    for window in &sent.windows {
        // Rounded down, and read one after the other while ACKs arrive.
        assert!((window - sum / 5.0).abs() <= 2.0, "{sent:?}");
    }
}

#[test]
fn a_session_that_was_proven_is_remembered_and_begins_warm() {
    let Some(bed) = Bed::new() else { return };
    let agent = session(&bed);
    let server = bed.serve(Domain::IPV4, None);
    let cold = bed.visit(&server, 200_000);
    agent.wait_for_closed(1);
    // As of one connection by itself: windows of 10, 20, 40, 80.
    assert!(cold >= 5 * RTT, "{cold:?}");
    let window = agent.paths()[0].window;
    assert!((100..=160).contains(&window), "{window}");
    assert_one_flight((&bed, &agent, &server), 1, cold);
}
