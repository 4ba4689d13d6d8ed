/* SPDX-License-Identifier: GPL-2.0-only */
/* `hs_cubic`: the kernel's own CUBIC, which starts with the remembered window. `hs_cubic_start`:
 * the same while it may search (search.h); it then goes on as `hs_cubic`. */
#ifndef HEADSTART_CUBIC_H
#define HEADSTART_CUBIC_H

#include "pauses.h"
#include "burst.h"
#include "starts.h"
#include "wide.h"

/* State that every ACK needs. It lies behind CUBIC's own in the socket: looking up the connection
 * would cost more than the rest of an ACK. */
struct beside_cubic {
	u64 rate;	 /* while a cold start searches, bytes a second; 0: the kernel's */
	struct flights flights;
	/* window that a stock start would have by now; only of a warm start that nothing else
	 * paces, otherwise 0 */
	u32 stock;
	u32 warm_rate;	 /* pacing rate of that warm start */
	bool is_special; /* the connection has to be looked up */
	bool is_starting; /* it is `hs_cubic_start` */
	enum wide wide;	  /* state of a wide cold start: `rate` is the rate of its first window */
	u8 min_tso;	 /* of that: segments that the kernel sends as one at least */
};

/* 64-bit words that the kernel's CUBIC has. */
#define CUBIC_WORDS 8

static inline struct beside_cubic *beside_cubic(struct sock *sk)
{
	return (struct beside_cubic *)&((struct tcp_sock *)sk)->inet_conn.icsk_ca_priv[CUBIC_WORDS];
}

/* Checks at load time that the state fits behind CUBIC's. If it does not, the verifier meets a
 * register that was never set, and rejects the program. */
static inline void demand_room_beside_cubic(void)
{
	u32 size = bpf_core_type_size(struct bictcp);
	u32 all = bpf_core_field_size(((struct inet_connection_sock *)0)->icsk_ca_priv);

	if (!size || size > CUBIC_WORDS * sizeof(u64) ||
	    all < CUBIC_WORDS * sizeof(u64) + sizeof(struct beside_cubic))
		asm volatile("r0 = *(u64 *)(r0 + 0)" ::: "r0");
}

/* At its beginning, and cold starts are to be other than stock. */
static inline bool may_change_cold_start(const struct sock *sk)
{
	return (settings.flags & (PACE_COLD | LEAVE_WINDOWS)) == PACE_COLD &&
		!((struct tcp_sock *)sk)->data_segs_out;
}

/* The rate as `search_rate`. */
static inline u64 begin_search_of(struct sock *sk, struct connection *c)
{
	return begin_search(sk, &c->search, &c->measure,
			    c->is_paced || sk->sk_pacing_status == SK_PACING_NONE);
}

/* It has a window that is warm, or none: a stock connection would have `stock` here. */
static inline void begin_beside_stock(struct beside_cubic *b, const struct connection *c, u32 stock)
{
	b->stock = in_first_flight(c) && c->is_paced ? stock : 0;
	b->warm_rate = c->warm_rate;
}

/* Compares with a stock start again, after idle. The window before was warm, too, and after idle
 * the kernel keeps a part of it; the stock connection's window cannot be larger than that. */
static inline void begin_again_beside_stock(struct beside_cubic *b, const struct connection *c)
{
	u32 most = larger(b->stock, INITIAL_WINDOW);

	begin_beside_stock(b, c, c->cold < most ? c->cold : most);
}

/* Grows the window of the stock connection as the kernel's slow start does (tcp_is_cwnd_limited):
 * while it is less than twice the outstanding segments. */
static inline void grow_stock(const struct tcp_sock *tp, struct beside_cubic *b, u32 acked)
{
	if (b->stock && b->stock < 2 * tp->max_packets_out)
		b->stock += acked;
}

/* Whether more data is queued or outstanding than a stock connection would send at once. */
static inline bool is_beyond_stock(const struct tcp_sock *tp, u32 stock)
{
	return tp->write_seq - tp->snd_una > stock * tp->mss_cache || tp->packets_out >= stock;
}

/* Sends as a burst what a stock connection would send as one by now. Otherwise the answers of
 * several connections would interleave and all end last. Called before each send: as soon as there
 * is more to send, the rest is paced until all of it is acknowledged. */
static inline void pace_beyond_stock(struct sock *sk, const struct beside_cubic *b)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	bool is_ours = sk->sk_max_pacing_rate == b->warm_rate || sk->sk_max_pacing_rate == ~0UL;

	if (!b->stock)
		return;
	if (!is_ours || is_beyond_stock(tp, b->stock))
		keep_paced(sk);
	else if (!tp->packets_out && sk->sk_pacing_status == SK_PACING_NEEDED)
		sk->sk_pacing_status = SK_PACING_NONE;
}

/* Ends the comparison with a stock connection: from now on a paced connection is paced
 * completely. */
static inline void leave_stock(struct sock *sk, struct beside_cubic *b, const struct connection *c)
{
	b->stock = 0;
	if (c->is_paced)
		keep_paced(sk);
}

/* NULL if the connection is to be left alone, or has already started (`go_on`). */
static inline struct connection *begin_cubic(struct sock *sk)
{
	struct beside_cubic *b = beside_cubic(sk);
	struct connection *c = connection_of(sk);

	demand_room_beside_cubic();
	if (c && c->phase == PHASE_MOVING)
		return NULL;
	cubictcp_init(sk);
	b->rate = b->is_starting = b->is_special = b->min_tso = b->stock = 0;
	b->wide = WIDE_NOT;
	forget_flights(&b->flights, (struct tcp_sock *)sk);
	c = begin(sk);
	if (!c)
		return NULL;
	b->is_special = is_special(c);
	begin_beside_stock(b, c, c->cold);
	return c;
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_init, struct sock *sk)
{
	begin_cubic(sk);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_start_init, struct sock *sk)
{
	struct beside_cubic *b = beside_cubic(sk);
	struct connection *c = begin_cubic(sk);

	b->min_tso = sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_min_tso_segs;
	b->is_starting = b->is_special = true;
	if (!c || !may_change_cold_start(sk))
		return;
	if (is_chosen(c))
		b->rate = begin_search_of(sk, c);
	if (b->rate)
		return;
	b->rate = widen_cold(sk, c);
	b->wide = b->rate ? WIDE_SENT : WIDE_NOT;
}

/* Goes on as `hs_cubic` after the start, with all state. If `hs_cubic` is gone, since the agent is
 * gone, the connection stays as it is. It stays, too, if `hs_cubic` is another version's by now,
 * which may interpret the state differently. */
static inline void go_on_as_cubic(struct sock *sk, struct connection *c)
{
	char cubic[TCP_CA_NAME_MAX] = "hs_cubic";
	u64 *words = ((struct tcp_sock *)sk)->inet_conn.icsk_ca_priv;
	u64 kept[CUBIC_WORDS + sizeof(struct beside_cubic) / sizeof(u64)];
	enum phase phase = c->phase;
	u32 i;

	if (settings.flags & SUPERSEDED)
		return;
	beside_cubic(sk)->is_starting = false;
	beside_cubic(sk)->stock = 0;
	for (i = 0; i < sizeof(kept) / sizeof(u64); i++)
		kept[i] = words[i];
	c->phase = PHASE_MOVING;
	bpf_setsockopt(sk, IPPROTO_TCP, TCP_CONGESTION, cubic, sizeof(cubic));
	c->phase = phase;
	for (i = 0; i < sizeof(kept) / sizeof(u64); i++)
		words[i] = kept[i];
}

/* It goes on as any other. */
static inline void end_wide_start(struct sock *sk, struct beside_cubic *b)
{
	if (b->wide == WIDE_NOT)
		return;
	b->wide = WIDE_NOT;
	b->rate = 0;
	leave_unpaced(sk);
}

/* Called when segments of a wide cold start's first window are acknowledged. */
static inline void on_wide_ack(struct sock *sk, struct beside_cubic *b, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (b->wide == WIDE_NOT)
		return;
	if (b->wide == WIDE_SENT)
		probe_on_ack(tp, &c->probe);
	b->wide = wide_ack(tp, c, b->wide);
	if (b->wide == WIDE_ENDS)
		end_wide_start(sk, b);
}

/* Round trips contradict the rate of its first flight: slow start is over. */
static inline void end_contradicted_start(struct sock *sk, struct beside_cubic *b,
					  struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 carried = end_if_contradicted(sk, c);

	if (!carried)
		return;
	end_search(sk, &c->search);
	b->rate = 0;
	leave_stock(sk, b, c);
	tp->snd_cwnd = tp->snd_ssthresh = carried;
}

/* The burst of its first flight may show that the path is another one than remembered. */
static inline void follow_burst(struct sock *sk, struct beside_cubic *b, struct connection *c)
{
	enum path_is path = judge_burst(sk, c);

	if (path == FASTER)
		b->rate = begin_search_of(sk, c);
	if (path != NARROWER)
		return;
	end_search(sk, &c->search);
	b->rate = 0;
	leave_stock(sk, b, c);
}

/* Called at an ACK on a connection with special state (`is_special`). Not inline: code that runs at
 * every ACK is to be short, since its instructions are seldom in a cache. */
static __noinline void on_special_ack(struct sock *sk, u32 acked)
{
	struct beside_cubic *b = beside_cubic(sk);
	struct connection *c = connection_of(sk);
	u64 rate;

	if (!c)
		return;
	on_wide_ack(sk, b, c);
	grow_stock((struct tcp_sock *)sk, b, acked);
	on_progress(sk, c);
	end_contradicted_start(sk, b, c);
	if (b->is_starting)
		follow_burst(sk, b, c);
	if (c->search.is_on) {
		rate = search_on_ack(sk, &c->search, &c->measure);
		if (rate)
			b->rate = rate;
		/* A wide flight keeps its rate, whatever ends slow start meanwhile. */
		if (!c->search.is_on)
			b->rate = b->wide == WIDE_NOT ? 0 : c->wide_rate;
	}
	b->is_special = is_special(c) | (b->wide != WIDE_NOT);
	if (b->is_starting && !b->is_special)
		go_on_as_cubic(sk, c);
	b->is_special |= b->is_starting;
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct beside_cubic *b = beside_cubic(sk);

	cubictcp_cong_avoid(sk, ack, acked);
	count_flight(&b->flights, (struct tcp_sock *)sk, acked);
	if (b->is_special)
		on_special_ack(sk, acked);
}

/* Called before each send, after the kernel has set its rate: only a rate that is set here lasts.
 * It costs each send something, so only a start uses it. */
SEC("struct_ops")
u32 BPF_PROG(hs_cubic_start_min_tso_segs, struct sock *sk)
{
	const struct beside_cubic *b = beside_cubic(sk);
	u64 rate = b->rate;

	if (rate)
		sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
	pace_beyond_stock(sk, b);
	return b->min_tso;
}

SEC("struct_ops")
u32 BPF_PROG(hs_cubic_ssthresh, struct sock *sk)
{
	struct beside_cubic *b = beside_cubic(sk);
	struct connection *c = connection_of(sk);
	u32 ssthresh = cubictcp_recalc_ssthresh(sk);

	forget_flights(&b->flights, (struct tcp_sock *)sk);
	end_wide_start(sk, b);
	b->rate = 0;
	if (!c)
		return ssthresh;
	end_search(sk, &c->search);
	ssthresh = on_loss(sk, c, ssthresh);
	leave_stock(sk, b, c);
	b->is_special = is_special(c) | b->is_starting;
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

/* Widens the flight after a probe, in a wide cold start. */
static inline void follow_probe(struct sock *sk, struct beside_cubic *b, struct connection *c)
{
	u64 rate = b->wide == WIDE_SENT ? widen_by_probe((struct tcp_sock *)sk, c) : 0;

	if (rate)
		b->rate = rate;
}

/* It sends and had nothing outstanding. */
static inline void start_cubic(struct sock *sk)
{
	struct beside_cubic *b = beside_cubic(sk);
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	bool is_wanted = b->is_special || sizes_set || is_after_pause(tp);
	struct connection *c = is_wanted ? connection_of(sk) : NULL;
	bool late;

	if (!c)
		return;
	count_pause_before_start(tp, c);
	late = is_late(tp, c);
	if (late) {
		end_search(sk, &c->search);
		b->rate = b->stock = 0;
	}
	begin_first_train(tp, &c->measure);
	on_start(sk, c);
	follow_probe(sk, b, c);
	if (is_about_to_begin(tp, c))
		begin_again_beside_stock(b, c);
	if (late && b->is_starting && is_chosen(c) && may_change_cold_start(sk))
		b->rate = begin_search_of(sk, c);
	if (b->is_starting)
		pace_beyond_stock(sk, b);
	b->is_special = is_special(c) | b->is_starting;
}

/* It has been idle, and the kernel takes its window back. */
static inline void idle_cubic(struct sock *sk)
{
	struct beside_cubic *b = beside_cubic(sk);
	struct connection *c = connection_of(sk);

	if (!c)
		return;
	end_search(sk, &c->search);
	end_wide_start(sk, b);
	b->rate = 0;
	on_idle(sk, c, &b->flights);
	leave_stock(sk, b, c);
	b->is_special = is_special(c) | b->is_starting;
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	if (!has_own_tx_start())
		cubictcp_cwnd_event(sk, event);
	if (event == CA_EVENT_CWND_RESTART)
		idle_cubic(sk);
	if (event == CA_EVENT_TX_START && !has_own_tx_start())
		start_cubic(sk);
}

SEC("struct_ops")
void BPF_PROG(hs_cubic_cwnd_event_tx_start, struct sock *sk)
{
	cubictcp_cwnd_event_tx_start(sk);
	start_cubic(sk);
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

	if (!c || c->phase == PHASE_MOVING)
		return;
	/* Nothing follows the last train that would end it. */
	if (c->search.is_on && !((struct tcp_sock *)sk)->packets_out)
		evaluate_train(&c->measure);
	end_proven(sk, c, &beside_cubic(sk)->flights);
}

#define CUBIC_OPS \
	.cong_avoid = (void *)hs_cubic_cong_avoid, .ssthresh = (void *)hs_cubic_ssthresh, \
	.undo_cwnd = (void *)hs_cubic_undo_cwnd, .set_state = (void *)hs_cubic_set_state, \
	.cwnd_event = (void *)hs_cubic_cwnd_event, \
	.cwnd_event_tx_start = (void *)hs_cubic_cwnd_event_tx_start, \
	.pkts_acked = (void *)hs_cubic_pkts_acked, .release = (void *)hs_cubic_release

SEC(".struct_ops.link")
struct tcp_congestion_ops hs_cubic = {
	.init = (void *)hs_cubic_init,
	CUBIC_OPS,
	.name = "hs_cubic",
};

SEC(".struct_ops.link")
struct tcp_congestion_ops hs_cubic_start = {
	.init = (void *)hs_cubic_start_init,
	.min_tso_segs = (void *)hs_cubic_start_min_tso_segs,
	CUBIC_OPS,
	.name = "hs_cubic_start",
};

#endif
