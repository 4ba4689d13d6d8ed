/* SPDX-License-Identifier: GPL-2.0-only */
/* `hs_bbr`: the kernel's own BBR, which starts with the remembered window. BBR paces, keeps its
 * window over idle times, and measures the path once the pipe is full; the agent remembers that. */
#ifndef HEADSTART_BBR_H
#define HEADSTART_BBR_H

#include "pauses.h"
#include "starts.h"

#define BBR_BW_SHIFT 24 /* net/ipv4/tcp_bbr.c, BW_SCALE */

static inline bool is_pipe_full(const struct tcp_sock *tp)
{
	const struct bbr *bbr = (const struct bbr *)tp->inet_conn.icsk_ca_priv;

	return BPF_CORE_READ_BITFIELD(bbr, full_bw_reached);
}

/* BBR's measurement of the path: the bottleneck's rate times the round trip without a queue. False
 * while BBR is in startup. */
static inline bool measured_by_bbr(const struct tcp_sock *tp, const struct connection *c,
				   struct path_sample *sample)
{
	const struct bbr *bbr = (const struct bbr *)tp->inet_conn.icsk_ca_priv;

	if (!is_pipe_full(tp))
		return false;
	take_sample(tp, c, sample);
	sample->window = (u64)bbr->bw.s[0].v * bbr->min_rtt_us >> BBR_BW_SHIFT;
	/* Segments a microsecond, shifted; half of the shift at a time, so that nothing
	 * overflows. */
	sample->rate = (u64)bbr->bw.s[0].v * tp->mss_cache >> BBR_BW_SHIFT / 2;
	sample->rate = sample->rate * US_PER_S >> BBR_BW_SHIFT / 2;
	sample->srtt_us = bbr->min_rtt_us;
	return true;
}

SEC("struct_ops")
void BPF_PROG(hs_bbr_init, struct sock *sk)
{
	struct connection *c;

	bbr_init(sk);
	c = begin(sk);
	if (c)
		c->flights.round_end = ((struct tcp_sock *)sk)->snd_nxt;
	/* BBR has no slow-start threshold: one of an earlier congestion control would mislead the
	 * agent. */
	((struct tcp_sock *)sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
}

/* Lowers window and rate, since BBR lowers neither before the pipe is full. BBR takes the window
 * from here as the one to return to. `window` 0: nothing is lowered. */
static inline void lower_bbr(struct sock *sk, u32 window)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (!window)
		return;
	if (window < tp->snd_cwnd)
		tp->snd_cwnd = window;
	sk->sk_pacing_rate = pacing_rate(window, tp->mss_cache, tp->srtt_us >> 3);
}

/* Called at an ACK of `acked` segments as long as the pipe was not full. If it is full now, BBR has
 * measured the path and the agent leaves it alone. Not inline: code that runs at every ACK is to be
 * short. */
static __noinline void on_startup_ack(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *c = connection_of(sk);

	if (!c)
		return;
	count_flight(&c->flights, tp, acked);
	if (is_special(c))
		on_progress(sk, c);
	lower_bbr(sk, end_if_contradicted(sk, c));
	if (in_first_flight(c) && is_pipe_full(tp))
		end_first_flight(sk, c, PHASE_STOCK);
}

SEC("struct_ops")
void BPF_PROG(hs_bbr_cong_control, struct sock *sk)
{
	const struct rate_sample *rs = rate_sample_of(ctx);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	bool was_full = is_pipe_full(tp);

	if (cong_control_tells_ack)
		bbr_main(sk, ctx[1], ctx[2], rs);
	else
		bbr_main___short(sk, rs);
	/* A full pipe needs no call: BBR measures it. */
	if (!was_full && rs->acked_sacked && !is_recovering(tp))
		on_startup_ack(sk, rs->acked_sacked);
}

/* To BBR a loss is no measure of the path. But a first flight was not of its choosing. */
SEC("struct_ops")
u32 BPF_PROG(hs_bbr_ssthresh, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (c) {
		note_loss(tp, c);
		forget_flights(&c->flights, tp);
	}
	if (c && in_first_flight(c)) {
		if (has_failed(tp, c))
			lower_bbr(sk, fall_back(sk, c));
		else
			doubt_flight(sk, c);
	}
	return bbr_ssthresh(sk);
}

SEC("struct_ops")
u32 BPF_PROG(hs_bbr_undo_cwnd, struct sock *sk)
{
	return bbr_undo_cwnd(sk);
}

SEC("struct_ops")
void BPF_PROG(hs_bbr_set_state, struct sock *sk, u8 state)
{
	bbr_set_state(sk, state);
}

/* It sends and had nothing outstanding. */
static inline void start_bbr(struct sock *sk)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	bool is_full = is_pipe_full(tp);
	struct connection *c = !is_full || is_after_pause(tp) ? connection_of(sk) : NULL;

	if (!c)
		return;
	count_pause_before_start(tp, c);
	if (!is_full)
		on_start(sk, c);
}

/* Until Linux 7.0; BBR reacts to no other event. */
SEC("struct_ops")
void BPF_PROG(hs_bbr_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	bbr_cwnd_event(sk, event);
	if (event == CA_EVENT_TX_START)
		start_bbr(sk);
}

/* Since Linux 7.1. */
SEC("struct_ops")
void BPF_PROG(hs_bbr_cwnd_event_tx_start, struct sock *sk)
{
	bbr_cwnd_event_tx_start(sk);
	start_bbr(sk);
}

SEC("struct_ops")
u32 BPF_PROG(hs_bbr_sndbuf_expand, struct sock *sk)
{
	return bbr_sndbuf_expand(sk);
}

SEC("struct_ops")
u32 BPF_PROG(hs_bbr_min_tso_segs, struct sock *sk)
{
	return bbr_min_tso_segs(sk);
}

SEC("struct_ops")
void BPF_PROG(hs_bbr_release, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct path_sample sample = {};

	if (!c)
		return;
	if (measured_by_bbr(tp, c, &sample))
		end(sk, c, &sample, true);
	else
		end_proven(sk, c, &c->flights);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops hs_bbr = {
	.init = (void *)hs_bbr_init,
	.cong_control = (void *)hs_bbr_cong_control,
	.ssthresh = (void *)hs_bbr_ssthresh,
	.undo_cwnd = (void *)hs_bbr_undo_cwnd,
	.set_state = (void *)hs_bbr_set_state,
	.cwnd_event = (void *)hs_bbr_cwnd_event,
	.cwnd_event_tx_start = (void *)hs_bbr_cwnd_event_tx_start,
	.sndbuf_expand = (void *)hs_bbr_sndbuf_expand,
	.min_tso_segs = (void *)hs_bbr_min_tso_segs,
	.release = (void *)hs_bbr_release,
	.name = "hs_bbr",
};

#endif
