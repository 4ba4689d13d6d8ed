/* SPDX-License-Identifier: GPL-2.0-only */
/* `attend`: gives the connections of a cgroup our congestion control as they open. */
#ifndef HEADSTART_ATTEND_H
#define HEADSTART_ATTEND_H

#include "paths.h"

static inline bool is_called(const char has[TCP_CA_NAME_MAX], const char *name, u32 length)
{
	for (u32 i = 0; i < length; i++)
		if (has[i] != name[i])
			return false;
	return true;
}

/* What a socket with the congestion control `has` is to get. */
static inline enum control control_for(const char has[TCP_CA_NAME_MAX])
{
	if (settings.control != CONTROL_AUTO)
		return settings.control;
	if (is_called(has, "cubic", sizeof("cubic")))
		return CONTROL_CUBIC;
	if (is_called(has, "bbr", sizeof("bbr")))
		return CONTROL_BBR;
	return CONTROL_AUTO;
}

static inline void give(struct bpf_sock_ops *ops, enum control control)
{
	char cubic[TCP_CA_NAME_MAX] = "hs_cubic", bbr[TCP_CA_NAME_MAX] = "hs_bbr";

	/* Where it is not loaded, the socket keeps what it has. */
	if (control == CONTROL_CUBIC)
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, cubic, sizeof(cubic));
	if (control == CONTROL_BBR)
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, bbr, sizeof(bbr));
}

/* Applications that chose a congestion control themselves keep it. */
SEC("sockops")
int attend(struct bpf_sock_ops *ops)
{
	char has[TCP_CA_NAME_MAX] = {};
	struct destination to = {};
	struct bpf_sock *sk = ops->sk;
	struct tcp_sock *tp;

	if (ops->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB &&
	    ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	if (!sk)
		return 1;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_setsockopt))
		return 1;
	if (!destination_of((struct sock *)tp, &to) || !to.cap)
		return 1;
	bpf_core_read(has, sizeof(has), &tp->inet_conn.icsk_ca_ops->name);
	give(ops, control_for(has));
	return 1;
}

#endif
