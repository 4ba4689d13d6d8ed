//! Rows that the receiver bounds: its reader, or its buffer.

use super::super::row::{KernelEvidence, TruthRow};
use super::super::script::{REQUEST, ScriptStep};
use super::super::sockets::TruthSocket;
use super::ms;
use trace::TimeShare::{Handshake, ReceiverWindow, Request, Think};

const PATH: &str = "20mbit,40ms,200p";

pub(super) fn rows() -> Vec<TruthRow> {
    vec![
        slow_reader(800_000, 10_000, 20, "0.5 MB/s").in_quick_set(),
        slow_reader(400_000, 20_000, 100, "0.2 MB/s in steps of 20 kB"),
        reader_stops(1500, "1.5 s").in_quick_set(),
        reader_stops(300, "0.3 s"),
        stops_for_good(),
        small_buffer(16_384, "16 kB 80 ms"),
        small_buffer(32_768, "32 kB 80 ms"),
        clamped(),
    ]
}

fn reader(name: &str, bytes: u64, steps: &[ScriptStep]) -> TruthRow {
    let socket = TruthSocket { receive_buffer: Some(32_768), ..TruthSocket::default() };
    let steps: Vec<ScriptStep> =
        [ScriptStep::Write(REQUEST)].iter().chain(steps).copied().collect();
    TruthRow::over(PATH, name)
        .fetching(bytes)
        .client_does(steps)
        .client_socket(socket)
        .with_first_cause([ReceiverWindow])
        .with_claims([Handshake, Request, Think, ReceiverWindow])
        .proved_by([KernelEvidence::ReceiverWindow])
}

fn slow_reader(bytes: u64, chunk: u64, every: u64, name: &str) -> TruthRow {
    let every = ms(every);
    let steps = [ScriptStep::ReadSlowly { bytes, chunk, every }];
    reader(&format!("slow reader {name}"), bytes, &steps)
}

fn reader_stops(time: u64, name: &str) -> TruthRow {
    let steps = [ScriptStep::Read(100_000), ScriptStep::Pause(ms(time)), ScriptStep::Read(100_000)];
    reader(&format!("reader stops {name}"), 200_000, &steps)
}

fn stops_for_good() -> TruthRow {
    let steps = [ScriptStep::Read(100_000), ScriptStep::Pause(ms(2000)), ScriptStep::Reset];
    reader("reader stops for good", 1_000_000, &steps)
}

/// The buffer holds less than the path does.
fn small_buffer(bytes: usize, name: &str) -> TruthRow {
    let socket = TruthSocket { receive_buffer: Some(bytes), ..TruthSocket::default() };
    TruthRow::over("20mbit,80ms,200p", format!("small receive buffer {name}"))
        .fetching(800_000)
        .client_socket(socket)
        .with_first_cause([ReceiverWindow])
        .with_claims([Handshake, Request, Think, ReceiverWindow])
        .proved_by([KernelEvidence::NoRetransmission, KernelEvidence::ReceiverWindow])
}

/// A clamp below 64 kB leaves window scaling out (RFC 7323 §2.3). The kernel raises the clamp
/// later.
fn clamped() -> TruthRow {
    let socket = TruthSocket { window_clamp: Some(30_000), ..TruthSocket::default() };
    TruthRow::over("50mbit,60ms,200p", "receive window of 64 kB not scaled")
        .fetching(2_000_000)
        .client_socket(socket)
        .with_first_cause([ReceiverWindow])
        .with_claims([Handshake, Request, Think, ReceiverWindow])
        .proved_by([KernelEvidence::NoRetransmission, KernelEvidence::ReceiverWindow])
}
