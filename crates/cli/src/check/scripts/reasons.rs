//! Why packetdrill's scripts differ that are known to: what the kernel does there and the model does not.

/// The kernel's reason for the difference in the script at `path`, if it is known. The kernel's selftests have
/// packetdrill's scripts too, with underscores for slashes.
pub(super) fn of(path: &str) -> Option<&'static str> {
    let flat = |path: &str| path.replace('/', "_");
    let path = flat(path);
    REASONS.iter().find(|(script, _)| path.ends_with(&flat(script))).map(|(_, reason)| *reason)
}

const SEND_BUFFER: &str = "the kernel's send buffer counts memory (`truesize` of each `sk_buff`), which decides how much a \
                           write takes; the model takes whatever is written";
const SCRIPT_IS_OLDER: &str =
    "Linux 6.18 has a window of 36 here, as the model has; the script is of another kernel";
const PROBING: &str = "the kernel sends a larger segment to probe the path's MTU (`tcp_mtu_probe`); the model has no such \
                       probe";
const LOCAL_DROPS: &str = "the queue refuses what the kernel sends, which it learns at once and tries again every 500 ms \
                           (`TCP_RESOURCE_PROBE_INTERVAL`); the model takes such segments for lost on the way";
const ONE_BUFFER: &str = "the kernel sends the segments of one `sk_buff` again as one, which ends with PSH; the model sends \
                          each on its own";

const RECEIVE_MEMORY: &str = "the kernel's receive buffer counts memory (`truesize` of each `sk_buff`), which decides the window \
                              it offers; it also takes a segment whole that begins within the window; the model counts \
                              bytes";

/// Scripts by the end of their paths, compared with Linux 6.18 under packetdrill; those of the kernel's selftests by their text.
const REASONS: &[(&str, &str)] = &[
    (
        "packetdrill/tcp_fastopen_server_trigger-rst-reconnect.pkt",
        "the kernel's reset of `connect(AF_UNSPEC)` offers a window, which nobody can use; the model's has none",
    ),
    ("packetdrill/tcp_ooo_rcv_mss.pkt", RECEIVE_MEMORY),
    ("packetdrill/tcp_rcv_big_endseq.pkt", RECEIVE_MEMORY),
    ("packetdrill/tcp_rcv_neg_window.pkt", RECEIVE_MEMORY),
    ("packetdrill/tcp_rcv_wnd_shrink_nomem.pkt", RECEIVE_MEMORY),
    ("packetdrill/tcp_rcv_zero_wnd_fin.pkt", RECEIVE_MEMORY),
    ("blocking/blocking-write.pkt", SEND_BUFFER),
    ("cubic/cubic-bulk-166k.pkt", SCRIPT_IS_OLDER),
    ("cubic/cubic-bulk-166k-idle-restart.pkt", SCRIPT_IS_OLDER),
    ("cubic/cubic-rack-reo-timeout-retrans-failed-incoming-data.pkt", LOCAL_DROPS),
    (
        "cwnd_moderation/cwnd-moderation-ecn-enter-cwr-no-moderation-700.pkt",
        "the kernel answers ECN in state CWR, by PRR over a round trip (Linux 6.18 has a window of 5 then, the script 4); the \
         model lowers the window at once",
    ),
    (
        "fast_retransmit/fr-4pkt-fack-last-mss.pkt",
        "the kernel's timers run in ticks of 4 ms and round up: Linux 6.18 is 9 ms early, the model 13 ms; the reordering \
         window of 27 ms is the same",
    ),
    ("server/client-ack-dropped-then-recovery-ms-timestamps.pkt", ONE_BUFFER),
    (
        "gro/gro-mss-option.pkt",
        "Linux 6.18 refuses the data as the model does; the script needs receive offload that merges its segments",
    ),
    ("mtu_probe/basic-v4.pkt", PROBING),
    ("mtu_probe/basic-v6.pkt", PROBING),
    ("notsent_lowat/notsent-lowat-default.pkt", SEND_BUFFER),
    ("notsent_lowat/notsent-lowat-setsockopt.pkt", SEND_BUFFER),
    ("notsent_lowat/notsent-lowat-sysctl.pkt", SEND_BUFFER),
    ("sack/sack-route-refresh-ip-tos.pkt", ONE_BUFFER),
    (
        "slow_start/slow-start-fq-ack-per-2pkt.pkt",
        "the kernel under fq sends pairs of segments as one, which the queue spaces; the model's pacer spaces segments",
    ),
    ("tcp_info/tcp-info-sndbuf-limited.pkt", SEND_BUFFER),
    (
        "ts_recent/invalid_ack.pkt",
        "Linux 6.18 answers as the model does, without the segment's timestamp and data; the script is of another kernel",
    ),
    ("user_timeout/user-timeout-probe.pkt", LOCAL_DROPS),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_the_end_of_its_path() {
        assert_eq!(of("/x/gtests/net/tcp/mtu_probe/basic-v6.pkt"), Some(PROBING));
        assert_eq!(
            of("selftests/net/packetdrill/tcp_blocking_blocking-write.pkt"),
            Some(SEND_BUFFER)
        );
        assert_eq!(of("basic-v6.pkt"), None);
    }
}
