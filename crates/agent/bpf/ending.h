/* SPDX-License-Identifier: GPL-2.0-only */
/* When a connection closes, the memory learns what it has proven, and the agent gets a summary. */
#ifndef HEADSTART_ENDING_H
#define HEADSTART_ENDING_H

#include "progress.h"

/* Time of the last acknowledgement, or now if no data was ever acknowledged: then the time that it
 * tried counts. Without a time it would drop out of the comparison, and warm starts may be the
 * reason. The kernel counts the SYN as delivered. */
static inline u64 last_news_ns(const struct tcp_sock *tp)
{
	return tp->delivered > 1 ? tp->delivered_mstamp * NS_PER_US : bpf_ktime_get_ns();
}

static inline void send_summary(struct sock *sk, struct connection *c,
				const struct path_sample *sample)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct summary *s = bpf_ringbuf_reserve(&summaries, sizeof(*s), 0);
	const struct path *path = find_path(&c->path);
	u64 lasted_ns;

	if (!s) {
		count_lost(LOST_SUMMARIES);
		return;
	}
	s->path = c->network;
	lasted_ns = last_news_ns(tp) - c->began_ns - c->paused_ns;
	s->lasted_ns = tp->data_segs_out && (s64)lasted_ns > 0 ? lasted_ns : 0;
	s->bytes_acked = tp->bytes_acked;
	s->first_window = c->began_with;
	s->last_window = tp->snd_cwnd;
	s->srtt_us = tp->srtt_us >> 3;
	s->min_rtt_us = tp->rtt_min.s[0].v;
	s->sent = tp->data_segs_out;
	s->retransmitted = tp->total_retrans;
	s->learnt = c->learnt;
	s->flags = c->history & SUMMARY_BITS;
	s->restarts = c->restarts;
	s->proposed = c->proposed;
	s->remembered = c->remembered;
	s->handshake_us = c->handshake_us;
	s->stage = c->stage;
	s->start = c->history & HAS_STARTED_WARM ? START_WARM : c->start;
	/* The connection's own rate, however little data showed it, rather than the path's
	 * remembered rate, which is no measurement. */
	s->rate = shown_rate(tp, &c->measure);
	if (!s->rate)
		s->rate = sample->rate;
	if (s->rate)
		s->flags |= SUMMARY_SHOWN_RATE;
	else if (path)
		s->rate = path->rate;
	s->mss = tp->mss_cache;
	s->flight = sample->flight;
	s->past = c->past_classes;
	s->spare = 0;
	bpf_ringbuf_submit(s, 0);
}

/* Fills `sample` with what the connection has proven since the last loss. */
static inline void take_proven_sample(const struct tcp_sock *tp, const struct connection *c,
				      const struct flights *f,
				 struct path_sample *sample)
{
	struct proof proof = {
		.cwnd = tp->snd_cwnd,
		.in_slow_start = in_slow_start(tp),
		.flight = proven_flight(f, tp),
		.first = c->first,
		.delivered = c->delivered_at_pause ? c->delivered_at_pause :
						     tp->delivered - c->delivered,
	};

	if (c->history & HAS_FALLEN_BACK)
		proof.delivered = 0;
	take_sample(tp, c, sample);
	sample->flight = proof.flight;
	sample->window = proven_window(tp, c, &proof);
	/* A search says where slow start would end, and has not shown it. */
	if (c->search.is_on && c->search.is_endless)
		sample->ssthresh = 0;
}

/* After a first flight that failed the path is remembered by the segments delivered since then,
 * per lowest round trip. */
static inline void take_carried_sample(const struct tcp_sock *tp, const struct connection *c,
				       struct path_sample *sample)
{
	u64 took_us = tp->delivered_mstamp - c->flight_us;

	take_sample(tp, c, sample);
	sample->window = carried_at(tp->delivered - c->delivered,
					   took_us < ~0U ? took_us : ~0U, sample->min_rtt_us);
}

/* Ends a connection that closes or gets another congestion control. The memory learns `sample`,
 * which was measured or, like any window, proven. */
static inline void end(struct sock *sk, struct connection *c, const struct path_sample *sample,
		       bool is_measured)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct path_sample carried = {};
	struct path *path;

	if (c->history & HAS_ENDED)
		return;
	c->history |= HAS_ENDED;
	judge_doubted(tp, c);
	if (has_failed_as_it_opened(c)) {
		take_carried_sample(tp, c, &carried);
		/* Not HAS_MEASURED: the site learns at which window it failed. */
		if (update_path(&c->line, &c->network, &carried, true))
			c->learnt = carried.window;
	} else {
		update_memory(c, sample, is_measured);
	}
	path = bpf_map_lookup_elem(&paths, &c->network);
	if (path) {
		__sync_fetch_and_add(&path->connections, 1);
		__sync_fetch_and_add(&path->bytes_acked, tp->bytes_acked);
		__sync_fetch_and_add(&path->sent, tp->data_segs_out);
		__sync_fetch_and_add(&path->retransmitted, tp->total_retrans);
		if (c->history & HAS_STARTED_WARM)
			__sync_fetch_and_add(&path->warm, 1);
		if (c->history & HAS_FALLEN_BACK)
			__sync_fetch_and_add(&path->fallbacks, 1);
	}
	path = find_path(&c->path);
	if (path && c->first && !(c->history & HAS_FALLEN_BACK))
		path->fallbacks_in_row = 0;
	send_summary(sk, c, sample);
}

/* Ends a connection with the window that it has proven. Its first flight is judged before that,
 * since a failed flight proves nothing. */
static inline void end_proven(struct sock *sk, struct connection *c, const struct flights *f)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct path_sample sample = {};

	judge_doubted(tp, c);
	take_proven_sample(tp, c, f, &sample);
	end(sk, c, &sample, false);
}

#endif
