/* SPDX-License-Identifier: GPL-2.0-only */
/* The burst of a warm start: nobody paces the first ten segments of a connection, so their arrival
 * tells the rate of the path. A path that is more than twice as fast as remembered is another one:
 * slow start goes on, and measures it. Where the rate is not known, the burst is the first train of
 * its measurement, since the flight that follows is paced and arrives as it left. */
#ifndef HEADSTART_BURST_H
#define HEADSTART_BURST_H

#include "progress.h"

/* Segments whose gaps are looked at: of ten one or two come with the first ACK. */
#define BURST_LOOKS_AT 8
/* How much faster a path has to be to be another one. */
#define MUCH_FASTER 2

/* Segments have arrived. The gap at which the burst has arrived, nanoseconds a segment; 0: it has
 * not, or tells nothing. */
static inline u64 burst_gap(const struct tcp_sock *tp, struct connection *c)
{
	u32 count = tp->delivered - c->first_ack.delivered;

	if (c->burst == BURST_SENT) {
		c->first_ack.us = tp->tcp_mstamp;
		c->first_ack.delivered = tp->delivered;
		c->burst = tp->packets_out < BURST_LOOKS_AT ? BURST_NOT : BURST_ARRIVES;
		return 0;
	}
	if (c->burst == BURST_NOT || count < BURST_LOOKS_AT)
		return 0;
	c->burst = BURST_NOT;
	return train_gap((u32)tp->tcp_mstamp - c->first_ack.us, count);
}

/* Segments of a first flight have arrived. True if slow start goes on. */
static inline bool notice_faster_path(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 gap = burst_gap(tp, c);

	if (!in_first_flight(c) || !gap)
		return false;
	if (!c->measure.best)
		c->measure.gap = gap;
	if (gap * MUCH_FASTER >= c->measure.best)
		return false;
	end_first_flight(sk, c, PHASE_STOCK);
	c->measure.best = 0;
	forget_rate(&c->line, &c->network);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	return true;
}

#endif
