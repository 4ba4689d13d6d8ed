/* SPDX-License-Identifier: GPL-2.0-only */
/* Later starts of a connection, and a first start that is late. A start is later after idle, late
 * if it follows the opening by far, and may depend on the application's size hint. Congestion
 * controls that wrap one of the kernel's call these when they send with nothing outstanding. */
#ifndef HEADSTART_STARTS_H
#define HEADSTART_STARTS_H

#include "ending.h"
#include "opening.h"

#define MIN_RTO_US 200000 /* TCP_RTO_MIN */

/* It has been idle, and the kernel takes its window back, for each buffer until something is
 * sent. */
static inline void on_idle(struct sock *sk, struct connection *c, const struct flights *f)
{
	struct path_sample sample = {};

	if (in_first_flight(c))
		end_first_flight(sk, c, PHASE_STOCK);
	if (c->phase != PHASE_IDLE) {
		take_proven_sample((struct tcp_sock *)sk, c, f, &sample);
		update_memory(c, &sample, false);
	}
	c->phase = PHASE_IDLE;
}

/* A start like the first one, from a memory that has aged since, and only if no start of this
 * connection has failed. */
static inline void restart(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct destination to = {};
	bool was_idle = c->phase == PHASE_IDLE;
	enum start why;

	/* The transfer that narrowed it may have been shorter than a stock start. */
	if (in_first_flight(c))
		end_first_flight(sk, c, PHASE_STOCK);
	c->phase = PHASE_STOCK;
	if (!destination_of(sk, &to) || !to.cap)
		return;
	key_in_use(&to, &c->path);
	if (c->history & HAS_FALLEN_BACK) {
		report_start(tp, c, was_idle ? TRIGGER_IDLE : TRIGGER_AGAIN, FELL_BACK_BEFORE);
		return;
	}
	why = look_up_again(tp, c, to.cap);
	/* A start after idle is paced from its first segment on. In two round trips a stock
	 * connection sends its window and twice as much, so less is no gain. */
	begin_as_remembered(sk, c, to.cap, count_restart(&c->path), 2 * tp->snd_cwnd);
	c->restarts += in_first_flight(c) & was_idle;
	report_start(tp, c, was_idle ? TRIGGER_IDLE : TRIGGER_AGAIN, why);
}

/* Initial window of a transfer of `segments`, within the bounds of `largest` and of a stock start.
 * The kernel's windows grow by one in a round trip of congestion avoidance whether ACKs are delayed
 * or not. Not static: so the verifier follows it once only. */
__noinline u32 window_for(u32 segments, u32 largest)
{
	return settings.flags & END_EPOCHS ? epoch_window(largest, 1, segments, true) : segments;
}

/* Narrows a first flight that is not yet sent to the transfer's size. Its pacing keeps the path's
 * rate. */
static inline void apply_size(struct sock *sk, struct connection *c, struct hints *given,
			      u64 reserved_ns)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 mss = tp->mss_cache;
	u32 segments, window;

	if (!given->size || !mss)
		return;
	segments = (given->size - 1) / mss + 1;
	given->size = 0;
	if (!is_about_to_begin(tp, c))
		return;
	window = first_window(window_for(segments, c->first), c->cold, c->first);
	release_window(&c->path, c->first - window, reserved_ns);
	c->phase = window < c->first ? PHASE_NARROWED_FLIGHT : PHASE_FIRST_FLIGHT;
	c->first = window;
	c->first_end = tp->snd_nxt + c->first * mss;
	tp->snd_cwnd = c->first;
	if (!c->restarts)
		c->began_with = c->first;
}

static inline u64 open_for_ns(const struct tcp_sock *tp, const struct connection *c)
{
	return tp->tcp_mstamp * NS_PER_US - c->began_ns;
}

/* True if the first flight that it opened with was not sent before its reservation expired: other
 * connections may use the window, and the memory has aged. Only a first start can be late; later
 * ones reserve their window when they send. */
static inline bool is_late(const struct tcp_sock *tp, const struct connection *c)
{
	struct path *path;

	if (tp->data_segs_out || !is_about_to_begin(tp, c))
		return false;
	path = find_path(&c->path);
	return !path || open_for_ns(tp, c) > path->srtt_us * NS_PER_US;
}

/* It has none of the window that it opened with, as if it had opened cold. 2.4 times 1.2 is the
 * gain with which BBR paces a start (net/ipv4/tcp_bbr.c, bbr_high_gain); of others the kernel sets
 * the rate. */
static inline void take_back_start(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	end_first_flight(sk, c, PHASE_STOCK);
	if (c->is_paced)
		leave_unpaced(sk);
	c->is_paced = false;
	c->history &= ~HAS_STARTED_WARM;
	c->first = c->measure.best = 0;
	tp->snd_cwnd = c->cold;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	sk->sk_pacing_rate = pacing_rate(c->cold * 12 / 5, tp->mss_cache, tp->srtt_us >> 3);
}

/* Starts a late connection when it sends, by the memory at that time. */
static inline void start_late(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct destination to = {};
	enum start why;

	take_back_start(sk, c);
	if (destination_of(sk, &to) && to.cap) {
		key_in_use(&to, &c->path);
		why = look_up(tp, c, to.cap);
		c->start = c->recalled ? START_SHARED : why;
		begin_as_remembered(sk, c, to.cap, count_restart(&c->path), 0);
	}
	c->began_with = tp->snd_cwnd;
	if (in_first_flight(c))
		c->history |= HAS_STARTED_WARM;
	report_start(tp, c, TRIGGER_LATE, c->start);
}

/* True if its first flight stalled: the segments sent so far were acknowledged longer ago than the
 * minimum timeout. The kernel resets its window then, unless tcp_slow_start_after_idle is off or
 * BBR sends. */
static inline bool has_stalled(const struct tcp_sock *tp, const struct connection *c)
{
	return in_first_flight(c) && !is_about_to_begin(tp, c) &&
	       tp->tcp_mstamp - tp->delivered_mstamp > (tp->srtt_us >> 3) + MIN_RTO_US;
}

/* Ends a first flight that has stalled. The unsent rest is not proven: the connection restarts as
 * after idle, with at most the segments delivered before. */
static inline void end_stalled_flight(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 arrived = tp->delivered - c->delivered;
	u32 window = arrived > c->cold ? arrived : c->cold;

	end_first_flight(sk, c, PHASE_IDLE);
	if (window < tp->snd_cwnd)
		tp->snd_cwnd = window;
}

/* Handles a start: it sends with nothing outstanding. A retransmission after a timeout is no
 * start. */
static inline void on_start(struct sock *sk, struct connection *c)
{
	struct hints *given = sizes_set ? bpf_sk_storage_get(&hints, sk, 0, 0) : NULL;
	u64 reserved_ns = 0;

	if (is_recovering((struct tcp_sock *)sk))
		return;
	if (has_stalled((struct tcp_sock *)sk, c))
		end_stalled_flight(sk, c);
	if (is_late((struct tcp_sock *)sk, c))
		start_late(sk, c);
	else if (c->phase >= PHASE_NARROWED_FLIGHT)
		restart(sk, c);
	else
		reserved_ns = open_for_ns((struct tcp_sock *)sk, c);
	if (given)
		apply_size(sk, c, given, reserved_ns);
	if (is_about_to_begin((struct tcp_sock *)sk, c))
		c->mark = mark(sk);
}

#endif
