/* SPDX-License-Identifier: GPL-2.0-only */
/* A cold start that leaves slow start by what it measures, not by loss: Paced Start (Hu & Steenkiste 2003) as far as the
 * kernel lets it. The flights of slow start are the trains; when two in a row have come in alike (trains.h), slow start
 * ends at the window that fills the path, and until then what is sent is spaced. Growth is the kernel's, HyStart and
 * all; a search that finds nothing has changed nothing. docs/adr/0014-cold-start.md. */
#ifndef HEADSTART_SEARCH_H
#define HEADSTART_SEARCH_H

#include "flights.h"
#include "paths.h"
#include "trains.h"

/* An ACK: when it came, by the socket's clock, microseconds, and what had been delivered with it. Both wrap. */
struct arrived {
	u32 us;
	u32 delivered;
};

struct search {
	u64 gap;	     /* of the last train, nanoseconds a segment; 0: none */
	u64 best;	     /* what is believed, the same; of a warm start at first what is remembered */
	u32 next;	     /* sequence number that the next train begins with */
	u32 next_from_us;    /* when the first of that may have left */
	u32 sent_us;	     /* the train that is coming in left within so long */
	struct arrived first; /* of the train that is coming in */
	struct arrived last;
	struct arrived last_but_one;
	bool is_on;
	bool has_train;
	bool may_pace;	     /* nobody else does */
	bool is_pacing;
	bool has_measured;   /* what is believed, by two trains */
	bool is_endless;     /* slow start had no end that anything has shown */
};

static inline bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static inline bool is_searching(const struct search *s)
{
	return s->is_on;
}

/* What a path is remembered to carry, bytes a second, is believed from the start. */
static inline void believe(struct search *s, u32 mss, u64 rate)
{
	s->best = train_of_rate(mss, rate);
}

/* The rate to go on with, an eighth faster than what is believed, bytes a second; 0: as the kernel will. */
static inline u64 search_rate(const struct tcp_sock *tp, const struct search *s)
{
	return s->is_pacing ? train_rate(tp->mss_cache, s->best) : 0;
}

/* Where slow start has an end already, there is nothing to find; what is believed is heeded. The rate as `search_rate`. */
static inline u64 begin_search(struct sock *sk, struct search *s, bool may_pace)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 window;

	s->is_endless = tp->snd_ssthresh == TCP_INFINITE_SSTHRESH;
	if (!s->is_endless && !s->best)
		return 0;
	s->is_on = true;
	s->next = tp->snd_nxt;
	s->may_pace = may_pace;
	s->is_pacing = may_pace && s->best;
	window = train_window(tp->rtt_min.s[0].v, s->best);
	if (s->best && s->is_endless)
		tp->snd_ssthresh = window > tp->snd_cwnd ? window : tp->snd_cwnd;
	return search_rate(tp, s);
}

/* Also of the pacing, if it is still ours. */
static inline void end_search(struct sock *sk, struct search *s)
{
	if (s->is_pacing && sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0UL)
		sk->sk_pacing_status = SK_PACING_NONE;
	s->is_on = s->is_pacing = false;
}

/* The first segments leave. */
static inline void begin_first_train(const struct tcp_sock *tp, struct search *s)
{
	if (!s->has_train)
		s->next_from_us = tp->tcp_mstamp;
}

static inline u64 gap_until(const struct search *s, const struct arrived *last)
{
	return train_gap(last->us - s->first.us, last->delivered - s->first.delivered);
}

/* Of the train that has come in; 0: that tells nothing. The acknowledgement of a last segment may have waited for one more to
 * come: the one before it tells better then. */
static inline u64 gap_of_train(const struct search *s, bool *is_held_up)
{
	u64 all = gap_until(s, &s->last), but_last = gap_until(s, &s->last_but_one);
	const struct arrived *end = all && (!but_last || all <= but_last) ? &s->last : &s->last_but_one;

	*is_held_up = train_held_up(s->sent_us, end->us - s->first.us);
	return s->has_train ? train_shorter(all, but_last) : 0;
}

/* What was measured, bytes a second; 0: nothing was. */
static inline u64 measured_rate(const struct tcp_sock *tp, const struct search *s)
{
	return s->has_measured ? train_carried(tp->mss_cache, s->best) : 0;
}

/* Two trains that agree are believed, until two others are, or one shows that the path is faster: by its gap or, since it came in
 * as it left, because it might be. Slow start ends at the window that is believed. True if what is believed has changed. */
static inline bool judge_train(struct tcp_sock *tp, struct search *s)
{
	bool is_held_up;
	u64 gap = gap_of_train(s, &is_held_up), last = s->gap;

	/* One that came in as it left says how fast the path is at least. */
	if (!gap || (!is_held_up && train_shorter(gap, last) == last))
		return false;
	s->gap = is_held_up || last ? gap : 0;
	if (is_held_up && trains_agree(last, gap)) {
		s->best = train_shorter(gap, last);
		tp->snd_ssthresh = train_window(tp->rtt_min.s[0].v, s->best);
		s->is_pacing = s->may_pace;
		s->has_measured = true;
		return true;
	}
	/* Clocks differ by less than a sixteenth. */
	if (gap >= s->best - s->best / 16 || (is_held_up && trains_agree(s->best, gap)))
		return false;
	s->best = gap;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	return true;
}

/* What the first of a train lets go is the first of the next one: the acknowledgement of that ends this one, also where
 * what is sent lags behind what may be. True if that tells something. */
static inline bool next_train(struct tcp_sock *tp, struct search *s, const struct arrived *now)
{
	bool is_new = judge_train(tp, s);

	s->first = s->last = *now;
	s->sent_us = (u32)(tp->tcp_wstamp_ns / NS_PER_US) - s->next_from_us;
	s->next = tp->snd_nxt;
	s->next_from_us = now->us;
	s->has_train = true;
	return is_new;
}

/* Segments have arrived. The rate to go on with, an eighth faster than they come in, bytes a second; 0: as it was. */
static inline u64 search_on_ack(struct sock *sk, struct search *s)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct arrived now = {.us = tp->tcp_mstamp, .delivered = tp->delivered};
	bool is_new = false;

	if (!in_slow_start(tp)) {
		end_search(sk, s);
		return 0;
	}
	if (before(s->next, tp->snd_una))
		is_new = next_train(tp, s, &now);
	s->last_but_one = s->last;
	s->last = now;
	if (!is_new || !s->is_pacing)
		return 0;
	sk->sk_pacing_status = SK_PACING_NEEDED;
	return search_rate(tp, s);
}

#endif
