/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection goes on: its warm start ends as segments arrive, or as one is lost, and the memory
 * learns. */
#ifndef HEADSTART_PROGRESS_H
#define HEADSTART_PROGRESS_H

#include "connection.h"

/* Something is lost. */
static inline void note_loss(const struct tcp_sock *tp, struct connection *c)
{
	if (!c->restarts && tp->bytes_acked < ANY_WINDOW && before(tp->snd_una, c->first_end))
		c->history |= HAS_LOST_FIRST;
}

static inline void end_mark(struct sock *sk, struct connection *c)
{
	if (c->mark)
		unmark(sk, c->mark);
	c->mark = 0;
}

/* The first flight is over: as fast as the application allows again. `next` is the phase after
 * it. */
static inline void end_first_flight(struct sock *sk, struct connection *c, enum phase next)
{
	end_mark(sk, c);
	c->phase = next;
	if (sk->sk_max_pacing_rate == c->warm_rate)
		pace(sk, c->own_rate);
}

/* Whether anything is to be done as segments arrive, or are sent after a pause. Otherwise it
 * is a stock connection. */
static inline bool is_special(const struct connection *c)
{
	return c->mark || in_first_flight(c) || c->phase == PHASE_IDLE || c->is_paced ||
	       c->search.is_on ||
	       c->is_measured;
}

/* Its first flight, of which nothing has been sent. */
static inline bool is_about_to_begin(const struct tcp_sock *tp, const struct connection *c)
{
	return in_first_flight(c) && tp->snd_nxt + c->first * tp->mss_cache == c->first_end;
}

/* Segments have arrived and nothing is missing. */
static inline void on_progress(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	end_mark(sk, c);
	/* The rest of the flight is not proven by what it sends later, a little at a time. */
	if (!c->used && in_first_flight(c) && !tp->packets_out && !is_about_to_begin(tp, c))
		c->used = tp->delivered - c->delivered;
	if (in_first_flight(c) && !before(tp->snd_una, c->first_end))
		end_first_flight(sk, c, c->phase == PHASE_NARROWED_FLIGHT ? PHASE_NARROWED :
									    PHASE_STOCK);
	/* Paced as long as slow start lasts: HyStart would take what pacing spreads for a full
	 * pipe. */
	if (c->is_paced && !in_first_flight(c) && !in_slow_start(tp)) {
		c->is_paced = false;
		leave_unpaced(sk);
	}
}

static inline void take_sample(const struct tcp_sock *tp, const struct connection *c,
			       struct path_sample *sample)
{
	sample->at_ns = tp->delivered_mstamp * NS_PER_US;
	sample->srtt_us = tp->srtt_us >> 3;
	sample->min_rtt_us = tp->rtt_min.s[0].v;
	sample->ssthresh = tp->snd_ssthresh < TCP_INFINITE_SSTHRESH ? tp->snd_ssthresh : 0;
	sample->rate = measured_rate(tp, &c->measure);
}

static inline void update_memory(struct connection *c, const struct path_sample *sample,
				 bool is_measured)
{
	if (!update_path(&c->path, sample, is_measured))
		return;
	c->learnt = sample->window;
	if (is_measured)
		c->history |= HAS_MEASURED;
	else
		c->history &= ~HAS_MEASURED;
}

/* A first flight has lost something: it says that the path is not the one remembered. The window
 * to go on with. */
static inline u32 fall_back(struct sock *sk, struct connection *c)
{
	end_first_flight(sk, c, PHASE_STOCK);
	c->history |= HAS_FALLEN_BACK;
	halve_path(&c->path);
	return c->first / 2 > c->cold ? c->first / 2 : c->cold;
}

/* Something is lost, or marked. To `ssthresh`, that of the congestion control, the window falls,
 * or further. */
static inline u32 on_loss(struct sock *sk, struct connection *c, u32 ssthresh)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct path_sample sample = {};
	u32 half;

	note_loss(tp, c);
	if (in_first_flight(c)) {
		half = fall_back(sk, c);
		return half < ssthresh ? half : ssthresh;
	}
	take_sample(tp, c, &sample);
	sample.window = window_at_loss(tp->snd_cwnd, in_slow_start(tp));
	sample.ssthresh = ssthresh;
	update_memory(c, &sample, true);
	return ssthresh;
}

#endif
