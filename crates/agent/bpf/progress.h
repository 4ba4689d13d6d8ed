/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection goes on: its warm start ends as segments arrive, or as one is lost, and the memory
 * learns. */
#ifndef HEADSTART_PROGRESS_H
#define HEADSTART_PROGRESS_H

#include "connection.h"

/* Something is lost. */
static inline void note_loss(const struct tcp_sock *tp, struct connection *c)
{
	c->has_lost = true;
	if (!c->restarts && tp->bytes_acked < ABOVE_ANY_WINDOW && before(tp->snd_una, c->first_end))
		c->history |= HAS_LOST_FIRST;
}

static inline void end_mark(struct sock *sk, struct connection *c)
{
	if (c->mark)
		unmark(sk, c->mark);
	c->mark = 0;
}

/* The first flight is over: as fast as the application allows again. `next` is the phase after
 * it. */
static inline void end_first_flight(struct sock *sk, struct connection *c, enum phase next)
{
	end_mark(sk, c);
	c->phase = next;
	if (sk->sk_max_pacing_rate == c->warm_rate)
		pace(sk, c->own_rate);
}

/* Whether ACKs, and sends after a pause, need the agent. Otherwise it is a stock connection. */
static inline bool is_special(const struct connection *c)
{
	return c->mark || in_first_flight(c) || c->phase == PHASE_IDLE || c->is_paced ||
	       c->search.is_on || c->is_measured || c->is_doubted;
}

/* Its first flight, of which nothing has been sent. */
static inline bool is_about_to_begin(const struct tcp_sock *tp, const struct connection *c)
{
	return in_first_flight(c) && tp->snd_nxt + c->first * tp->mss_cache == c->first_end;
}

/* Segments that fill the path at the rate that this connection has measured, or that is remembered;
 * 0: neither is known. */
static inline u32 bdp_of(const struct tcp_sock *tp, const struct connection *c)
{
	return c->measure.best ? train_window(tp->rtt_min.s[0].v, c->measure.best) : 0;
}

/* The slow-start threshold that the connection has shown; 0 if it has lost a segment, or if no
 * queue shows that the threshold is the path's. */
static inline u32 shown_ssthresh(const struct tcp_sock *tp, const struct connection *c)
{
	bool is_shown = tp->snd_ssthresh < TCP_INFINITE_SSTHRESH && !c->has_lost &&
			shows_queue(tp->srtt_us >> 3, tp->rtt_min.s[0].v);

	return is_shown ? tp->snd_ssthresh : 0;
}

/* The rate for the memory, bytes a second: of two trains that agree or, if there are none, of the
 * probe of a cold start; 0: neither is known. */
static inline u64 remembered_rate(const struct tcp_sock *tp, const struct connection *c)
{
	u64 rate = measured_rate(tp, &c->measure);

	return rate ? rate : c->probe.rate;
}

static inline void take_sample(const struct tcp_sock *tp, const struct connection *c,
			       struct path_sample *sample)
{
	sample->at_ns = tp->delivered_mstamp * NS_PER_US;
	sample->srtt_us = tp->srtt_us >> 3;
	sample->min_rtt_us = tp->rtt_min.s[0].v;
	sample->ssthresh = shown_ssthresh(tp, c);
	sample->rate = remembered_rate(tp, c);
	sample->bdp = measured_rate(tp, &c->measure) ? bdp_of(tp, c) : 0;
}

static inline void update_memory(struct connection *c, const struct path_sample *sample,
				 bool is_measured)
{
	if (!update_path(&c->line, &c->network, sample, is_measured))
		return;
	c->learnt = sample->window;
	if (is_measured)
		c->history |= HAS_MEASURED;
	else
		c->history &= ~HAS_MEASURED;
}

/* Whether a loss of a connection in congestion avoidance measures the rate: it is not known (`full`
 * is 0), or too high. Not static: see reach_at_rate. */
__noinline u32 measures_rate(u32 carried, u32 full, u32 srtt_us, u32 min_rtt_us)
{
	return has_standing_queue(srtt_us, min_rtt_us) && (!full || carried < full / 4 * 3);
}

/* Segments that a connection, or all members of a session, have shown without a loss. */
struct proof {
	u32 cwnd;
	bool in_slow_start;
	u32 flight;    /* most segments outstanding at a time and all delivered */
	u32 first;     /* remembered window that it began with; 0: it began cold */
	u32 delivered; /* of that flight */
};

/* The window that is remembered of it: not what waited in a queue, and not twice a flight that
 * did. */
static inline u32 proven_window(const struct tcp_sock *tp, const struct connection *c,
				const struct proof *of)
{
	u32 srtt_us = tp->srtt_us >> 3, min_rtt_us = tp->rtt_min.s[0].v, window;

	if (of->first || may_double(srtt_us, min_rtt_us))
		window = proven(of->cwnd, of->in_slow_start, of->flight, of->first,
				of->delivered);
	else
		window = of->flight < of->cwnd ? of->flight : of->cwnd;
	return queueless(window, bdp_of(tp, c), srtt_us, min_rtt_us);
}

/* True if it failed in its first flight, which has found the path full. */
static inline bool has_failed_as_it_opened(const struct connection *c)
{
	return c->history & HAS_FALLEN_BACK && !(c->history & HAS_MEASURED) && !c->restarts;
}

/* The path is not the one remembered. */
static inline void fail_memory(struct connection *c, bool is_slower)
{
	c->history |= HAS_FALLEN_BACK;
	fail_path(&c->path, &c->line, &c->network, is_slower);
}

/* A first flight that has lost more segments than these two, and one in thirty-two, has not lost
 * them by chance. */
#define RANDOM_LOSSES 2
#define RANDOM_SHARE 32

/* A first flight that seemed to have lost something by chance is over. */
static inline void judge_doubted(const struct tcp_sock *tp, struct connection *c)
{
	u32 lost = tp->total_retrans - c->retransmitted;
	u32 delivered = tp->delivered - c->delivered;
	u32 flight = c->first < delivered ? c->first : delivered;

	if (!c->is_doubted)
		return;
	c->is_doubted = false;
	if (lost > RANDOM_LOSSES + flight / RANDOM_SHARE)
		fail_memory(c, false);
}

/* Whether the first flight has found the path full, by segments in excess of a stock connection's.
 * A loss without a queue is random. */
static inline bool has_failed(const struct tcp_sock *tp, const struct connection *c)
{
	u32 beyond = c->first > c->cold ? c->first - c->cold : 0;
	bool is_stock = before(tp->snd_una, c->first_end - beyond * tp->mss_cache);

	return !is_stock && shows_queue(tp->srtt_us >> 3, tp->rtt_min.s[0].v);
}

/* Whether round trips contradict the known rate of the path or, if there is none, the pacing rate
 * of the first flight. */
static inline bool contradicts_rate(const struct tcp_sock *tp, const struct connection *c)
{
	u64 gap = c->measure.best;

	if (!gap && in_first_flight(c))
		gap = train_gap_of_rate(tp->mss_cache, c->warm_rate);
	return contradicts(larger(tp->snd_cwnd, c->first), gap, tp->srtt_us >> 3,
			 tp->rtt_min.s[0].v);
}

/* The window that a loss took, or is about to. */
struct loss {
	u32 cwnd;
	bool in_slow_start;
};

/* A loss that no first flight had measures the path if it shows that the path was full; otherwise
 * the window that is left is a lower bound. If the rate is not known, or round trips contradict it,
 * the acknowledged rate is the path's: in congestion avoidance its queue never runs empty then. */
static inline void learn_loss(const struct tcp_sock *tp, struct connection *c,
			      const struct loss *loss)
{
	u32 srtt_us = tp->srtt_us >> 3, min_rtt_us = tp->rtt_min.s[0].v, full = bdp_of(tp, c);
	u32 left = window_at_loss(loss->cwnd, loss->in_slow_start);
	u32 carried = carried_at(left, srtt_us, min_rtt_us);
	bool is_full = shows_queue(srtt_us, min_rtt_us) || (full && loss->cwnd > full);
	bool is_below = !loss->in_slow_start &&
			measures_rate(carried, full, srtt_us, min_rtt_us);
	struct path_sample sample = {};

	take_sample(tp, c, &sample);
	sample.ssthresh = END_UNKNOWN;
	if (is_below || contradicts_rate(tp, c)) {
		sample.rate = rate_of(carried, tp->mss_cache, min_rtt_us);
		assume_rate(&c->measure, tp->mss_cache, sample.rate);
	} else {
		carried = queueless(left, full, srtt_us, min_rtt_us);
	}
	sample.window = carried;
	update_memory(c, &sample, is_full);
}

/* The window to go on with: half of the flight, but what fills the path at a rate that nothing
 * contradicts. */
static inline u32 fall_back(struct sock *sk, struct connection *c)
{
	bool is_slower = contradicts_rate((struct tcp_sock *)sk, c);
	u32 full = is_slower ? 0 : bdp_of((struct tcp_sock *)sk, c);

	fail_memory(c, is_slower);
	end_first_flight(sk, c, PHASE_STOCK);
	return larger(larger(c->first / 2, c->cold), full);
}

/* Ends a first flight whose loss seems to be random. The loss is judged when the whole flight is
 * acknowledged. */
static inline void doubt_flight(struct sock *sk, struct connection *c)
{
	end_first_flight(sk, c, PHASE_STOCK);
	c->is_doubted = true;
}

/* Handles a loss or a mark. The congestion control lowers the window to `ssthresh`, or further. */
static inline u32 on_loss(struct sock *sk, struct connection *c, u32 ssthresh)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct loss loss = {.cwnd = tp->snd_cwnd, .in_slow_start = in_slow_start(tp)};
	u32 half;

	note_loss(tp, c);
	if (!in_first_flight(c)) {
		learn_loss(tp, c, &loss);
		return ssthresh;
	}
	if (!has_failed(tp, c)) {
		doubt_flight(sk, c);
		return ssthresh;
	}
	half = fall_back(sk, c);
	return half < ssthresh ? half : ssthresh;
}

/* Handles an ACK while no segment is missing. */
static inline void on_progress(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	end_mark(sk, c);
	/* Later small sends do not prove the rest of the flight. */
	if (!c->delivered_at_pause && in_first_flight(c) && !tp->packets_out &&
	    !is_about_to_begin(tp, c))
		c->delivered_at_pause = tp->delivered - c->delivered;
	if (!before(tp->snd_una, c->first_end))
		judge_doubted(tp, c);
	if (in_first_flight(c) && !before(tp->snd_una, c->first_end))
		end_first_flight(sk, c, c->phase == PHASE_NARROWED_FLIGHT ? PHASE_NARROWED :
									    PHASE_STOCK);
	/* Paced as long as slow start lasts: HyStart would take what pacing spreads for a full
	 * pipe. */
	if (c->is_paced && !in_first_flight(c) && !in_slow_start(tp)) {
		c->is_paced = false;
		leave_unpaced(sk);
	}
}

/* Ends a first flight, before a loss, if round trips contradict its pacing rate. Returns the window
 * that the path carries; 0: the flight goes on. */
static inline u32 end_if_contradicted(struct sock *sk, struct connection *c)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 carried;

	if (!in_first_flight(c) || !contradicts_rate(tp, c))
		return 0;
	fail_memory(c, true);
	end_first_flight(sk, c, PHASE_STOCK);
	carried = carried_at(tp->snd_cwnd, tp->srtt_us >> 3, tp->rtt_min.s[0].v);
	return carried > c->cold ? carried : c->cold;
}

#endif
