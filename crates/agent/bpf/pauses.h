/* SPDX-License-Identifier: GPL-2.0-only */
/* Pauses: times in which a connection has nothing to send, longer than a round trip. They are what
 * its application takes, or its peer, and no start makes them shorter: the time that connections
 * are compared by is without them. */
#ifndef HEADSTART_PAUSES_H
#define HEADSTART_PAUSES_H

#include "connection.h"

/* True if it sends after a pause: its last segment was acknowledged more than a round trip ago.
 * That time is due to its application or its peer, not to the path. Called at every start, before
 * the connection is looked up. */
static inline bool is_after_pause(const struct tcp_sock *tp)
{
	return tp->tcp_mstamp - tp->delivered_mstamp > tp->srtt_us >> 3;
}

/* From `since_ns`, or from its opening, until `now_ns` it had nothing to send. */
static inline void count_pause(const struct tcp_sock *tp, struct connection *c, u64 since_ns,
			       u64 now_ns)
{
	u64 since = since_ns > c->began_ns ? since_ns : c->began_ns;

	if (now_ns > since && now_ns - since > (tp->srtt_us >> 3) * NS_PER_US)
		c->paused_ns += now_ns - since;
}

/* Counts the pause before a start that happens now. */
static inline void count_pause_before_start(const struct tcp_sock *tp, struct connection *c)
{
	if (!is_recovering(tp))
		count_pause(tp, c, tp->delivered_mstamp * NS_PER_US, tp->tcp_mstamp * NS_PER_US);
}

#endif
