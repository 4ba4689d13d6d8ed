//! Rows that the sender bounds: slow start, its buffer, its pacing, Nagle's algorithm.

use super::super::row::{KernelEvidence, TruthRow};
use super::super::script::{ConnectionScript, EndScript, REQUEST, ScriptStep};
use super::super::sockets::TruthSocket;
use super::ms;
use trace::TimeShare::{
    Application, Handshake, Nagle, Pacing, Path, Request, SendBuffer, SlowStart, Think,
};

const CLEAN: [KernelEvidence; 2] = [KernelEvidence::NoRetransmission, KernelEvidence::NoLimit];

pub(super) fn rows() -> Vec<TruthRow> {
    let mut rows = Vec::from(slow_start_rows());
    rows.extend([after_idle(), after_writes_stopped()]);
    rows.extend(nagle());
    rows.extend(caps());
    rows.extend(short_rows());
    rows
}

/// Slow start alone: nothing is lost, and the window is smaller than the path.
fn slow_start_rows() -> [TruthRow; 3] {
    let start = |path: &str, bytes, name: &str| {
        let row = TruthRow::over(path, format!("slow start {name}")).fetching(bytes);
        let claims = [Handshake, Think, SlowStart, Path];
        row.with_first_cause([SlowStart]).with_claims(claims).proved_by(CLEAN)
    };
    [
        start("200mbit,100ms,1000p", 300_000, "300 kB 200 Mbit/s 100 ms").in_quick_set(),
        start("50mbit,40ms,300p", 100_000, "100 kB 50 Mbit/s 40 ms"),
        start("100mbit,80ms,1000p", 200_000, "200 kB 100 Mbit/s 80 ms"),
    ]
}

/// The kernel forgets the window of an idle connection (`tcp_slow_start_after_idle`).
fn after_idle() -> TruthRow {
    let bytes = 300_000;
    let client = EndScript::of([
        ScriptStep::Write(REQUEST),
        ScriptStep::Read(bytes),
        ScriptStep::Pause(ms(1500)),
        ScriptStep::Write(REQUEST),
        ScriptStep::Read(bytes),
    ]);
    let once = [ScriptStep::Read(REQUEST), ScriptStep::Write(bytes)];
    let server = EndScript::of(once.repeat(2));
    TruthRow::over("100mbit,80ms,1000p", "restart after idle")
        .with(ConnectionScript { client, server, ..ConnectionScript::default() })
        .with_first_cause([SlowStart])
        .with_claims([Handshake, Request, Think, SlowStart, Path])
        .proved_by(CLEAN)
}

/// The server is silent between two parts for so long that its window is small again.
fn after_writes_stopped() -> TruthRow {
    let bytes = 250_000;
    let steps = [ScriptStep::Write(bytes), ScriptStep::Pause(ms(1000)), ScriptStep::Write(bytes)];
    TruthRow::over("100mbit,80ms,1000p", "restart after a pause in the response")
        .with(ConnectionScript::request_and_answer(steps, 2 * bytes))
        .with_first_cause([Application])
        .with_claims([Handshake, Think, Application])
        .proved_by(CLEAN)
}

/// Two small writes, the second of which waits for the ACK of the first, which the client delays.
fn nagle() -> [TruthRow; 2] {
    let nagle = TruthSocket { nagle: true, ..TruthSocket::default() };
    // A client that answers soon after it was sent to delays its ACKs: four exchanges.
    let row = |path: &str, name: &str| {
        let answer = [ScriptStep::Read(REQUEST), ScriptStep::Write(200), ScriptStep::Write(300)];
        let ask = [ScriptStep::Write(REQUEST), ScriptStep::Read(500)];
        let server = EndScript { socket: nagle, ..EndScript::of(answer.repeat(4)) };
        let client = EndScript::of(ask.repeat(4));
        TruthRow::over(path, format!("Nagle and delayed ACKs {name}"))
            .with(ConnectionScript { client, server, ..ConnectionScript::default() })
            .with_first_cause([Nagle])
            .with_claims([Nagle, Think, Path])
            .proved_by(CLEAN)
    };
    [row("20mbit,10ms,100p", "10 ms").in_quick_set(), row("20mbit,40ms,100p", "40 ms")]
}

/// Caps of the sender's own.
fn caps() -> [TruthRow; 6] {
    let limited = [KernelEvidence::NoRetransmission, KernelEvidence::SendBuffer];
    let buffer = |bytes, path: &str, size, name: &str| {
        let socket = TruthSocket { send_buffer: Some(size), ..TruthSocket::default() };
        let steps = [ScriptStep::WriteInParts { bytes, chunk: 8192 }];
        let row = TruthRow::over(path, format!("send buffer {name}"));
        let row = row.with(ConnectionScript::request_and_answer(steps, bytes));
        let row = row.server_socket(socket).with_first_cause([SendBuffer]);
        row.with_claims([Handshake, SendBuffer]).proved_by(limited)
    };
    let paced = |bytes, path: &str, bps, name: &str| {
        let socket = TruthSocket { pacing_bps: Some(bps), ..TruthSocket::default() };
        let row = TruthRow::over(path, format!("pacing cap {name}")).fetching(bytes);
        let row = row
            .server_socket(socket)
            .with_first_cause([Pacing])
            .with_claims([Handshake, Pacing, Path]);
        row.proved_by(CLEAN)
    };
    let in_parts = [ScriptStep::WriteInParts { bytes: 500_000, chunk: 8192 }];
    let memory = TruthRow::over("50mbit,80ms,400p", "send buffer tcp_wmem 16 kB")
        .with(ConnectionScript::request_and_answer(in_parts, 500_000))
        .server_sysctl("net.ipv4.tcp_wmem", "4096 16384 16384")
        .with_first_cause([SendBuffer])
        .with_claims([Handshake, SendBuffer])
        .proved_by(limited);
    [
        buffer(800_000, "50mbit,80ms,400p", 16_384, "16 kB 80 ms").in_quick_set(),
        buffer(2_000_000, "100mbit,40ms,800p", 32_768, "32 kB 40 ms"),
        buffer(4_000_000, "200mbit,40ms,1000p", 65_536, "64 kB 40 ms"),
        memory,
        paced(1_000_000, "20mbit,40ms,100p", 4_000_000, "4 of 20 Mbit/s").in_quick_set(),
        paced(1_500_000, "100mbit,20ms,400p", 8_000_000, "8 of 100 Mbit/s"),
    ]
}

/// Responses of one window or two: round trips are all there is.
fn short_rows() -> [TruthRow; 4] {
    let row = |bytes, path: &str, name: &str| {
        let row = TruthRow::over(path, format!("short {name}")).fetching(bytes);
        row.with_first_cause([Path, Handshake])
            .with_claims([Handshake, Request, Think, Path])
            .proved_by(CLEAN)
    };
    let two_rounds = |row: TruthRow| row.with_first_cause([Path, Handshake, SlowStart]);
    [
        row(3_000, "50mbit,40ms,300p", "3 kB").in_quick_set(),
        row(14_000, "50mbit,40ms,300p", "14 kB"),
        row(8_000, "5mbit,100ms,100p", "8 kB 5 Mbit/s 100 ms"),
        two_rounds(row(30_000, "50mbit,40ms,300p", "30 kB")),
    ]
}
