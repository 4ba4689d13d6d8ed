//! Counters of segments and connections that a host has refused, dropped or limited. They have
//! Linux's names (`nstat`, `/proc/net/netstat`) where it has the same counter.

macro_rules! counters {
    ($($(#[doc = $about:literal])+ $field:ident = $name:literal,)+) => {
        /// Counters of a host, since it began. [`HostCounters::iter`] gives them by Linux's names.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct HostCounters {
            $($(#[doc = $about])+ #[doc = concat!("\n\nLinux, or else ours: `", $name, "`.")] pub $field: u64,)+
        }

        impl HostCounters {
            /// Names and values.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($name, self.$field)),+].into_iter()
            }
        }
    };
}

counters! {
    /// Challenge ACKs sent (RFC 5961).
    challenge_acks = "TCPChallengeACK",
    /// SYNs on open connections, which are challenged (RFC 5961 §4).
    syn_challenges = "TCPSYNChallenge",
    /// Resets in the window that did not have the next expected number, which are challenged (RFC
    /// 5961 §3).
    reset_challenges = "TCPRSTChallenge",
    /// Challenge ACKs not sent because there had been too many.
    ack_skipped_challenge = "TCPACKSkippedChallenge",
    /// ACKs not sent to segments without data outside the window, for the same reason.
    ack_skipped_seq = "TCPACKSkippedSeq",
    /// ACKs not sent to segments with a timestamp from the past, for the same reason.
    ack_skipped_paws = "TCPACKSkippedPAWS",
    /// ACKs not sent on connections that are opening, for the same reason.
    ack_skipped_syn_recv = "TCPACKSkippedSynRecv",
    /// ACKs not sent on connections in TIME-WAIT, for the same reason.
    ack_skipped_time_wait = "TCPACKSkippedTimeWait",
    /// Segments outside the window.
    out_of_window = "BeyondWindow",
    /// Resets outside the window, dropped without an answer (RFC 5961 §3).
    resets_out_of_window = "RstOutOfWindow",
    /// Segments refused for a timestamp from the past (RFC 7323 §5).
    paws_rejected = "PAWSEstab",
    /// Acknowledgements of data that was never sent (RFC 5961 §5).
    acks_of_unsent = "TCPAckUnsentData",
    /// Acknowledgements further below the lowest unacknowledged byte than the peer's largest window
    /// (RFC 5961 §5).
    acks_too_old = "TCPTooOldAck",
    /// Connections reset by their peers.
    resets_received = "EstabResets",
    /// SACK blocks for data that was never sent, or that are no ranges, on connections that are
    /// over. Live connections count theirs in [`crate::Stats::sack_discarded`].
    sack_discarded = "TCPSACKDiscard",

    /// SYNs to listening ports that were dropped, for whatever reason.
    listen_drops = "ListenDrops",
    /// SYNs dropped because there was no room for one more connection, among those above.
    listen_overflows = "ListenOverflows",
    /// SYNs that met a full backlog and were answered by a SYN cookie.
    backlog_full_cookies = "TCPReqQFullDoCookies",
    /// SYNs that met a full backlog and were dropped.
    backlog_full_drops = "TCPReqQFullDrop",
    /// SYN cookies sent.
    cookies_sent = "SyncookiesSent",
    /// SYN cookies that came back and opened a connection.
    cookies_received = "SyncookiesRecv",
    /// Acknowledgements that were taken for SYN cookies and were none.
    cookies_failed = "SyncookiesFailed",
    /// Half-open connections that a reset ended.
    embryonic_resets = "EmbryonicRsts",
    /// Segments from addresses that no host can have, or that are our own (land attack).
    martians = "IPMartianSource",
    /// Resets sent to segments of no connection.
    resets_sent = "OutRsts",
    /// Resets to segments of no connection that were not sent because there had been too many.
    resets_skipped = "OutRstsSkipped",

    /// Connections that went through TIME-WAIT.
    time_waited = "TW",
    /// Connections in TIME-WAIT that gave way to a new one (RFC 6191).
    time_wait_recycled = "TWRecycled",
    /// Connections in TIME-WAIT forgotten early, for want of room.
    time_wait_overflows = "TCPTimeWaitOverflow",
    /// Resets ignored in TIME-WAIT (RFC 1337).
    time_wait_resets = "TWResetsIgnored",

    /// Connections opened with data in the SYN that the peer took (RFC 7413).
    fast_open_active = "TCPFastOpenActive",
    /// Connections opened with data in the SYN that the peer did not accept, or whose SYN was lost.
    fast_open_active_fail = "TCPFastOpenActiveFail",
    /// Connections opened without data in the SYN because SYNs with data to that peer were lost
    /// recently.
    fast_open_blackhole = "TCPFastOpenBlackhole",
    /// Connections accepted with data in the SYN.
    fast_open_passive = "TCPFastOpenPassive",
    /// SYNs with a cookie that is not ours, or not of that address.
    fast_open_passive_fail = "TCPFastOpenPassiveFail",
    /// Valid SYNs with data refused because too many connections with early data were half open.
    fast_open_overflows = "TCPFastOpenListenOverflow",
    /// SYNs that asked for a cookie, or came without one.
    fast_open_cookie_requests = "TCPFastOpenCookieReqd",
    /// Cookies made by the key before the present one.
    fast_open_alt_key = "TCPFastOpenPassiveAltKey",

    /// Segments whose data was dropped because unread data took all the room.
    receive_drops = "TCPRcvQDrop",
    /// Segments with data out of order among those above.
    out_of_order_drops = "TCPOFODrop",

    /// Connections given up because no answer came.
    timed_out = "TCPAbortOnTimeout",
    /// Connections given up because too little was acknowledged for too long, or the window stayed
    /// shut.
    stalled = "TCPAbortOnStall",
    /// Connections given up in FIN-WAIT-2 because the peer did not finish.
    fin_wait_expired = "TCPAbortOnFinWait2",
    /// Connections reset because data came after the application had closed.
    aborted_on_data = "TCPAbortOnData",
    /// Keepalive probes sent.
    keepalives = "TCPKeepAlive",

    /// ICMP messages about connections that do not exist.
    icmp_unknown = "InErrsIcmpNoConn",
    /// ICMP messages that quote a number that is not in flight (RFC 5927 §4.1).
    icmp_out_of_window = "OutOfWindowIcmps",
    /// Path MTUs believed, and segments cut to them (RFC 1191, RFC 8201).
    mtu_reduced = "PMTUReduced",
    /// Path MTUs not believed yet, because larger segments had been delivered (RFC 5927 §7.2).
    mtu_doubted = "PMTUDoubted",
    /// Path MTUs that were no reduction.
    mtu_ignored = "PMTUIgnored",
    /// Segment sizes lowered because full segments were lost (RFC 4821, RFC 8899 black hole).
    mtu_black_holes = "TCPMTUPFail",
    /// Unreachable messages noted for a connection that lives on (RFC 5461).
    soft_errors = "SoftErrors",
    /// Attempts to connect that an unreachable message ended.
    hard_errors = "HardErrors",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_name_of_its_own() {
        let counters = HostCounters { keepalives: 3, ..HostCounters::default() };
        let mut names: Vec<_> = counters.iter().map(|(name, _)| name).collect();
        assert!(counters.iter().any(|pair| pair == ("TCPKeepAlive", 3)));
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
