//! Known reasons why packetdrill's scripts differ: what the kernel does there and the model does
//! not.
//!
//! A reason is for a difference and not for a script. It is given if line, expectation and event
//! are those that were compared with the kernel, wherever the script lies.

use script::Mismatch;

/// A difference that was compared with Linux 6.18 under packetdrill.
struct KnownDifference {
    /// Name of the script, as packetdrill has it.
    script: &'static str,
    line: u32,
    message: &'static str,
    expected: &'static str,
    actual: &'static str,
    reason: &'static str,
}

const fn known_difference(
    script: &'static str,
    line: u32,
    message: &'static str,
    expected: &'static str,
    actual: &'static str,
    reason: &'static str,
) -> KnownDifference {
    KnownDifference { script, line, message, expected, actual, reason }
}

impl KnownDifference {
    fn is(&self, mismatch: &Mismatch) -> bool {
        (self.line, self.message, self.expected, self.actual)
            == (mismatch.line, &*mismatch.message, &*mismatch.expected, &*mismatch.actual)
    }
}

/// The kernel's reason for the difference in the script `name`, if it is known. The kernel's
/// selftests have packetdrill's scripts under flat names, like `tcp_sack_…`, and with other lines.
/// A reason for them is marked as a guess.
pub(super) fn of(name: &str, mismatch: &Mismatch) -> Option<String> {
    if let Some(known) = KNOWN.iter().find(|known| known.is(mismatch)) {
        return Some(known.reason.to_owned());
    }
    let name = name.rsplit('/').next().unwrap_or(name);
    let flat = |script: &str| format!("tcp_{}", script.replace('/', "_"));
    let guess = SELFTESTS.iter().find(|(script, _)| *script == name).map(|(_, reason)| *reason);
    let of_known = || KNOWN.iter().find(|known| flat(known.script) == name);
    let guess = guess.or_else(|| of_known().map(|known| known.reason));
    guess.map(|reason| format!("perhaps: {reason}"))
}

const SEND_BUFFER: &str = "the kernel's send buffer counts memory (`truesize` of each `sk_buff`), which decides how much a \
                           write takes; the model takes whatever is written";
const SCRIPT_IS_OLDER: &str =
    "Linux 6.18 has a window of 36 here, as the model has; the script is of another kernel";
const LOCAL_DROPS: &str = "the queue refuses what the kernel sends, which it learns at once and tries again every 500 ms \
                           (`TCP_RESOURCE_PROBE_INTERVAL`); the model takes these segments for lost on the way";
const ONE_BUFFER: &str = "the kernel sends the segments of one `sk_buff` again as one, which ends with PSH; the model sends \
                          each on its own";

const RECEIVE_MEMORY: &str = "the kernel's receive buffer counts memory (`truesize` of each `sk_buff`), which decides its window, \
                              and it takes a segment whole that begins within the window; the model counts bytes";

/// Compared differences, by script.
const KNOWN: &[KnownDifference] = &[
    known_difference(
        "blocking/blocking-write.pkt",
        24,
        "the call returns at another time",
        "write(4, ..., 61000) = 61000 ... 0.500000",
        "it returns at 0.200000",
        SEND_BUFFER,
    ),
    known_difference(
        "cubic/cubic-bulk-166k.pkt",
        53,
        "the assertion does not hold",
        "tcpi_snd_cwnd == 40",
        "tcpi_snd_cwnd = 36",
        SCRIPT_IS_OLDER,
    ),
    known_difference(
        "cubic/cubic-bulk-166k-idle-restart.pkt",
        51,
        "the assertion does not hold",
        "tcpi_snd_cwnd == 40",
        "tcpi_snd_cwnd = 36",
        SCRIPT_IS_OLDER,
    ),
    known_difference(
        "cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data.pkt",
        44,
        "the assertion does not hold",
        "tcpi_retrans == 0",
        "tcpi_retrans = 1",
        LOCAL_DROPS,
    ),
    known_difference(
        "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt",
        25,
        "the assertion does not hold",
        "tcpi_ca_state == TCP_CA_CWR",
        "tcpi_ca_state = 0",
        "the kernel answers ECN in CWR, by PRR over a round trip (to a window of 5 in Linux 6.18, 4 in the \
         script); the model lowers it at once",
    ),
    known_difference(
        "fast_retransmit/fr-4pkt-fack-last-mss.pkt",
        27,
        "the segment is 13ms early",
        "0.240000 > . 1:1001(1000) ack 1",
        "0.227000 > . 1:1001(1000) ack 1 win 256",
        "the kernel's timers run in ticks of 4 ms and round up (Linux 6.18 is 9 ms early, the model 13 ms); both have \
         a reordering window of 27 ms",
    ),
    known_difference(
        "fastopen/server/client-ack-dropped-then-recovery-ms-timestamps.pkt",
        38,
        "the host sends nothing",
        "0.010000 > P. 1:2001(2000) ack 1001 <TS val 2010 ecr 1010>",
        "nothing until 0.014000; the next timer is at 0.022000",
        ONE_BUFFER,
    ),
    known_difference(
        "gro/gro-mss-option.pkt",
        20,
        "the segment differs in acknowledgement",
        "0.000000 > . 1:1(0) ack 10001",
        "0.000000 > . 1:1(0) ack 1 win 256",
        "Linux 6.18 refuses the data as the model does; the script needs receive offload that merges its segments",
    ),
    known_difference(
        "ioctl/ioctl-siocinq-fin.pkt",
        28,
        "the host sends nothing",
        "0.300000 > . 1:1(0) ack 2002",
        "nothing until 0.304000; the next timer is at 0.340000",
        "Linux 6.18 delays this ACK of data with a FIN by 40 ms, as the model does; the script is of another kernel",
    ),
    known_difference(
        "notsent_lowat/notsent-lowat-default.pkt",
        25,
        "the call returns something else",
        "write(4, ..., 59000) = 58000",
        "it returns 59000",
        SEND_BUFFER,
    ),
    known_difference(
        "notsent_lowat/notsent-lowat-setsockopt.pkt",
        24,
        "the call returns something else",
        "write(4, ..., 59000) = 26000",
        "it returns 59000",
        SEND_BUFFER,
    ),
    known_difference(
        "notsent_lowat/notsent-lowat-sysctl.pkt",
        25,
        "the call returns something else",
        "write(4, ..., 59000) = 26000",
        "it returns 59000",
        SEND_BUFFER,
    ),
    known_difference(
        "sack/sack-route-refresh-ip-tos.pkt",
        35,
        "the segment differs in flags",
        "0.070000 > P. 17521:20441(2920) ack 1",
        "0.070000 > . 18981:20441(1460) ack 1 win 256",
        ONE_BUFFER,
    ),
    known_difference(
        "shutdown/shutdown-rdwr-write-queue-close.pkt",
        25,
        "the host sends nothing",
        "0.030000 > F. 10001:10001(0) ack 1",
        "nothing until 0.034000; the next timer is at 0.042000",
        "Linux 6.18 keeps this FIN until the window has room or the tail-loss probe takes it, as the model does; the \
         script is of another kernel",
    ),
    known_difference(
        "slow_start/slow-start-fq-ack-per-2pkt.pkt",
        41,
        "the host sends nothing after the first 1460 bytes of this",
        "0.305000 > P. 14601:17521(2920) ack 1",
        "nothing until 0.309000; the next timer is at 0.309307578",
        "the kernel under fq sends pairs of segments as one, which the queue spaces; the model's pacer spaces segments",
    ),
    known_difference(
        "tcp_info/tcp-info-sndbuf-limited.pkt",
        18,
        "the call returns at another time",
        "write(3, ..., 150000) = 150000 ... 0.150000",
        "it returns at 0.100000",
        SEND_BUFFER,
    ),
    known_difference(
        "ts_recent/invalid_ack.pkt",
        24,
        "the segment differs in acknowledgement, options",
        "0.200000 > . 1:1(0) ack 1001 <TS val 200 ecr 201>",
        "0.200000 > . 1:1(0) ack 1 win 65535 <TS val 200 ecr 200>",
        "Linux 6.18 answers as the model does, without the segment's timestamp and data; the script is of another kernel",
    ),
    known_difference(
        "user_timeout/user-timeout-probe.pkt",
        30,
        "the call returns something else",
        "write(4, ..., 24) = 24",
        "it returns -1 ETIMEDOUT",
        LOCAL_DROPS,
    ),
];

/// Scripts of the kernel's selftests alone, with reasons by their text.
const SELFTESTS: &[(&str, &str)] = &[
    (
        "tcp_fastopen_server_trigger-rst-reconnect.pkt",
        "the kernel's reset of `connect(AF_UNSPEC)` offers a window, which is of no use; the model's has none",
    ),
    ("tcp_ooo_rcv_mss.pkt", RECEIVE_MEMORY),
    ("tcp_rcv_big_endseq.pkt", RECEIVE_MEMORY),
    ("tcp_rcv_neg_window.pkt", RECEIVE_MEMORY),
    ("tcp_rcv_wnd_shrink_nomem.pkt", RECEIVE_MEMORY),
    ("tcp_rcv_zero_wnd_fin.pkt", RECEIVE_MEMORY),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(line: u32, expected: &str, actual: &str) -> Mismatch {
        Mismatch {
            name: String::new(),
            line,
            message: "the assertion does not hold".to_owned(),
            expected: expected.to_owned(),
            actual: actual.to_owned(),
        }
    }

    /// A copy of the script under another name has the same reason.
    #[test]
    fn a_reason_is_of_its_difference_alone() {
        let of = |line, expected, actual| of("copy.pkt", &mismatch(line, expected, actual));
        let (expected, actual) = ("tcpi_snd_cwnd == 40", "tcpi_snd_cwnd = 36");
        assert_eq!(of(53, expected, actual).as_deref(), Some(SCRIPT_IS_OLDER));
        assert_eq!(of(54, expected, actual), None);
        assert_eq!(of(53, "tcpi_snd_cwnd == 41", actual), None);
        assert_eq!(of(53, expected, "tcpi_snd_cwnd = 35"), None);
    }

    #[test]
    fn a_selftest_s_reason_is_a_guess() {
        let of = |name| of(name, &mismatch(1, "", ""));
        let guess = Some(format!("perhaps: {SEND_BUFFER}"));
        assert_eq!(of("x/tcp_blocking_blocking-write.pkt"), guess);
        assert_eq!(of("blocking/blocking-write.pkt"), None);
        assert_eq!(of("tcp_ooo_rcv_mss.pkt"), Some(format!("perhaps: {RECEIVE_MEMORY}")));
    }
}
