//! Recognizes connections of which a display filter has left only packets with data.

use trace::ConnectionTrace;

/// Answers of at least that many packets are acknowledged on their way.
const ACKNOWLEDGED: u64 = 3;

/// Every packet of both ends carries data: whole connections have SYNs, and ACKs of answers.
pub(super) fn lacks_pure_acks(summary: &ConnectionTrace) -> bool {
    let ends = [&summary.client_sent, &summary.server_sent];
    let is_answered = summary.server_sent.data_packets >= ACKNOWLEDGED;
    is_answered && ends.iter().all(|sent| sent.packets > 0 && sent.packets == sent.data_packets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::SenderTally;

    /// Three packets with data from each end. One more of the client is an ACK, or a SYN. Without
    /// any of the client one direction was captured.
    #[test]
    fn a_connection_of_data_alone_lacks_pure_acks() {
        let lacks = |packets: u64| {
            let sent = |packets: u64| {
                let data_packets = packets.min(3);
                SenderTally { packets, data_packets, ..SenderTally::default() }
            };
            lacks_pure_acks(&ConnectionTrace {
                client_sent: sent(packets),
                server_sent: sent(3),
                ..ConnectionTrace::default()
            })
        };
        assert_eq!([0, 3, 4].map(lacks), [false, true, false]);
    }
}
