/* SPDX-License-Identifier: GPL-2.0-only */
/* `hs_window`: sets first windows only, where programs cannot be a congestion control, or are not
 * to be. The connection keeps its congestion control, opens as wide as the memory allows, and paces
 * its first flight. After that the programs only observe it: measured round trips, retransmissions,
 * its end. */
#ifndef HEADSTART_WINDOW_H
#define HEADSTART_WINDOW_H

#include "hook.h"
#include "ending.h"
#include "opening.h"
#include "pauses.h"

static inline void end_paced_flight(struct bpf_sock_ops *ops, const struct sock *sk,
				    struct connection *c)
{
	c->phase = PHASE_STOCK;
	if (sk->sk_max_pacing_rate == c->warm_rate)
		pace(ops, c->own_rate);
}

/* Opens with the remembered window if it can be paced; the window is set last. */
static inline void open_wide(struct bpf_sock_ops *ops, const struct sock *sk, struct connection *c,
			     const struct offer *o)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 window = o->window;

	c->start = START_PACING;
	if (!choose_rate(sk, c, o->path, window, o->cap) || !pace(ops, c->warm_rate))
		return;
	if (bpf_setsockopt(ops, IPPROTO_TCP, TCP_BPF_IW, &window, sizeof(window))) {
		pace(ops, c->own_rate);
		return;
	}
	begin_first_flight(tp, c, window);
	assume_rate(&c->measure, tp->mss_cache, offered_rate(o));
	c->began_with = window;
	c->history |= HAS_STARTED_WARM;
}

static inline bool is_bbr(struct bpf_sock_ops *ops)
{
	char has[TCP_CA_NAME_MAX] = {};

	return !bpf_getsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, has, sizeof(has)) &&
	       has_name(has, "bbr", sizeof("bbr"));
}

/* Not inline: its locals are not to be on the stack below what `hs_window` calls later. On Linux
 * 6.1, all functions of a call chain have 512 bytes together. */
static __noinline void on_open(struct bpf_sock_ops *ops, struct sock *sk)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct destination to = {};
	struct connection *c = open_connection(sk, &to);
	struct offer o = {};
	bool has_reserved;

	if (!c)
		return;
	forget_flights(&c->flights, tp);
	c->cold = c->began_with = tp->snd_cwnd;
	c->una = c->loss_end = tp->snd_una;
	c->is_loss_blind = is_bbr(ops);
	/* Adds to the flags that programs of others have set. */
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_RETRANS_CB_FLAG |
					       BPF_SOCK_OPS_STATE_CB_FLAG |
					       BPF_SOCK_OPS_RTT_CB_FLAG);
	o.cold = c->cold;
	o.cap = to.cap;
	o.among = finish_handshake(&c->path);
	if (!tp->total_retrans && !tp->data_segs_out) {
		has_reserved = reserve_window(tp, &c->path, &o, is_chosen(c));
		c->proposed = o.window;
		if (has_reserved && may_choose_window(c))
			open_wide(ops, sk, c, &o);
	}
	report_start(tp, c, TRIGGER_OPENING, c->start);
}

/* Segments that the first ACK of a round trip acknowledges: at least the ones that were sent in it.
 * More than these may have been acknowledged by ACKs that the kernel has not reported. */
static inline u32 acked_in_round(const struct tcp_sock *tp, const struct connection *c)
{
	u32 mss = tp->mss_cache, begin = c->flights.round_end;

	/* A retransmission that fills a gap acknowledges segments that were delivered long
	 * before. */
	if (before(c->una, c->loss_end) || before(tp->snd_una, begin) || !mss)
		return 0;
	return (tp->snd_una - begin + mss - 1) / mss;
}

/* True if nothing was outstanding when it sent the segments that are acknowledged now. Only then
 * the kernel sets `delivered_mstamp` as it sends; otherwise each ACK does. */
static inline bool has_sent_from_idle(const struct tcp_sock *tp)
{
	return tp->first_tx_mstamp >= tp->delivered_mstamp;
}

/* Handles a measured round trip. The kernel calls this once a round trip (`tcp_rtt_estimator`), at
 * the first ACK of a segment that was sent after the call before. */
static inline void on_round_trip(struct bpf_sock_ops *ops, struct sock *sk, struct connection *c)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 acked = acked_in_round(tp, c);
	struct path_sample sample = {};

	/* The pause ends when it began to send these segments. After a loss their time is that of
	 * a retransmission. */
	if (!before(c->una, c->loss_end) && has_sent_from_idle(tp))
		count_pause(tp, c, c->arrived_ns, tp->delivered_mstamp * NS_PER_US);
	c->arrived_ns = tp->tcp_mstamp * NS_PER_US;
	c->una = tp->snd_una;
	/* The kernel counts another round trip from here, behind what is outstanding. */
	if (is_recovering(tp)) {
		forget_flights(&c->flights, tp);
		return;
	}
	c->loss_end = tp->snd_una;
	if (!before(tp->snd_una, c->first_end))
		judge_doubted(tp, c);
	/* Now, since the kernel resets the window after idle. */
	if (count_flight(&c->flights, tp, acked)) {
		take_proven_sample(tp, c, &c->flights, &sample);
		update_memory(c, &sample, false);
	}
	if (in_first_flight(c) && !before(tp->snd_una, c->first_end))
		end_paced_flight(ops, sk, c);
}

/* Handles the first retransmission after a loss. The window is the congestion control's. */
static inline void on_retransmission(struct bpf_sock_ops *ops, struct sock *sk,
				     struct connection *c)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct loss loss;

	/* A probe of the tail says nothing. */
	if (!is_recovering(tp) || before(tp->snd_una, c->loss_end))
		return;
	c->loss_end = tp->snd_nxt;
	note_loss(tp, c);
	forget_flights(&c->flights, tp);
	if (in_first_flight(c)) {
		if (has_failed(tp, c))
			fail_memory(c, contradicts_rate(tp, c));
		else
			c->is_doubted = true;
		end_paced_flight(ops, sk, c);
		return;
	}
	if (c->is_loss_blind)
		return;
	loss.cwnd = tp->prior_cwnd;
	loss.in_slow_start = tp->prior_cwnd < tp->prior_ssthresh;
	learn_loss(tp, c, &loss);
}

SEC("sockops")
int hs_window(struct bpf_sock_ops *ops)
{
	struct destination to = {};
	struct sock *sk = (struct sock *)hooked(ops, &to);
	struct connection *c;
	struct bpf_sock *of = ops->sk;

	count_handshakes(ops);
	if (sk) {
		on_open(ops, sk);
		choose_least_timeout(ops, (struct tcp_sock *)sk);
		learn_answer((struct tcp_sock *)sk, &to.path);
	}
	if (has_opened(ops) || !of)
		return 1;
	sk = (struct sock *)bpf_skc_to_tcp_sock(of);
	c = sk ? connection_of(sk) : NULL;
	if (!c)
		return 1;
	if (ops->op == BPF_SOCK_OPS_RTT_CB)
		on_round_trip(ops, sk, c);
	if (ops->op == BPF_SOCK_OPS_RETRANS_CB)
		on_retransmission(ops, sk, c);
	if (ops->op == BPF_SOCK_OPS_STATE_CB && ops->args[1] == BPF_TCP_CLOSE)
		end_proven(sk, c, &c->flights);
	return 1;
}

#endif
