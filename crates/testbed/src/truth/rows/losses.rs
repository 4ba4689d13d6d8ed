//! Rows with random loss, which keeps the window small.

use super::super::row::{KernelEvidence, TruthRow};
use trace::TimeShare::{Avoidance, Handshake, Path, Recovery, Timeout};

pub(super) fn rows() -> Vec<TruthRow> {
    let lossy = |path: &str, bytes, name: &str| {
        let row = TruthRow::over(path, format!("random loss {name}")).fetching(bytes);
        let evidence = [KernelEvidence::Retransmission, KernelEvidence::NoLimit];
        row.with_first_cause([Avoidance, Recovery, Timeout])
            .with_claims([Handshake, Path])
            .proved_by(evidence)
    };
    vec![
        lossy("20mbit,80ms,200p,loss=1%", 1_500_000, "1 % 20 Mbit/s 80 ms").in_quick_set(),
        lossy("20mbit,40ms,200p,loss=2%", 1_000_000, "2 % 20 Mbit/s"),
        lossy("50mbit,80ms,400p,loss=1%", 1_000_000, "1 % 50 Mbit/s 80 ms"),
        lossy("100mbit,20ms,400p,loss=2%", 2_000_000, "2 % 100 Mbit/s 20 ms"),
    ]
}
