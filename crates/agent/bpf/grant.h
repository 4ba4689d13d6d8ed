/* SPDX-License-Identifier: GPL-2.0-only */
/* What a member of a session is granted at an ACK or as it joins: its share of the window, and
 * how that is paced. Bursts are, and what leaves in recovery; what ACKs let go is clocked by
 * them already. */
#ifndef HEADSTART_GRANT_H
#define HEADSTART_GRANT_H

#include "belonging.h"

/* Segments that are not paced, as the kernel does not the first ones of a connection. */
#define UNPACED_SEGMENTS 10

/* Linux sends what it paces in pieces of about a millisecond (`sk_pacing_shift`): while round
 * trips are shorter nothing is spaced by that, and its timer costs bulk data a twentieth. */
#define MIN_PACED_RTT_US 1000

/* What a member may do now. */
struct grant {
	u32 share;  /* segments outstanding */
	u32 spread; /* segments in a round trip: how fast what leaves as a burst is paced */
	u32 window; /* of all members */
	u32 promised; /* as it joins, and to all who join within a round trip */
	u32 joining;
	u64 rate;   /* of the path, bytes a second; 0: not known */
	u32 base_us; /* lowest round trip of all; 0: not known */
	bool is_in_slow_start;
	bool is_proven; /* the window, not remembered alone */
};

/* Under the lock. */
static inline struct grant grant_of(const struct session *s, u32 share)
{
	return (struct grant){
		.share = share,
		.spread = share,
		.window = s->window,
		.rate = s->rate,
		.base_us = s->base_us,
		.is_in_slow_start = is_in_slow_start(s),
		.is_proven = !s->unproven,
	};
}

/* So much may leave at once. */
static inline bool is_burst(const struct tcp_sock *tp)
{
	u32 in_flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;

	return tp->snd_cwnd > in_flight + UNPACED_SEGMENTS;
}

/* What its ACKs let go is not spaced: what is comes in as it left, and tells nothing of the
 * path. In recovery a timer may find much lost at once. An application's own rate holds always. */
static inline void pace_bursts(struct sock *sk, bool may_be_spaced)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;

	if (unlikely((may_be_spaced && is_burst(tp)) || is_recovering(tp) ||
		     sk->sk_max_pacing_rate != ~0UL))
		keep_paced(sk);
	else
		leave_unpaced(sk);
}

/* Over a round trip; once the window is proven four windows in one while slow start lasts (3.33
 * times the pace of 1.2), twice of what it needs: the second flight of 30 kB would end a tenth
 * of a round trip later at three. Where the path is known to be faster than that, at its part of
 * the path's rate. Not static: the verifier goes through it once. */
__noinline u64 burst_rate(u64 even, u64 path, u32 spread, u32 window, bool is_hurried)
{
	u64 rate = is_hurried ? even * 3 + (even * 85 >> 8) : even;
	u64 known = path ? first_rate(even, path, spread, window) : 0;

	return known > rate ? known : rate;
}

static inline void pace_share(struct sock *sk, const struct belonging *b, const struct grant *grant)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 rtt_us = tp->srtt_us ? tp->srtt_us >> 3 : grant->base_us;
	u64 even = pacing_rate(grant->spread, tp->mss_cache, rtt_us);
	u64 rate = b->warm_rate;

	if (!rate)
		rate = burst_rate(even, grant->rate, grant->spread, grant->window,
				  grant->is_in_slow_start && grant->is_proven);
	if (rate)
		sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
	pace_bursts(sk, !grant->is_proven || !rtt_us || rtt_us >= MIN_PACED_RTT_US);
}

/* What it may have outstanding, after a timeout of its own less. */
static inline void take_share(struct sock *sk, struct belonging *b, const struct grant *grant)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 share = grant->share;

	tp->snd_ssthresh = grant->is_in_slow_start ? TCP_INFINITE_SSTHRESH : share;
	if (b->member.limit && b->member.limit < share)
		share = b->member.limit;
	else
		b->member.limit = 0;
	/* Nothing tells how to pace it: what a connection begins with anyway. */
	if (unlikely(!tp->srtt_us && !grant->base_us))
		share = smaller(share, INITIAL_WINDOW);
	tp->snd_cwnd = share;
}

/* The same, paced. */
static inline void take(struct sock *sk, struct belonging *b, const struct grant *grant)
{
	take_share(sk, b, grant);
	pace_share(sk, b, grant);
}

#endif
