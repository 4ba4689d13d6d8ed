//! Rows over TLS, short enough that its round trips are most of the time beside the path's.

use super::super::row::{KernelEvidence, TruthRow};
use super::super::secured::TlsSetup;
use trace::TimeShare::{Handshake, Path, Request, Tls};

const CLEAN: [KernelEvidence; 2] = [KernelEvidence::NoRetransmission, KernelEvidence::NoLimit];

pub(super) fn rows() -> Vec<TruthRow> {
    let row = |setup: TlsSetup, name: &str| {
        TruthRow::over("50mbit,60ms,300p", format!("TLS {name}"))
            .fetching(3_000)
            .tls(setup)
            .with_first_cause([Handshake, Tls, Path])
            .with_claims([Handshake, Tls, Request, Path])
            .proved_by(CLEAN)
    };
    // Two round trips of TLS: more than the handshake's and the path's one each.
    let two = |row: TruthRow| row.with_first_cause([Tls]);
    let new = TlsSetup::NEW;
    let old = TlsSetup { is_old: true, ..new };
    vec![
        row(new, "1.3 new").in_quick_set(),
        row(TlsSetup { resumes: true, ..new }, "1.3 resumed"),
        two(row(old, "1.2 new")),
        row(TlsSetup { resumes: true, ..old }, "1.2 resumed"),
        two(row(TlsSetup { large_certificate: true, ..new }, "1.3 certificate of 17 kB")),
    ]
}
