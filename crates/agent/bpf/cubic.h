/* SPDX-License-Identifier: GPL-2.0-only */
/* `hs_cubic`: the kernel's own CUBIC, which begins with what is remembered of the path. */
#ifndef HEADSTART_CUBIC_H
#define HEADSTART_CUBIC_H

#include "connection.h"

SEC("struct_ops")
void BPF_PROG(hs_cubic_init, struct sock *sk)
{
	cubictcp_init(sk);
	begin(sk);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct connection *c = connection_of(sk);

	cubictcp_cong_avoid(sk, ack, acked);
	if (c)
		on_progress(sk, c, acked);
}

SEC("struct_ops")
u32 BPF_PROG(hs_cubic_ssthresh, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	u32 ssthresh = cubictcp_recalc_ssthresh(sk);

	return c ? on_loss(sk, c, ssthresh) : ssthresh;
}

SEC("struct_ops")
u32 BPF_PROG(hs_cubic_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_set_state, struct sock *sk, u8 state)
{
	cubictcp_state(sk, state);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct connection *c = connection_of(sk);

	cubictcp_cwnd_event(sk, event);
	if (c && event == CA_EVENT_CWND_RESTART)
		on_idle(sk, c);
	if (c && event == CA_EVENT_TX_START)
		on_start(sk, c);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	cubictcp_acked(sk, sample);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_release, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct lesson lesson = {};

	if (!c)
		return;
	proven_lesson((struct tcp_sock *)sk, c, &lesson);
	end(sk, c, &lesson, false);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops hs_cubic = {
	.init = (void *)hs_cubic_init,
	.cong_avoid = (void *)hs_cubic_cong_avoid,
	.ssthresh = (void *)hs_cubic_ssthresh,
	.undo_cwnd = (void *)hs_cubic_undo_cwnd,
	.set_state = (void *)hs_cubic_set_state,
	.cwnd_event = (void *)hs_cubic_cwnd_event,
	.pkts_acked = (void *)hs_cubic_pkts_acked,
	.release = (void *)hs_cubic_release,
	.name = "hs_cubic",
};

#endif
