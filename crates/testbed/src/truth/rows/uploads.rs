//! Rows in which the client sends.

use super::super::row::{KernelEvidence, TruthRow};
use super::super::script::{ConnectionScript, EndScript, ScriptStep};
use super::super::sockets::TruthSocket;
use super::ms;
use trace::TimeShare::{Handshake, Request, Think};

/// Bytes of the answer.
const RECEIPT: u64 = 500;

pub(super) fn rows() -> Vec<TruthRow> {
    let bytes = 1_000_000;
    let upload = |path: &str, take: ScriptStep, name: &str| {
        let client = EndScript::of([ScriptStep::Write(bytes), ScriptStep::Read(RECEIPT)]);
        let server = EndScript::of([take, ScriptStep::Write(RECEIPT)]);
        TruthRow::over(path, format!("upload 1 MB {name}"))
            .with(ConnectionScript { client, server, ..ConnectionScript::default() })
            .with_first_cause([Request])
            .with_claims([Handshake, Request, Think])
    };
    let slowly = ScriptStep::ReadSlowly { bytes, chunk: 10_000, every: ms(20) };
    let small = TruthSocket { receive_buffer: Some(65_536), ..TruthSocket::default() };
    vec![
        upload("200mbit,80ms,1000p", ScriptStep::Read(bytes), "in slow start")
            .proved_by([KernelEvidence::NoRetransmission])
            .in_quick_set(),
        upload("20mbit,40ms,200p,loss=1%", ScriptStep::Read(bytes), "with loss of 1 %")
            .proved_by([KernelEvidence::Retransmission]),
        upload("20mbit,40ms,200p", slowly, "to a slow reader").server_socket(small),
        upload("10mbit,40ms,60p", ScriptStep::Read(bytes), "over a full link"),
    ]
}
