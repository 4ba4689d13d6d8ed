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
};

static inline bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static inline bool is_searching(const struct search *s)
{
	return s->is_on;
}

static inline void begin_search(const struct sock *sk, struct search *s)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;

	if (tp->snd_ssthresh != TCP_INFINITE_SSTHRESH)
		return;
	s->is_on = true;
	s->next = tp->snd_nxt;
	s->may_pace = sk->sk_pacing_status == SK_PACING_NONE;
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

/* A train has come in: where slow start is to end by that, and at what rate it is to go on. The rate, bytes a second; 0:
 * as it was. */
static inline u64 judge_train(struct tcp_sock *tp, struct search *s)
{
	bool is_held_up, is_known;
	u64 gap = gap_of_train(s, &is_held_up), last = s->gap, best = train_shorter(gap, last);

	/* One that came in as it left says how fast the path is at least. */
	if (!gap || (!is_held_up && best == last))
		return 0;
	is_known = is_held_up && trains_agree(last, gap);
	s->gap = is_held_up || last ? gap : 0;
	tp->snd_ssthresh = is_known ? train_window(tp->rtt_min.s[0].v, best) : TCP_INFINITE_SSTHRESH;
	s->is_pacing |= is_known && s->may_pace;
	return s->is_pacing ? train_rate(tp->mss_cache, best) : 0;
}

/* Segments have arrived. What the first of a train lets go is the first of the next one: the acknowledgement of that ends this
 * one, also where what is sent lags behind what may be. The rate to go on with, bytes a second; 0: as it was. */
static inline u64 search_on_ack(struct sock *sk, struct search *s)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct arrived now = {.us = tp->tcp_mstamp, .delivered = tp->delivered};
	u64 rate = 0;

	if (!in_slow_start(tp)) {
		end_search(sk, s);
		return 0;
	}
	if (before(s->next, tp->snd_una)) {
		rate = judge_train(tp, s);
		s->first = s->last = now;
		s->sent_us = (u32)(tp->tcp_wstamp_ns / NS_PER_US) - s->next_from_us;
		s->next = tp->snd_nxt;
		s->next_from_us = now.us;
		s->has_train = true;
	}
	s->last_but_one = s->last;
	s->last = now;
	if (rate)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	return rate;
}

#endif
