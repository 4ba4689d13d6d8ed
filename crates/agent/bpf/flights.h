/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures what a connection proves: the most segments that were outstanding at a time and all
 * delivered. */
#ifndef HEADSTART_FLIGHTS_H
#define HEADSTART_FLIGHTS_H

#include "kernel.h"

struct flights {
	u32 round_end;	  /* sequence number that ends the round trip under way */
	u32 round_flight; /* most segments outstanding at a time in it */
	/* the same of the round trip before: at the end of this one those segments are
	 * acknowledged */
	u32 last_flight;
	/* most segments outstanding at a time that were all delivered, since the last loss */
	u32 flight;
};

static inline bool before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static inline u32 larger(u32 a, u32 b)
{
	return a > b ? a : b;
}

/* Counts `acked` segments, if none is missing. True if the largest delivered flight grew. */
static inline bool count_flight(struct flights *f, const struct tcp_sock *tp, u32 acked)
{
	bool is_larger;

	f->round_flight = larger(f->round_flight, tp->packets_out + acked);
	if (before(tp->snd_una, f->round_end))
		return false;
	is_larger = f->last_flight > f->flight;
	f->flight = larger(f->flight, f->last_flight);
	f->last_flight = f->round_flight;
	f->round_flight = 0;
	f->round_end = tp->snd_nxt;
	return is_larger;
}

/* Discards the proof of earlier flights, after a loss. */
static inline void forget_flights(struct flights *f, const struct tcp_sock *tp)
{
	f->flight = f->last_flight = f->round_flight = 0;
	f->round_end = tp->snd_nxt;
}

/* Returns the proven flight. The last flights count only if nothing is outstanding. */
static inline u32 proven_flight(const struct flights *f, const struct tcp_sock *tp)
{
	return tp->packets_out ? f->flight :
				 larger(f->flight, larger(f->last_flight, f->round_flight));
}

#endif
