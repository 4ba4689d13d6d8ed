/* SPDX-License-Identifier: GPL-2.0-only */
/* The allocation of a session's member at an ACK, or when it joins: its share of the window, and
 * its pacing. Bursts are paced, and segments sent in recovery; ACKs clock the rest already. */
#ifndef HEADSTART_ALLOCATION_H
#define HEADSTART_ALLOCATION_H

#include "membership.h"

/* Segments that are not paced, as the kernel does not the first ones of a connection. */
#define UNPACED_SEGMENTS 10

/* Round trips below this are not paced. Linux sends paced data in pieces of about a millisecond
 * (`sk_pacing_shift`), so shorter round trips would not be spaced, but the timer costs bulk data a
 * twentieth. */
#define MIN_PACED_RTT_US 1000

/* A member's allocation. */
struct allocation {
	u32 share;  /* segments outstanding */
	u32 spread; /* segments in a round trip: the pacing rate of a burst */
	u32 window; /* of all members */
	/* to this member as it joins, and to all members that join within a round trip */
	u32 allocated;
	u32 joining;
	u64 rate;   /* of the path, bytes a second; 0: not known */
	u32 base_us; /* lowest round trip of all; 0: not known */
	bool is_in_slow_start;
	bool is_proven; /* the window, not remembered alone */
};

/* Builds the allocation. Called under the session's lock. */
static inline struct allocation allocation_of(const struct session *s, u32 share)
{
	return (struct allocation){
		.share = share,
		.spread = share,
		.window = s->window,
		.rate = s->rate,
		.base_us = s->base_us,
		.is_in_slow_start = is_in_slow_start(s),
		.is_proven = !s->unproven,
	};
}

/* Whether the window allows a burst now. */
static inline bool is_burst(const struct tcp_sock *tp)
{
	u32 in_flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;

	return tp->snd_cwnd > in_flight + UNPACED_SEGMENTS;
}

/* Paces bursts only: paced segments keep their spacing and show nothing of the path, so ACK-clocked
 * ones are not paced. In recovery a timer may find many losses at once. An application's own rate
 * always applies. */
static inline void pace_bursts(struct sock *sk, bool may_be_spaced)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;

	if (unlikely((may_be_spaced && is_burst(tp)) || is_recovering(tp) ||
		     sk->sk_max_pacing_rate != ~0UL))
		keep_paced(sk);
	else
		leave_unpaced(sk);
}

/* The pacing rate of a burst: evenly over a round trip. Once the window is proven, four windows a
 * round trip while slow start lasts (3.33 times the pace of 1.2), which is twice the need. With
 * three windows the second flight of 30 kB would end a tenth of a round trip later. If the path is
 * known to be faster, the burst gets its part of the path's rate. Not static: so the verifier
 * follows it once only. */
__noinline u64 burst_rate(u64 even, u64 path, u32 spread, u32 window, bool is_hurried)
{
	u64 rate = is_hurried ? even * 3 + (even * 85 >> 8) : even;
	u64 known = path ? first_rate(even, path, spread, window) : 0;

	return known > rate ? known : rate;
}

static inline void pace_share(struct sock *sk, const struct membership *b,
			      const struct allocation *allocation)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 rtt_us = tp->srtt_us ? tp->srtt_us >> 3 : allocation->base_us;
	u64 even = pacing_rate(allocation->spread, tp->mss_cache, rtt_us);
	u64 rate = b->warm_rate;

	if (!rate)
		rate = burst_rate(even, allocation->rate, allocation->spread, allocation->window,
				  allocation->is_in_slow_start && allocation->is_proven);
	if (rate)
		sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
	pace_bursts(sk, !allocation->is_proven || !rtt_us || rtt_us >= MIN_PACED_RTT_US);
}

/* Sets what the member may have outstanding; less after a timeout of its own. */
static inline void take_share(struct sock *sk, struct membership *b,
			      const struct allocation *allocation)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 share = allocation->share;

	tp->snd_ssthresh = allocation->is_in_slow_start ? TCP_INFINITE_SSTHRESH : share;
	if (b->member.limit && b->member.limit < share)
		share = b->member.limit;
	else
		b->member.limit = 0;
	/* Without a round trip it cannot be paced: it gets the stock initial window. */
	if (unlikely(!tp->srtt_us && !allocation->base_us))
		share = smaller(share, INITIAL_WINDOW);
	tp->snd_cwnd = share;
}

/* Sets the member's share and its pacing. */
static inline void take(struct sock *sk, struct membership *b,
			      const struct allocation *allocation)
{
	take_share(sk, b, allocation);
	pace_share(sk, b, allocation);
}

#endif
