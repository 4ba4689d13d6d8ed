/* SPDX-License-Identifier: GPL-2.0-only */
/* `widen`: connections that we open offer a larger window from their SYN on, if the operator asks
 * for it. A peer that starts warm can send no more at first than we offer (64 KB by default in
 * Linux). */
#ifndef HEADSTART_RECEIVE_H
#define HEADSTART_RECEIVE_H

#include "hook.h"

/* The application has set its buffer itself, or the buffer is large enough. */
static inline bool has_its_buffer(const struct sock *sk, u32 wanted)
{
	return BPF_CORE_READ_BITFIELD(sk, sk_userlocks) & SOCK_RCVBUF_LOCK ||
		(u32)sk->sk_rcvbuf / 2 >= wanted;
}

/* The kernel doubles what the option says, since it counts overhead, too, and offers half of the
 * buffer. */
SEC("sockops")
int widen(struct bpf_sock_ops *ops)
{
	struct destination to = {};
	struct bpf_sock *sk = ops->sk;
	u32 wanted = settings.receive_window;
	struct sock *tp;

	if (ops->op != BPF_SOCK_OPS_TCP_CONNECT_CB || !wanted || ops->reply == LEAVE_ALONE || !sk)
		return 1;
	tp = (struct sock *)bpf_skc_to_tcp_sock(sk);
	if (!tp || has_its_buffer(tp, wanted))
		return 1;
	if (opens_stock(tp))
		return 1;
	if (matches_ports(tp) && destination_of(tp, &to) && to.cap)
		bpf_setsockopt(ops, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
	return 1;
}

#endif
