/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests/kernel/overhead.rs: programs that only call the kernel's congestion controls, in the
 * same operations as ours. The difference in cost is due to ours. */
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

SEC("struct_ops")
void BPF_PROG(pl_cubic_init, struct sock *sk)
{
	cubictcp_init(sk);
}

SEC("struct_ops")
void BPF_PROG(pl_cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	cubictcp_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
u32 BPF_PROG(pl_cubic_ssthresh, struct sock *sk)
{
	return cubictcp_recalc_ssthresh(sk);
}

SEC("struct_ops")
u32 BPF_PROG(pl_cubic_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops")
void BPF_PROG(pl_cubic_set_state, struct sock *sk, u8 state)
{
	cubictcp_state(sk, state);
}

SEC("struct_ops")
void BPF_PROG(pl_cubic_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	cubictcp_cwnd_event(sk, event);
}

SEC("struct_ops")
void BPF_PROG(pl_cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	cubictcp_acked(sk, sample);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops pl_cubic = {
	.init = (void *)pl_cubic_init,
	.cong_avoid = (void *)pl_cubic_cong_avoid,
	.ssthresh = (void *)pl_cubic_ssthresh,
	.undo_cwnd = (void *)pl_cubic_undo_cwnd,
	.set_state = (void *)pl_cubic_set_state,
	.cwnd_event = (void *)pl_cubic_cwnd_event,
	.pkts_acked = (void *)pl_cubic_pkts_acked,
	.name = "pl_cubic",
};

SEC("struct_ops")
void BPF_PROG(pl_bbr_init, struct sock *sk)
{
	bbr_init(sk);
}

SEC("struct_ops")
void BPF_PROG(pl_bbr_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	bbr_main(sk, ack, flag, rs);
}

SEC("struct_ops")
u32 BPF_PROG(pl_bbr_ssthresh, struct sock *sk)
{
	return bbr_ssthresh(sk);
}

SEC("struct_ops")
u32 BPF_PROG(pl_bbr_undo_cwnd, struct sock *sk)
{
	return bbr_undo_cwnd(sk);
}

SEC("struct_ops")
void BPF_PROG(pl_bbr_set_state, struct sock *sk, u8 state)
{
	bbr_set_state(sk, state);
}

SEC("struct_ops")
void BPF_PROG(pl_bbr_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	bbr_cwnd_event(sk, event);
}

SEC("struct_ops")
u32 BPF_PROG(pl_bbr_sndbuf_expand, struct sock *sk)
{
	return bbr_sndbuf_expand(sk);
}

SEC("struct_ops")
u32 BPF_PROG(pl_bbr_min_tso_segs, struct sock *sk)
{
	return bbr_min_tso_segs(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops pl_bbr = {
	.init = (void *)pl_bbr_init,
	.cong_control = (void *)pl_bbr_cong_control,
	.ssthresh = (void *)pl_bbr_ssthresh,
	.undo_cwnd = (void *)pl_bbr_undo_cwnd,
	.set_state = (void *)pl_bbr_set_state,
	.cwnd_event = (void *)pl_bbr_cwnd_event,
	.sndbuf_expand = (void *)pl_bbr_sndbuf_expand,
	.min_tso_segs = (void *)pl_bbr_min_tso_segs,
	.name = "pl_bbr",
};
