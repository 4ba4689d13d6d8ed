/* SPDX-License-Identifier: GPL-2.0-only */
/* A cold start of an unknown path, wider than a stock one. The stock window is sent at once, and
 * the rest at the rate of a slow path. A short flight before it, such as a TLS flight, is a probe
 * of the path: then the first window follows its rate. There is one at a time on a path: other
 * connections that open with it are stock. */
#ifndef HEADSTART_WIDE_H
#define HEADSTART_WIDE_H

#include "opening.h"

/* Times of the last wide cold start of paths. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct path_key);
	__type(value, u64);
} widened SEC(".maps");

/* State of a wide cold start. */
enum wide { WIDE_NOT, WIDE_SENT, WIDE_COMES_IN, WIDE_ENDS } __attribute__((packed));

/* True if transfers were too short to show how much the path carries. The remembered window is
 * small, but neither did slow start end nor did a warm start fail. */
static inline bool has_shown_no_width(const struct path_key *of)
{
	struct path_key key = *of;
	struct path *path = find_path(&key);

	return path && !path->ssthresh && !path->fallbacks_in_row;
}

/* True if nothing speaks against the path: no contradicting round trip, no loss in the handshake,
 * and no window that is known to be as small as a stock one. */
static inline bool is_of_unknown_path(const struct connection *c)
{
	if (c->first)
		return false;
	if (c->start == START_SMALL)
		return has_shown_no_width(&c->path);
	return c->start == START_UNKNOWN || c->start == START_OLD;
}

/* The first within a round trip. Two that ask at the same instant may both be. */
static inline bool is_alone(const struct path_key *of, u32 rtt_us)
{
	struct path_key key = *of;
	u64 now = bpf_ktime_get_ns(), *was = bpf_map_lookup_elem(&widened, &key);

	if (was && now - *was < rtt_us * NS_PER_US)
		return false;
	return !bpf_map_update_elem(&widened, &key, &now, BPF_ANY);
}

/* It has opened, cold: the window that it would begin with, also if it is of the control group;
 * 0: a stock one. */
static inline u32 wide_window_of(const struct sock *sk, const struct connection *c)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 rtt_us = tp->srtt_us >> 3;
	u32 window = wide_cold_window(rtt_us, tp->mss_cache);

	window = window < tp->snd_cwnd_clamp ? window : tp->snd_cwnd_clamp;
	if (!(settings.flags & WIDE_COLD) || c->history & IS_OUTSIDE || window <= tp->snd_cwnd ||
	    !is_of_unknown_path(c))
		return 0;
	/* A connection that is paced already would not be sent faster. */
	if (sk->sk_pacing_status == SK_PACING_NEEDED || !is_alone(&c->network, rtt_us))
		return 0;
	return window;
}

/* Whether the random choice allows it. As with a remembered window, it is compared with the control
 * group. Harm stops it, together with connections that remember as large a window. */
static inline bool may_be_wide(struct connection *c, u32 window)
{
	enum start why;

	c->recalled = window;
	why = compare(c);
	c->recalled = 0;
	return why == START_SHARED;
}

/* Widens a cold start. Returns the rate of the excess over a stock window, bytes a second; 0: there
 * is none. */
static inline u64 widen_cold(struct sock *sk, struct connection *c)
{
	u32 window = wide_window_of(sk, c);

	if (!window || !may_be_wide(c, window))
		return 0;
	keep_paced(sk);
	((struct tcp_sock *)sk)->snd_cwnd = c->began_with = window;
	return c->wide_rate = WIDE_COLD_RATE;
}

/* Segments of the stock window, which left as a burst, whose gaps are looked at: of ten one or two
 * come with the first ACK. */
#define WIDE_LOOKS_AT 8

/* Part, in quarters, of a wide flight's pacing rate below which the path is slower than assumed. */
#define MIN_QUARTERS 3

/* Widens the next flight as short flights before have shown the path. Returns its rate, bytes a
 * second; 0: they have shown nothing. */
static inline u64 widen_by_probe(struct tcp_sock *tp, struct connection *c)
{
	u64 rate = c->probe.rate;
	u32 window;

	c->probe.has_ack = false;
	if (!rate)
		return 0;
	window = probed_window(rate, tp->rtt_min.s[0].v, tp->mss_cache, c->cold);
	tp->snd_cwnd = window < tp->snd_cwnd_clamp ? window : tp->snd_cwnd_clamp;
	return c->wide_rate = rate;
}

/* Segments of a wide window are acknowledged. The burst shows whether the path is
 * as fast as that, and replaces what short flights have shown. If it is not, slow start ends at the
 * window that fills the path: the rest of the first window is in its queue, and would be
 * doubled. */
static inline enum wide wide_ack(struct tcp_sock *tp, struct connection *c, enum wide at)
{
	struct arrived *first = &c->first_ack;
	u32 cold = c->cold, rtt_us = (u32)tp->tcp_mstamp - (u32)tp->first_tx_mstamp;
	u32 count = tp->delivered - first->delivered, elapsed_us = (u32)tp->tcp_mstamp - first->us;
	u64 gap, window, carried;

	/* A short flight, as of a TLS server, shows nothing: the round trip behind it is no gap. */
	if (at == WIDE_SENT && tp->packets_out < WIDE_LOOKS_AT)
		return WIDE_SENT;
	/* The ACK before it was delayed, as of that short flight: its round trip was longer by as
	 * much as a queue makes it. On a path that holds up a flight, round trips grow. */
	if (at == WIDE_SENT ||
	    (has_queue(c->first_rtt_us, rtt_us) && tp->packets_out >= WIDE_LOOKS_AT)) {
		first->us = tp->tcp_mstamp;
		first->delivered = tp->delivered;
		c->first_rtt_us = rtt_us;
		return WIDE_COMES_IN;
	}
	if (count < WIDE_LOOKS_AT)
		return count + tp->packets_out < WIDE_LOOKS_AT ? WIDE_SENT : WIDE_COMES_IN;
	gap = train_gap(elapsed_us, count);
	if (!gap)
		return WIDE_ENDS;
	carried = c->probe.rate = train_carried(tp->mss_cache, gap);
	if (carried >= c->wide_rate / 4 * MIN_QUARTERS)
		return WIDE_ENDS;
	window = train_window(tp->rtt_min.s[0].v, gap);
	window = window > cold ? window : cold;
	tp->snd_ssthresh = window;
	if (tp->snd_cwnd > window)
		tp->snd_cwnd = window;
	return WIDE_ENDS;
}

#endif
