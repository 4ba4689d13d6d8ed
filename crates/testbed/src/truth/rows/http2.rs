//! Rows of HTTP/2 over TLS: frames for settings and windows pass beside requests and responses.

use super::super::row::{KernelEvidence, TruthRow};
use super::super::script::{ConnectionScript, EndScript, REQUEST, ScriptStep};
use super::super::secured::TlsSetup;
use super::ms;
use ScriptStep::{Control, Pause, Read, Write};
use trace::TimeShare::{Application, Handshake, Path, Request, SlowStart, Think, Tls};

const CLEAN: [KernelEvidence; 2] = [KernelEvidence::NoRetransmission, KernelEvidence::NoLimit];

/// Bytes of frames (RFC 9113 §4.1, §6.5, §6.9): a server's settings and window, the
/// acknowledgement of settings, and a larger window.
const SETTINGS: u64 = 40;
const ACKNOWLEDGEMENT: u64 = 9;
const WINDOW_UPDATE: u64 = 13;

pub(super) fn rows() -> Vec<TruthRow> {
    vec![interleaved_think_time().in_quick_set(), large(), at_once()]
}

fn over(path: &str, name: &str, client: Vec<ScriptStep>, server: Vec<ScriptStep>) -> TruthRow {
    let (client, server) = (EndScript::of(client), EndScript::of(server));
    TruthRow::over(path, format!("HTTP/2 {name}"))
        .with(ConnectionScript { client, server, ..ConnectionScript::default() })
        .tls(TlsSetup::NEW)
        .proved_by(CLEAN)
}

/// Two requests, one of them 700 ms after a control frame. The client stays for two seconds after
/// the second answer, and has no request then.
fn interleaved_think_time() -> TruthRow {
    let bytes = 20_000;
    let client = vec![
        Write(REQUEST),
        Read(SETTINGS + bytes / 2),
        Control(ACKNOWLEDGEMENT),
        Read(bytes / 2),
        Control(WINDOW_UPDATE),
        Pause(ms(700)),
        Write(REQUEST),
        Read(bytes),
        Control(WINDOW_UPDATE),
        Pause(ms(2000)),
    ];
    let server = vec![
        Control(SETTINGS),
        Read(REQUEST),
        Pause(ms(300)),
        Write(bytes),
        Read(ACKNOWLEDGEMENT + WINDOW_UPDATE + REQUEST),
        Pause(ms(200)),
        Write(bytes),
        Read(WINDOW_UPDATE),
    ];
    over("20mbit,40ms,200p", "two requests, 300 and 200 ms", client, server)
        .with_first_cause([Think])
        .with_claims([Handshake, Tls, Request, Think])
}

/// The client enlarges the window again and again.
fn large() -> TruthRow {
    let (chunk, chunks) = (64_000, 12);
    let mut client = vec![Write(REQUEST), Read(SETTINGS)];
    client.extend([Read(chunk), Control(WINDOW_UPDATE)].repeat(chunks));
    let server = vec![
        Control(SETTINGS),
        Read(REQUEST),
        Write(chunk * chunks as u64),
        Read(WINDOW_UPDATE * chunks as u64),
    ];
    over("200mbit,80ms,2000p", "768 kB, windows enlarged", client, server)
        .with_first_cause([SlowStart])
        .with_claims([Handshake, Tls, Request, Think, SlowStart, Path])
}

/// Two requests at once. The answer of one is ready at once, that of the other 400 ms later.
fn at_once() -> TruthRow {
    let client = vec![Write(REQUEST), Write(REQUEST), Read(SETTINGS + 15_000)];
    let server =
        vec![Control(SETTINGS), Read(2 * REQUEST), Write(5_000), Pause(ms(400)), Write(10_000)];
    over("20mbit,40ms,200p", "two streams, one late", client, server)
        .with_first_cause([Application])
        .with_claims([Handshake, Tls, Request, Think, Application])
}
