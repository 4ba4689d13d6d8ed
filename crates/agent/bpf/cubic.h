/* SPDX-License-Identifier: GPL-2.0-only */
/* `hs_cubic`: the kernel's own CUBIC, which begins with what is remembered of the path. */
#ifndef HEADSTART_CUBIC_H
#define HEADSTART_CUBIC_H

#include "connection.h"

/* What is needed at every ACK lies where CUBIC has its own, behind that: looking up the connection would cost more than
 * the rest. */
struct beside_cubic {
	struct flights flights;
	u32 is_special;	 /* the connection has to be looked up */
};

/* 64-bit words that the kernel's CUBIC has. */
#define CUBIC_WORDS 8

static inline struct beside_cubic *beside_cubic(struct sock *sk)
{
	return (struct beside_cubic *)&((struct tcp_sock *)sk)->inet_conn.icsk_ca_priv[CUBIC_WORDS];
}

/* Known when the programs are loaded. Where there is no room, the verifier meets a register that was never set, and refuses. */
static inline void demand_room_beside_cubic(void)
{
	u32 size = bpf_core_type_size(struct bictcp);
	u32 all = bpf_core_field_size(((struct inet_connection_sock *)0)->icsk_ca_priv);

	if (!size || size > CUBIC_WORDS * sizeof(u64) ||
	    all < CUBIC_WORDS * sizeof(u64) + sizeof(struct beside_cubic))
		asm volatile("r0 = *(u64 *)(r0 + 0)" ::: "r0");
}

/* Cold, and nobody is to compare others with it. */
static inline bool may_search(const struct connection *c)
{
	return settings.flags & PACE_COLD && !(settings.flags & LEAVE_WINDOWS) && !c->is_held_out &&
	       !c->in_first_flight;
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_init, struct sock *sk)
{
	struct beside_cubic *b = beside_cubic(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *c;

	demand_room_beside_cubic();
	cubictcp_init(sk);
	b->is_special = false;
	forget_flights(&b->flights, tp);
	c = begin(sk);
	if (!c)
		return;
	if (may_search(c) && !tp->data_segs_out)
		begin_search(sk, &c->search);
	b->is_special = is_special(c);
}

/* So many segments have arrived on a connection that is at something out of the ordinary. Not inline: what runs at every
 * ACK is to be short, since its instructions are seldom in a cache. */
static __noinline void see_to(struct sock *sk, struct beside_cubic *b, u32 acked)
{
	struct connection *c = connection_of(sk);

	if (!c)
		return;
	on_progress(sk, c);
	if (is_searching(&c->search))
		search_on_ack(sk, &c->search, acked);
	b->is_special = is_special(c);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct beside_cubic *b = beside_cubic(sk);

	cubictcp_cong_avoid(sk, ack, acked);
	count_flight(&b->flights, (struct tcp_sock *)sk, acked);
	if (b->is_special)
		see_to(sk, b, acked);
}

SEC("struct_ops")
u32 BPF_PROG(hs_cubic_ssthresh, struct sock *sk)
{
	struct beside_cubic *b = beside_cubic(sk);
	struct connection *c = connection_of(sk);
	u32 ssthresh = cubictcp_recalc_ssthresh(sk);

	forget_flights(&b->flights, (struct tcp_sock *)sk);
	if (!c)
		return ssthresh;
	end_search(sk, &c->search);
	ssthresh = on_loss(sk, c, ssthresh);
	b->is_special = is_special(c);
	return ssthresh;
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
	struct beside_cubic *b = beside_cubic(sk);
	struct connection *c;

	cubictcp_cwnd_event(sk, event);
	if (event != CA_EVENT_CWND_RESTART && event != CA_EVENT_TX_START)
		return;
	if (event == CA_EVENT_TX_START && !b->is_special && !sizes_said)
		return;
	c = connection_of(sk);
	if (!c)
		return;
	if (event == CA_EVENT_CWND_RESTART) {
		end_search(sk, &c->search);
		on_idle(sk, c, &b->flights);
	} else {
		begin_first_train((struct tcp_sock *)sk, &c->search);
		on_start(sk, c);
	}
	b->is_special = is_special(c);
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
	proven_lesson((struct tcp_sock *)sk, c, &beside_cubic(sk)->flights, &lesson);
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
