/* SPDX-License-Identifier: GPL-2.0-only */
/* The burst of a warm start: the first ten segments of a connection are not paced, so their ACKs
 * show the rate of the path. If it is more than twice the remembered rate, the path has changed:
 * slow start goes on, and measures it. If the rate is not known, a path that holds less than half
 * of the first window has changed, too: slow start ends at the window that fills it. Otherwise the
 * burst is the first train of the measurement, since the flight that follows is paced and keeps its
 * spacing. */
#ifndef HEADSTART_BURST_H
#define HEADSTART_BURST_H

#include "progress.h"

/* Segments whose gaps are looked at: of ten one or two come with the first ACK. */
#define BURST_LOOKS_AT 8
/* The path has changed if it is this factor faster or narrower. */
#define ANOTHER_PATH 2

/* Returns the gap at which the burst was delivered, nanoseconds a segment; 0: its delivery is not
 * complete, or shows nothing. Called when segments are acknowledged. */
static inline u64 burst_gap(const struct tcp_sock *tp, struct connection *c)
{
	u32 count = tp->delivered - c->first_ack.delivered;

	if (c->burst == BURST_SENT) {
		c->first_ack.us = tp->tcp_mstamp;
		c->first_ack.delivered = tp->delivered;
		c->burst = tp->packets_out < BURST_LOOKS_AT ? BURST_NONE : BURST_DELIVERING;
		return 0;
	}
	if (c->burst == BURST_NONE || count < BURST_LOOKS_AT)
		return 0;
	c->burst = BURST_NONE;
	return train_gap((u32)tp->tcp_mstamp - c->first_ack.us, count);
}

/* A path, judged by the burst of a first flight. */
enum path_is { AS_REMEMBERED, NARROWER, FASTER };

static inline enum path_is judge_path(const struct connection *c, u64 gap, u64 full)
{
	if (c->measure.best)
		return gap * ANOTHER_PATH < c->measure.best ? FASTER : AS_REMEMBERED;
	return full * ANOTHER_PATH < c->first ? NARROWER : AS_REMEMBERED;
}

/* Slow start ends, at the window that fills the path. */
static inline void end_slow_start(struct tcp_sock *tp, u32 full)
{
	tp->snd_ssthresh = full;
	if (tp->snd_cwnd > full)
		tp->snd_cwnd = full;
}

/* Judges the path when segments of a first flight are acknowledged. */
static inline enum path_is judge_burst(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 gap = burst_gap(tp, c), full = train_window(tp->rtt_min.s[0].v, gap);
	enum path_is path = judge_path(c, gap, full);

	if (!in_first_flight(c) || !gap)
		return AS_REMEMBERED;
	if (path != AS_REMEMBERED)
		end_first_flight(sk, c, PHASE_STOCK);
	if (path == NARROWER) {
		fail_memory(c, true);
		end_slow_start(tp, larger(full, c->cold));
	}
	if (path == FASTER) {
		c->measure.best = 0;
		forget_rate(&c->line, &c->network);
		tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	} else if (!c->measure.best) {
		c->measure.gap = gap;
	}
	return path;
}

#endif
