//! Rows whose link is full: the path's rate bounds them.

use super::super::row::{AckWay, KernelEvidence, TruthRow};
use super::super::script::ConnectionScript;
use super::super::sockets::TruthSocket;
use super::ms;
use trace::TimeShare::Path;

/// The path of rows whose ACKs are disturbed.
const DISTURBED: &str = "20mbit,40ms,60p";

pub(super) fn rows() -> Vec<TruthRow> {
    let full = |path: &str, bytes, name: &str| {
        let row = TruthRow::over(path, format!("full link {name}")).fetching(bytes);
        row.with_first_cause([Path]).with_claims([Path]).proved_by([KernelEvidence::NoLimit])
    };
    let bbr = TruthSocket { control: Some("bbr"), ..TruthSocket::default() };
    let unsent_low = TruthSocket { unsent_low: Some(16_384), ..TruthSocket::default() };
    let disturbed = |acks, name: &str| full(DISTURBED, 4_000_000, name).acks(acks);
    vec![
        full("10mbit,40ms,30p", 2_000_000, "10 Mbit/s 30 packets"),
        full("10mbit,40ms,100p", 2_000_000, "10 Mbit/s 100 packets"),
        full("20mbit,40ms,50p", 4_000_000, "20 Mbit/s 50 packets").in_quick_set(),
        full("20mbit,80ms,100p", 4_000_000, "20 Mbit/s 80 ms 100 packets"),
        full("50mbit,20ms,30p", 8_000_000, "50 Mbit/s 20 ms 30 packets"),
        full("50mbit,40ms,100p", 10_000_000, "50 Mbit/s 100 packets"),
        full("20mbit,40ms,100p", 4_000_000, "BBR 20 Mbit/s 100 packets").server_socket(bbr),
        full("50mbit,20ms,60p", 8_000_000, "BBR 50 Mbit/s 60 packets").server_socket(bbr),
        // The application writes as late as it can, which costs nothing.
        full("20mbit,40ms,60p", 4_000_000, "20 Mbit/s 16 kB unsent").server_socket(unsent_low),
        disturbed(AckWay::Jitter(ms(1)), "ACK jitter 1 ms"),
        disturbed(AckWay::Jitter(ms(3)), "ACK jitter 3 ms").in_quick_set(),
        disturbed(AckWay::Aggregate(ms(5)), "ACKs every 5 ms"),
        disturbed(AckWay::Aggregate(ms(10)), "ACKs every 10 ms").in_quick_set(),
        full("10mbit,20ms,60p", 2_000_000, "10 Mbit/s ACKs every 10 ms")
            .acks(AckWay::Aggregate(ms(10))),
        full("10mbit,20ms,60p", 2_000_000, "10 Mbit/s ACK jitter 3 ms").acks(AckWay::Jitter(ms(3))),
        shared_link(),
    ]
}

/// Four connections fill the link together. Nothing shows the share of the link that each gets.
fn shared_link() -> TruthRow {
    let row = TruthRow::over("20mbit,40ms,100p", "full link four connections");
    let one = || ConnectionScript::fetch(1_500_000);
    (0..4)
        .fold(row, |row, _| row.with(one()))
        .with_first_cause([Path])
        .proved_by([KernelEvidence::NoLimit])
}
