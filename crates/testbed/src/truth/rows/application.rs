//! Rows that the server's application bounds, and requests that are not answered whole.

use super::super::row::{KernelEvidence, TruthRow};
use super::super::script::{ConnectionScript, EndScript, REQUEST, ScriptStep};
use super::ms;
use trace::TimeShare::{Application, Handshake, Path, Request, SlowStart, Think};

const CLEAN: [KernelEvidence; 2] = [KernelEvidence::NoRetransmission, KernelEvidence::NoLimit];
const PATH: &str = "20mbit,40ms,200p";

pub(super) fn rows() -> Vec<TruthRow> {
    vec![
        think_time(300, 20_000, "300 ms 20 kB").in_quick_set(),
        think_time(1000, 200_000, "1 s 200 kB"),
        think_time(100, 2_000, "100 ms 2 kB"),
        streaming(20_000, 50, 40, PATH, "20 kB every 50 ms").in_quick_set(),
        streaming(5_000, 20, 60, "10mbit,20ms,200p", "5 kB every 20 ms"),
        streaming(10_000, 200, 8, "20mbit,80ms,200p", "10 kB every 200 ms 80 ms"),
        write_pause(500, "0.5 s").in_quick_set(),
        write_pause(4000, "4 s"),
        pauses(),
        unanswered_request(),
        reset(),
    ]
}

fn think_time(time: u64, bytes: u64, name: &str) -> TruthRow {
    let steps = [ScriptStep::Pause(ms(time)), ScriptStep::Write(bytes)];
    TruthRow::over(PATH, format!("think {name}"))
        .with(ConnectionScript::request_and_answer(steps, bytes))
        .with_first_cause([Think])
        .with_claims([Handshake, Request, Think])
        .proved_by(CLEAN)
}

/// Writes so often, and so little that the link idles.
fn streaming(bytes: u64, every: u64, times: u64, path: &str, name: &str) -> TruthRow {
    let mut steps = [ScriptStep::Write(bytes), ScriptStep::Pause(ms(every))].repeat(times as usize);
    steps.push(ScriptStep::Write(bytes));
    TruthRow::over(path, format!("streaming {name}"))
        .with(ConnectionScript::request_and_answer(steps, bytes * (times + 1)))
        .with_first_cause([Application])
        .with_claims([Handshake, Think, Application])
        .proved_by(CLEAN)
}

fn write_pause(time: u64, name: &str) -> TruthRow {
    let steps = [ScriptStep::Write(50_000), ScriptStep::Pause(ms(time)), ScriptStep::Write(50_000)];
    TruthRow::over(PATH, format!("pause {name}"))
        .with(ConnectionScript::request_and_answer(steps, 100_000))
        .with_first_cause([Application])
        .with_claims([Handshake, Think, Application])
        .proved_by(CLEAN)
}

/// Parts of a page that comes from a database.
fn pauses() -> TruthRow {
    let mut steps = [ScriptStep::Write(10_000), ScriptStep::Pause(ms(150))].repeat(6);
    steps.push(ScriptStep::Write(10_000));
    TruthRow::over("50mbit,30ms,200p", "pauses six of 150 ms")
        .with(ConnectionScript::request_and_answer(steps, 70_000))
        .with_first_cause([Application])
        .with_claims([Handshake, Think, Application])
        .proved_by(CLEAN)
}

/// The client gives up.
fn unanswered_request() -> TruthRow {
    let client =
        EndScript::of([ScriptStep::Write(REQUEST), ScriptStep::Pause(ms(1500)), ScriptStep::Reset]);
    let server = EndScript::of([ScriptStep::Read(REQUEST)]);
    TruthRow::over(PATH, "request that is never answered")
        .with(ConnectionScript { client, server, ..ConnectionScript::default() })
        .with_first_cause([Think])
        .with_claims([Handshake, Request, Think])
        .proved_by(CLEAN)
}

/// The server resets when the client has a part of the response.
fn reset() -> TruthRow {
    let part = 200_000;
    let client = EndScript::of([ScriptStep::Write(REQUEST), ScriptStep::Read(2 * part)]);
    let steps =
        [ScriptStep::Read(REQUEST), ScriptStep::Write(part), ScriptStep::Drain, ScriptStep::Reset];
    let server = EndScript::of(steps);
    TruthRow::over("100mbit,80ms,1000p", "reset within the response")
        .with(ConnectionScript { client, server, ..ConnectionScript::default() })
        .with_first_cause([SlowStart])
        .with_claims([Handshake, Think, SlowStart, Path])
        .proved_by(CLEAN)
}
