/* SPDX-License-Identifier: GPL-2.0-only */
/* A cold start that ends slow start by a measurement (measure.h), not by loss: Paced Start (Hu &
 * Steenkiste 2003) as far as the kernel supports it. When two flights in a row are delivered alike,
 * slow start ends at the window that fills the path; until then flights are paced. Growth is the
 * kernel's, with HyStart; a search without a result changes nothing. See
 * docs/adr/0014-cold-start.md. */
#ifndef HEADSTART_SEARCH_H
#define HEADSTART_SEARCH_H

#include "measure.h"

struct search {
	bool is_on;
	bool may_pace;	     /* nothing else paces */
	bool is_pacing;
	bool is_endless;     /* slow start had no end that anything has shown */
};

static inline bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* Unless something else has it paced: its first flight, the application, or a queueing
 * discipline. */
static inline void leave_unpaced(struct sock *sk)
{
	if (sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0UL)
		sk->sk_pacing_status = SK_PACING_NONE;
}

/* Paces from here on, until another function changes it. */
static inline void keep_paced(struct sock *sk)
{
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* The rate to go on with, an eighth faster than the estimate, bytes a second; 0: the kernel's. */
static inline u64 search_rate(const struct tcp_sock *tp, const struct search *s,
			      const struct measure *m)
{
	return s->is_pacing ? train_rate(tp->mss_cache, m->best) : 0;
}

/* Starts the search. If slow start has an end already, there is nothing to find, and the known rate
 * is applied. Returns a rate as `search_rate` does. */
static inline u64 begin_search(struct sock *sk, struct search *s, struct measure *m, bool may_pace)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 window;

	s->is_endless = tp->snd_ssthresh == TCP_INFINITE_SSTHRESH;
	if (!s->is_endless && !m->best)
		return 0;
	s->is_on = true;
	m->next = tp->snd_nxt;
	s->may_pace = may_pace;
	s->is_pacing = may_pace && m->best;
	window = train_window(tp->rtt_min.s[0].v, m->best);
	if (m->best && s->is_endless)
		tp->snd_ssthresh = window > tp->snd_cwnd ? window : tp->snd_cwnd;
	return search_rate(tp, s, m);
}

/* Ends the search, and its pacing. */
static inline void end_search(struct sock *sk, struct search *s)
{
	if (s->is_pacing)
		leave_unpaced(sk);
	s->is_on = s->is_pacing = false;
}

/* Handles an ACK. Slow start ends at the estimated window. Returns the rate to go on with, an
 * eighth faster than the delivery rate, bytes a second; 0: unchanged. */
static inline u64 search_on_ack(struct sock *sk, struct search *s, struct measure *m)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	enum train_result says;

	if (!in_slow_start(tp) || (!m->best && has_measured_enough(m))) {
		end_search(sk, s);
		return 0;
	}
	says = measure_ack(tp, m);
	if (says == TRAIN_SAYS_NOTHING)
		return 0;
	tp->snd_ssthresh = says == TRAIN_SAYS_RATE ? train_window(tp->rtt_min.s[0].v, m->best) :
						     TCP_INFINITE_SSTHRESH;
	if (says == TRAIN_SAYS_RATE)
		s->is_pacing = s->may_pace;
	if (!s->is_pacing)
		return 0;
	keep_paced(sk);
	return search_rate(tp, s, m);
}

#endif
