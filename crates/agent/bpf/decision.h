/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports how each connection starts, and why, to an agent that logs it. Without a log, a start
 * costs one test of a bit. */
#ifndef HEADSTART_DECISION_H
#define HEADSTART_DECISION_H

#include "connection.h"

/* Separate from summaries, so that a log of decisions loses no summaries. Room for 700 unread
 * decisions. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} decisions SEC(".maps");

/* Nanoseconds; 0 if nothing is remembered. */
static inline u64 age_of(const struct path *path)
{
	s64 age = path ? bpf_ktime_get_ns() - path->learnt_ns : 0;

	return age > 0 ? age : 0;
}

/* `how`: `enum trigger`, and above 8 bits enum start. Not static: so the verifier follows it once,
 * and not for each way that leads to it. Therefore it takes numbers and a copy of the key (see
 * finish_handshake). */
__noinline u32 report_decision(const struct connection *c, u32 window, u32 rtt_us, u32 how)
{
	struct path_key key;
	struct decision *d;

	if (!c)
		return 0;
	d = bpf_ringbuf_reserve(&decisions, sizeof(*d), 0);
	if (!d) {
		count_lost(LOST_DECISIONS);
		return 0;
	}
	d->path = c->network;
	key = c->path;
	d->age_ns = age_of(find_path(&key));
	d->rate = in_first_flight(c) ? c->warm_rate : 0;
	d->trigger = how & 0xff;
	d->start = how >> 8;
	d->flags = c->history & SUMMARY_BITS;
	d->window = window;
	d->cold = c->cold;
	d->remembered = c->recalled;
	d->rtt_us = rtt_us;
	d->stage = c->stage;
	bpf_ringbuf_submit(d, 0);
	return 1;
}

/* It starts now. `why`: if cold. */
static inline void report_start(const struct tcp_sock *tp, const struct connection *c,
			      enum trigger trigger, u32 why)
{
	if (!(settings.flags & REPORT_STARTS))
		return;
	if (in_first_flight(c))
		why = START_WARM;
	report_decision(c, tp->snd_cwnd, tp->srtt_us >> 3, trigger | why << 8);
}

#endif
