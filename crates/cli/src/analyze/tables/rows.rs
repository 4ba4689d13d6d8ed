//! The columns of each table. `docs/analyze.md` lists them for readers.

use findings::LossEpoch;
use memory::{PathKey, Scope};
use std::net::IpAddr;
use std::ops::Deref;
use support::parquet::{RowColumn, TableValue};
use trace::{
    ConnectionTrace, Retransmission, RetransmissionKind, SenderSnapshot, SparedBy, TimeShare,
    TracedSender, TransferReport,
};
use units::Duration;

/// A row that is about one of the senders of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfSender<T> {
    pub(super) sender: TracedSender,
    pub(super) of: T,
}

/// A connection, and what its server was rebuilt as.
#[derive(Clone, Debug)]
pub(super) struct RebuiltConnection {
    pub(super) trace: ConnectionTrace,
    pub(super) profile: String,
}

impl Deref for RebuiltConnection {
    type Target = ConnectionTrace;

    fn deref(&self) -> &ConnectionTrace {
        &self.trace
    }
}

type Connection = RowColumn<RebuiltConnection>;
type Transfer = RowColumn<OfSender<TransferReport>>;
type RetransmissionColumn = RowColumn<OfSender<Retransmission>>;
type Epoch = RowColumn<LossEpoch>;
type WindowPoint = RowColumn<OfSender<SenderSnapshot>>;

/// The network that shares a path: /24, or /48 of IPv6.
fn network(ip: IpAddr) -> TableValue {
    PathKey::new(ip, Scope::Network).to_string().into()
}

fn sender_side(sender: &TracedSender) -> TableValue {
    if sender.is_server { "server" } else { "client" }.into()
}

pub(super) const CONNECTIONS: &[Connection] = &[
    Connection::count(
        "connection",
        "Number of the connection, from 0 in the order of their first packets.",
        |c| c.connection.into(),
    ),
    Connection::text("client_ip", "Address of the client.", |c| c.client.ip.to_string().into()),
    Connection::count("client_port", "Port of the client.", |c| c.client.port.into()),
    Connection::text("client_network", "Network of the client: /24, or /48 of IPv6.", |c| {
        network(c.client.ip)
    }),
    Connection::text("server_ip", "Address of the server.", |c| c.server.ip.to_string().into()),
    Connection::count("server_port", "Port of the server.", |c| c.server.port.into()),
    Connection::time("began", "First packet.", |c| c.began.into()),
    Connection::time("ended", "Last packet.", |c| c.ended.into()),
    Connection::nanos("duration_ns", "Time from the first packet to the last.", |c| {
        c.ended.saturating_since(c.began).into()
    }),
    Connection::text(
        "end",
        "Reason for its end: closed, reset-by-client, reset-by-server, replaced, idle, evicted, or capture-ended.",
        |c| c.end.name().into(),
    ),
    Connection::truth(
        "handshake_seen",
        "The SYN, the SYN-ACK and the ACK of it were all captured.",
        |c| c.handshake_seen.into(),
    ),
    Connection::nanos(
        "client_rtt_ns",
        "Handshake round trip between capture and client: from the SYN-ACK to its ACK.",
        |c| c.client_rtt.into(),
    ),
    Connection::nanos(
        "server_rtt_ns",
        "Handshake round trip between capture and server: from the SYN to its SYN-ACK.",
        |c| c.server_rtt.into(),
    ),
    Connection::text("vantage", "Host of the capture: server, client, middle, or unknown.", |c| {
        c.vantage.name().into()
    }),
    Connection::text(
        "server_profile",
        "Sender profile, or scheme, that the server was rebuilt as.",
        |c| c.profile.clone().into(),
    ),
    Connection::count(
        "copies",
        "Packets captured twice; no other column counts the copies.",
        |c| c.copies.into(),
    ),
    Connection::count("client_packets", "Packets of the client.", |c| c.client_sent.packets.into()),
    Connection::bytes("client_bytes", "Payload that the client sent, each byte once.", |c| {
        c.client_sent.bytes.into()
    }),
    Connection::count("client_retransmissions", "Retransmissions of payload by the client.", |c| {
        c.client_sent.retransmission_count().into()
    }),
    Connection::count("server_packets", "Packets of the server.", |c| c.server_sent.packets.into()),
    Connection::count("server_data_packets", "Packets of the server with payload.", |c| {
        c.server_sent.data_packets.into()
    }),
    Connection::bytes("server_bytes", "Payload that the server sent, each byte once.", |c| {
        c.server_sent.bytes.into()
    }),
    Connection::bytes(
        "server_unseen_bytes",
        "Payload of the server that was acknowledged and not captured.",
        |c| c.server_sent.unseen_bytes.into(),
    ),
    Connection::count(
        "server_retransmissions",
        "Retransmissions of payload by the server; the next five columns are their kinds.",
        |c| c.server_sent.retransmission_count().into(),
    ),
    Connection::count("server_fast", "Fast retransmissions of the server.", |c| {
        retransmissions_of_kind(c, RetransmissionKind::Fast)
    }),
    Connection::count("server_recovery", "Further retransmissions of the same episodes.", |c| {
        retransmissions_of_kind(c, RetransmissionKind::Recovery)
    }),
    Connection::count("server_timeout", "Retransmissions by the server's timer.", |c| {
        retransmissions_of_kind(c, RetransmissionKind::Timeout)
    }),
    Connection::count(
        "server_slow_start",
        "Retransmissions of the server after a timeout, of what was presumed lost with it.",
        |c| retransmissions_of_kind(c, RetransmissionKind::SlowStart),
    ),
    Connection::count("server_tail_probe", "Tail-loss probes of the server.", |c| {
        retransmissions_of_kind(c, RetransmissionKind::TailProbe)
    }),
    Connection::count(
        "server_unexpected",
        "Retransmissions that the rebuilt sender did not expect.",
        |c| c.server_sent.unexpected.iter().sum::<u64>().into(),
    ),
    Connection::count(
        "server_spurious",
        "Retransmissions of the server whose bytes the client had already (D-SACK).",
        |c| c.server_sent.spurious.into(),
    ),
    Connection::count(
        "server_reordered",
        "Packets of the server that others had overtaken before the capture.",
        |c| c.server_sent.reordered.into(),
    ),
    Connection::count(
        "server_control_again",
        "SYNs and FINs that the server retransmitted.",
        |c| c.server_sent.control_again.into(),
    ),
    Connection::count(
        "server_probes",
        "Keep-alives of the server, and its probes of a shut window.",
        |c| c.server_sent.probes.into(),
    ),
    Connection::count(
        "timeouts_spared_by_sack",
        "Timeouts that SACK would have spared the server.",
        |c| spared_timeouts(c, SparedBy::Sack),
    ),
    Connection::count(
        "timeouts_spared_by_right_edge",
        "Timeouts that right-edge recovery would have spared.",
        |c| spared_timeouts(c, SparedBy::RightEdge),
    ),
    Connection::count(
        "timeouts_spared_by_tail_probe",
        "Timeouts that a tail-loss probe would have spared.",
        |c| spared_timeouts(c, SparedBy::TailProbe),
    ),
];

fn retransmissions_of_kind(connection: &RebuiltConnection, kind: RetransmissionKind) -> TableValue {
    connection.server_sent.retransmissions[kind as usize].into()
}

fn spared_timeouts(connection: &RebuiltConnection, by: SparedBy) -> TableValue {
    connection.server_sent.spared_by[by as usize].into()
}

pub(super) const TRANSFERS: &[Transfer] = &[
    Transfer::count("connection", "Number of the connection.", |t| t.sender.connection.into()),
    Transfer::count("transfer", "Number of the transfer within its connection, from 0.", |t| {
        t.of.index.into()
    }),
    Transfer::text("client_ip", "Address of the client.", |t| {
        t.sender.client.ip.to_string().into()
    }),
    Transfer::text("client_network", "Network of the client: /24, or /48 of IPv6.", |t| {
        network(t.sender.client.ip)
    }),
    Transfer::text("server_ip", "Address of the server.", |t| {
        t.sender.server.ip.to_string().into()
    }),
    Transfer::count("server_port", "Port of the server.", |t| t.sender.server.port.into()),
    Transfer::time(
        "began",
        "With the SYN if it is the connection's first, else with the request.",
        |t| t.of.began.into(),
    ),
    Transfer::time("asked", "First byte of the request.", |t| t.of.asked.into()),
    Transfer::time("asked_whole", "Last byte of the request before the response began.", |t| {
        t.of.asked_whole.into()
    }),
    Transfer::time("answered", "First byte of the response sent.", |t| t.of.answered.into()),
    Transfer::time("sent", "Last new byte of the response sent.", |t| t.of.sent.into()),
    Transfer::time("ended", "Last byte acknowledged, or the last packet.", |t| t.of.ended.into()),
    Transfer::nanos(
        "duration_ns",
        "From `began` to `ended`; the times from `handshake_ns` to `unexplained_ns` add up to it.",
        |t| t.of.duration().into(),
    ),
    Transfer::truth("complete", "All of the response was acknowledged.", |t| {
        t.of.is_complete().into()
    }),
    Transfer::text(
        "outcome",
        "complete, unanswered, cut-by-client, cut-by-server, or unfinished.",
        |t| t.of.outcome.name().into(),
    ),
    Transfer::bytes("request_bytes", "Payload of the request.", |t| t.of.request_bytes.into()),
    Transfer::bytes("bytes", "Payload of the response, each byte once.", |t| t.of.bytes.into()),
    Transfer::count("retransmissions", "Retransmissions of the response.", |t| {
        t.of.retransmissions.into()
    }),
    Transfer::count("timeouts", "Of these, timeouts.", |t| t.of.timeouts.into()),
    Transfer::bytes("mss", "Payload of a full segment.", |t| t.of.mss.into()),
    Transfer::bytes("first_window", "Congestion window that the response began with.", |t| {
        t.of.first_window.into()
    }),
    Transfer::bytes("last_window", "Congestion window at the end.", |t| t.of.last_window.into()),
    Transfer::truth(
        "fits_first_window",
        "The first window had room for all of the response: no larger one could have made it faster.",
        |t| t.of.fits_first_window().into(),
    ),
    Transfer::nanos(
        "srtt_ns",
        "Smoothed round trip at the end; missing before the first sample.",
        |t| rtt_sample(t.of.srtt),
    ),
    Transfer::nanos(
        "min_rtt_ns",
        "Lowest round trip of the connection so far; missing before the first sample.",
        |t| rtt_sample(t.of.min_rtt),
    ),
    Transfer::rate(
        "delivery_rate",
        "Rate of the slowest link so far on the connection, of payload; missing while no queue and no burst has shown it.",
        |t| Some(t.of.delivery_rate.as_bps()).filter(|bps| *bps > 0).into(),
    ),
    Transfer::nanos("handshake_ns", "Opening the connection.", |t| share(t, TimeShare::Handshake)),
    Transfer::nanos("tls_ns", "The TLS handshake.", |t| share(t, TimeShare::Tls)),
    Transfer::nanos("request_ns", "The client sent its request.", |t| share(t, TimeShare::Request)),
    Transfer::nanos("think_ns", "The server had the request and sent nothing.", |t| {
        share(t, TimeShare::Think)
    }),
    Transfer::nanos(
        "slow_start_ns",
        "The window was full in slow start, and the path could have carried more.",
        |t| share(t, TimeShare::SlowStart),
    ),
    Transfer::nanos(
        "avoidance_ns",
        "The window was full in congestion avoidance, and larger than the path needs.",
        |t| share(t, TimeShare::Avoidance),
    ),
    Transfer::nanos("recovery_ns", "Repairing losses by ACKs, probes, or after a timeout.", |t| {
        share(t, TimeShare::Recovery)
    }),
    Transfer::nanos("timeout_ns", "Waiting for the retransmission timer.", |t| {
        share(t, TimeShare::Timeout)
    }),
    Transfer::nanos("receiver_window_ns", "The receiver's window was full.", |t| {
        share(t, TimeShare::ReceiverWindow)
    }),
    Transfer::nanos(
        "send_buffer_ns",
        "The sender had more, below its windows: its send buffer, or another limit on bytes in flight.",
        |t| share(t, TimeShare::SendBuffer),
    ),
    Transfer::nanos("nagle_ns", "Nagle's algorithm held a small segment back.", |t| {
        share(t, TimeShare::Nagle)
    }),
    Transfer::nanos(
        "pacing_ns",
        "The sender spread its segments over time, slower than window and path.",
        |t| share(t, TimeShare::Pacing),
    ),
    Transfer::nanos(
        "application_ns",
        "The window had room, and the server's application sent nothing.",
        |t| share(t, TimeShare::Application),
    ),
    Transfer::nanos("path_ns", "Propagation and transmission, which no sender can spare.", |t| {
        share(t, TimeShare::Path)
    }),
    Transfer::nanos(
        "unexplained_ns",
        "No evidence in the capture shows what the time was spent on.",
        |t| share(t, TimeShare::Unexplained),
    ),
    Transfer::nanos("link_full_ns", "Part of `duration_ns` in which the link was full.", |t| {
        t.of.link_full.into()
    }),
    Transfer::count(
        "tls_round_trips",
        "Round trips of the TLS handshake; missing without one.",
        |t| t.of.tls.map(|tls| u64::from(tls.round_trips)).into(),
    ),
];

fn share(transfer: &OfSender<TransferReport>, share: TimeShare) -> TableValue {
    transfer.of.shares.of(share).into()
}

/// Zero stands for none yet.
fn rtt_sample(rtt: Duration) -> TableValue {
    Some(rtt).filter(|rtt| !rtt.is_zero()).into()
}

pub(super) const LOSS_EPOCHS: &[Epoch] = &[
    Epoch::text("client_ip", "Address of the client host.", |e| e.client.to_string().into()),
    Epoch::text("client_network", "Network of the client: /24, or /48 of IPv6.", |e| {
        network(e.client)
    }),
    Epoch::time("began", "The first loss was found.", |e| e.began.into()),
    Epoch::time("ended", "All that was outstanding then was acknowledged.", |e| e.ended.into()),
    Epoch::count("open", "Open connections of the host.", |e| e.open.into()),
    Epoch::count("outstanding", "Connections that had data outstanding.", |e| e.outstanding.into()),
    Epoch::count("hit", "Connections that lost a segment.", |e| e.hit.into()),
    Epoch::count("losses", "Segments lost.", |e| e.losses.into()),
    Epoch::bytes("outstanding_bytes", "Outstanding when it began, on all connections.", |e| {
        e.outstanding_bytes.into()
    }),
    Epoch::bytes("hit_bytes", "Outstanding bytes of connections that lost a segment.", |e| {
        e.hit_bytes.into()
    }),
];

pub(super) const RETRANSMISSIONS: &[RetransmissionColumn] = &[
    RetransmissionColumn::count("connection", "Number of the connection.", |r| {
        r.sender.connection.into()
    }),
    RetransmissionColumn::text("sender", "Sender: server or client.", |r| sender_side(&r.sender)),
    RetransmissionColumn::time(
        "at",
        "When the capture saw it, or when the rebuilt sender sent it.",
        |r| r.of.at.into(),
    ),
    RetransmissionColumn::count("seq", "Its first sequence number.", |r| r.of.seq.into()),
    RetransmissionColumn::bytes(
        "offset",
        "Its first byte as an offset of the stream: 0 is the SYN, 1 the first byte.",
        |r| r.of.start.into(),
    ),
    RetransmissionColumn::bytes("len", "Payload; 0 for a SYN or FIN alone.", |r| r.of.len.into()),
    RetransmissionColumn::text(
        "kind",
        "Reason: fast, recovery, timeout, slow-start, or tail-probe.",
        |r| r.of.kind.name().into(),
    ),
    RetransmissionColumn::text(
        "phase",
        "State of the sender when it found the loss: handshake, slow-start, avoidance, recovery, or loss.",
        |r| r.of.phase.name().into(),
    ),
    RetransmissionColumn::text(
        "spared_by",
        "Mechanism that would have spared a timeout: sack, right-edge, tail-probe, or nothing.",
        |r| r.of.spared_by.map(SparedBy::name).into(),
    ),
    RetransmissionColumn::bytes("outstanding", "Sent and not acknowledged before it.", |r| {
        r.of.outstanding.into()
    }),
    RetransmissionColumn::truth("expected", "The rebuilt sender expected it, of this kind.", |r| {
        r.of.expected.into()
    }),
    RetransmissionColumn::truth(
        "predicted",
        "It was not captured: the rebuilt sender sent it.",
        |r| r.of.predicted.into(),
    ),
];

pub(super) const WINDOWS: &[WindowPoint] = &[
    WindowPoint::count("connection", "Number of the connection.", |w| w.sender.connection.into()),
    WindowPoint::text("sender", "Sender: server or client.", |w| sender_side(&w.sender)),
    WindowPoint::time("at", "Time at which the sender received the ACK.", |w| w.of.at.into()),
    WindowPoint::bytes(
        "una",
        "All below this offset is acknowledged: 0 is the SYN, 1 the first byte.",
        |w| w.of.una.into(),
    ),
    WindowPoint::bytes("nxt", "Next new offset.", |w| w.of.nxt.into()),
    WindowPoint::bytes("cwnd", "Congestion window.", |w| w.of.cwnd.into()),
    WindowPoint::bytes("ssthresh", "Slow-start threshold; missing while it is unlimited.", |w| {
        Some(w.of.ssthresh).filter(|ssthresh| *ssthresh != u64::MAX).into()
    }),
    WindowPoint::bytes("in_flight", "Presumed under way.", |w| w.of.in_flight.into()),
    WindowPoint::bytes(
        "receive_window",
        "Window that the receiver offers; missing where no SYN was captured with its scale.",
        |w| w.of.receive_window.into(),
    ),
    WindowPoint::nanos("srtt_ns", "Smoothed round trip; missing before the first sample.", |w| {
        rtt_sample(w.of.srtt)
    }),
    WindowPoint::nanos("rto_ns", "Retransmission timeout in force.", |w| w.of.rto.into()),
    WindowPoint::text(
        "phase",
        "State of the sender: handshake, slow-start, avoidance, recovery, or loss.",
        |w| w.of.phase.name().into(),
    ),
];
