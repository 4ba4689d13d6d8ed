/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection opens: cold, or as wide as the memory allows and chance has it, and then paced.
 * Later starts of one that is open go the same way (starts.h). */
#ifndef HEADSTART_OPENING_H
#define HEADSTART_OPENING_H

#include "decision.h"
#include "inquiry.h"

/* Chooses the pacing rate of a first flight of `window`, with a largest window of `cap` segments,
 * and notes the application's own rate. False if the flight is not to be sent. */
static inline bool choose_rate(const struct sock *sk, struct connection *c, const struct path *path,
			       u32 window, u32 cap)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 now_us = tp->srtt_us >> 3, then_us = path->srtt_us;
	u64 even = pacing_rate(window, tp->mss_cache, now_us > then_us ? now_us : then_us);
	u32 reached = reached_window(path, tp->mss_cache);
	u64 rate = first_rate(even, path->rate, window, reached < cap ? reached : cap);
	u64 own = sk->sk_max_pacing_rate;

	/* Slower than a cold start, as a peer of the same prefix can make it who answers late:
	 * then a cold start. */
	if (even < pacing_rate(c->cold, tp->mss_cache, now_us))
		return false;
	/* SO_MAX_PACING_RATE has 32 bits: a larger rate of the application could not be
	 * restored. */
	if (!even || even >= ~0U || !own || (own != ~0UL && own >= ~0U))
		return false;
	rate = rate < ~0U ? rate : ~0U - 1;
	c->own_rate = own;
	c->warm_rate = rate < c->own_rate ? rate : c->own_rate;
	return true;
}

/* Starts a first flight of `window` segments at the next byte to send. */
static inline void begin_first_flight(const struct tcp_sock *tp, struct connection *c, u32 window)
{
	c->first = window;
	c->delivered = tp->delivered;
	c->retransmitted = tp->total_retrans;
	c->flight_us = tp->tcp_mstamp;
	c->delivered_at_pause = 0;
	c->first_end = tp->snd_nxt + window * tp->mss_cache;
	c->phase = PHASE_FIRST_FLIGHT;
	/* After idle all is paced. */
	c->burst = tp->data_segs_out ? BURST_NONE : BURST_SENT;
}

/* Starts with the remembered window, if it can be paced. */
static inline void begin_warm(struct sock *sk, struct connection *c, const struct offer *o)
{
	const struct path *path = o->path;
	u32 window = o->window, end;
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	bool was_unpaced = sk->sk_pacing_status == SK_PACING_NONE;

	if (!choose_rate(sk, c, path, window, o->cap) || !pace(sk, c->warm_rate)) {
		c->start = START_PACING;
		return;
	}
	c->is_paced = (c->is_paced || was_unpaced) && c->own_rate == ~0U;
	begin_first_flight(tp, c, window);
	/* The segments of others spread its burst: no rate of the path follows. */
	if (has_company(o))
		c->burst = BURST_NONE;
	assume_rate(&c->measure, tp->mss_cache, offered_rate(o));
	tp->snd_cwnd = window;
	/* The kernel sets CUBIC's rate at every ACK; only BBR sets BBR's. */
	sk->sk_pacing_rate = c->warm_rate;
	end = slow_start_end(o, tp->mss_cache);
	if (end)
		tp->snd_ssthresh = end;
}

/* True if the draw lets it use the memory: it is neither in the control group nor outside of the
 * canary. */
static inline bool is_chosen(const struct connection *c)
{
	return !(c->history & (IS_CONTROL_GROUP | IS_OUTSIDE));
}

/* Its window is ours to choose. */
static inline bool may_choose_window(const struct connection *c)
{
	return is_chosen(c) && !is_stopped(&c->network, c->recalled);
}

/* Reason why a connection with a remembered window starts cold; START_SHARED if there is none
 * yet. */
static inline enum start reason_to_stay_cold(const struct connection *c)
{
	if (is_stopped(&c->network, c->recalled))
		return START_STOPPED;
	if (c->history & IS_OUTSIDE)
		return START_OUTSIDE;
	return c->history & IS_CONTROL_GROUP ? START_CONTROL_GROUP : START_SHARED;
}

/* Marks the connection as compared, since the memory has a window for it, unless the draw has no
 * influence on it. Returns how it starts. */
static inline enum start compare(struct connection *c)
{
	enum start why = reason_to_stay_cold(c);

	c->remembered = c->recalled;
	c->past_classes = past_of(&c->network);
	if (why != START_STOPPED && why != START_OUTSIDE)
		c->history |= IS_COMPARED;
	return why;
}

/* Looks up its window in memory. Returns the reason if there is none. */
static inline enum start look_up(const struct tcp_sock *tp, struct connection *c, u32 cap)
{
	u32 window = recall(&c->path, tp->srtt_us >> 3, tp->snd_cwnd, tp->mss_cache, cap);

	c->recalled = window & COLD_FOR ? 0 : window;
	return window & ~COLD_FOR;
}

/* Looks up the memory when the connection opens, and keeps the first reason for a cold start. A
 * start that fails later replaces the reason. */
static inline void look_up_first(const struct tcp_sock *tp, struct connection *c, u32 cap)
{
	c->start = START_HANDSHAKE;
	if (tp->total_retrans || tp->data_segs_out)
		return;
	c->start = look_up(tp, c, cap);
	if (c->recalled)
		c->start = compare(c);
}

/* Looks up the memory at a later start; returns the reason if it starts cold. A connection that was
 * not compared when it opened is not compared now either. Whether it gets here, and with which
 * memory, depends on its own cold start, which differs in the control group. */
static inline enum start look_up_again(const struct tcp_sock *tp, struct connection *c, u32 cap)
{
	enum start why = look_up(tp, c, cap);

	return c->recalled ? reason_to_stay_cold(c) : why;
}

/* Starts with the window that the memory allows one of `among` connections, unless the connection
 * is to be left alone; a cold start keeps the present window. Returns the window by the memory; 0:
 * none. */
static inline u32 begin_as_remembered(struct sock *sk, struct connection *c, u32 cap, u32 among,
				      u32 least)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct offer o = {.cold = tp->snd_cwnd, .cap = cap, .among = among, .least = least};
	bool has_reserved = reserve_window(tp, &c->path, &o, is_chosen(c));

	c->cold = o.cold;
	if (has_reserved && may_choose_window(c))
		begin_warm(sk, c, &o);
	return o.window;
}

/* A connection is open; NULL if it is to be left alone. */
static inline struct connection *open_connection(struct sock *sk, struct destination *to)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *c;

	if (!destination_of(sk, to) || !to->cap)
		return NULL;
	c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!c)
		return NULL;
	c->network = to->path;
	c->line = to->line;
	key_in_use(to, &c->path);
	c->began_ns = bpf_ktime_get_ns();
	c->first_end = tp->snd_nxt + tp->snd_cwnd * tp->mss_cache;
	c->handshake_us = tp->srtt_us >> 3;
	c->stage = settings.stage;
	if (is_outside_lot(lot_of(sk)))
		c->history |= IS_OUTSIDE;
	else if (is_of_control_group(tp))
		c->history |= IS_CONTROL_GROUP;
	look_up_first(tp, c, to->cap);
	/* Asks now if the connection had no handshake event; otherwise it was asked for lately. */
	if (c->start == START_UNKNOWN || c->start == START_OLD)
		inquire(&c->network, INQUIRY_OPEN);
	return c;
}

/* Starts a connection without a session, which has sent nothing yet. NULL if it is to be left
 * alone. */
static inline struct connection *begin(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct destination to = {};
	struct connection *c = open_connection(sk, &to);
	u32 among;

	if (!c)
		return NULL;
	among = finish_handshake(&c->path);
	/* A handshake that lost something speaks against the memory. */
	if (!tp->total_retrans && !tp->data_segs_out)
		c->proposed = begin_as_remembered(sk, c, to.cap, among, 0);
	c->began_with = tp->snd_cwnd;
	if (c->first)
		c->history |= HAS_STARTED_WARM;
	report_start(tp, c, TRIGGER_OPENING, c->start);
	return c;
}

#endif
