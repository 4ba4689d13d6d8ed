//! Rows in which the client sends.

use super::super::cause::TruthCause::{Handshake, Request, Think};
use super::super::row::{KernelEvidence, TruthRow};
use super::super::script::{ConnectionScript, EndScript, Step};
use super::super::sockets::TruthSocket;
use super::ms;

/// Bytes of the answer.
const RECEIPT: u64 = 500;

pub(super) fn rows() -> Vec<TruthRow> {
    let bytes = 1_000_000;
    let upload = |path: &str, take: Step, name: &str| {
        let client = EndScript::of([Step::Write(bytes), Step::Read(RECEIPT)]);
        let server = EndScript::of([take, Step::Write(RECEIPT)]);
        TruthRow::over(path, format!("upload 1 MB {name}"))
            .with(ConnectionScript { client, server, ..ConnectionScript::default() })
            .because([Request])
            .claiming([Handshake, Request, Think])
    };
    let slowly = Step::ReadSlowly { bytes, chunk: 10_000, every: ms(20) };
    let small = TruthSocket { receive_buffer: Some(65_536), ..TruthSocket::default() };
    vec![
        upload("200mbit,80ms,1000p", Step::Read(bytes), "in slow start")
            .proved_by([KernelEvidence::NoRetransmission])
            .quick(),
        upload("20mbit,40ms,200p,loss=1%", Step::Read(bytes), "with loss of 1 %")
            .proved_by([KernelEvidence::Retransmission]),
        upload("20mbit,40ms,200p", slowly, "to a slow reader").server_socket(small),
        upload("10mbit,40ms,60p", Step::Read(bytes), "over a full link"),
    ]
}
