/* SPDX-License-Identifier: GPL-2.0-only */
/* What a connection proves as it goes: the most segments that were outstanding at a time and all
 * arrived. */
#ifndef HEADSTART_FLIGHTS_H
#define HEADSTART_FLIGHTS_H

#include "kernel.h"

struct flights {
	u32 round_end;	  /* sequence number that ends the round trip under way */
	u32 round_flight; /* most segments outstanding at a time in it */
	/* the same of the round trip before: at the end of this one they have arrived */
	u32 last_flight;
	/* most segments outstanding at a time that all arrived, since the last loss */
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

/* Segments have arrived and nothing is missing. True if more have been outstanding together than
 * ever. */
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

/* What has arrived so far proves nothing any more. */
static inline void forget_flights(struct flights *f, const struct tcp_sock *tp)
{
	f->flight = f->last_flight = f->round_flight = 0;
	f->round_end = tp->snd_nxt;
}

/* Of what has arrived, and of what is under way only if nothing is. */
static inline u32 proven_flight(const struct flights *f, const struct tcp_sock *tp)
{
	return tp->packets_out ? f->flight :
				 larger(f->flight, larger(f->last_flight, f->round_flight));
}

#endif
