/* SPDX-License-Identifier: GPL-2.0-only */
/* A cold start's short first flight, such as a server's TLS flight, is a probe of the path. Its
 * segments are sent as a burst, so their ACKs come at the rate of the path. The first window of the
 * response follows that rate. */
#ifndef HEADSTART_PROBE_H
#define HEADSTART_PROBE_H

#include "arith.h"
#include "kernel.h"

struct probe {
	u64 rate;     /* the highest that ACKs of a flight have shown, bytes a second; 0: none */
	u32 us;	      /* when the first ACK of the flight came, by the socket's clock */
	u32 una;      /* sequence number behind what it acknowledged */
	bool has_ack; /* the flight has had that ACK */
};

/* Segments of a short flight are acknowledged. */
static inline void probe_on_ack(const struct tcp_sock *tp, struct probe *p)
{
	u64 rate;

	if (!p->has_ack) {
		p->has_ack = true;
		p->us = tp->tcp_mstamp;
		p->una = tp->snd_una;
		return;
	}
	rate = probed_rate(tp->snd_una - p->una, (u32)tp->tcp_mstamp - p->us, tp->mss_cache);
	p->rate = rate > p->rate ? rate : p->rate;
}

#endif
