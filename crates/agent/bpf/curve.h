/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Crate `arith`, module `cubic`, in C: the same results to the last bit for windows below 2^20
 * segments, as tests/twins/curve.rs checks. The crate documents the computation. It uses 64 bits:
 * programs have no wider integers. */
#ifndef HEADSTART_CURVE_H
#define HEADSTART_CURVE_H

#define CURVE_BETA 717ULL
#define CURVE_SCALE 1024ULL
#define CURVE_C 410ULL
#define CURVE_SHIFT 40
#define CURVE_CUBE_FACTOR ((1ULL << CURVE_SHIFT) / CURVE_C)
#define CURVE_RENO_ACKS_8 (8 * (CURVE_SCALE + CURVE_BETA) / 3 / (CURVE_SCALE - CURVE_BETA))
#define CURVE_REFRESH_MS (1000 / 32)
#define CURVE_SLOWEST_PROBE 20
#define CURVE_FASTEST 2
/* After 256 s the curve is 6.7 million segments away from its plateau: further than any window. */
#define CURVE_FARTHEST (1ULL << 18)

struct curve {
	u64 per;
	u64 acks;
	u64 last_window;
	u64 last_ms;
	u64 w_max;
	u64 origin;
	u64 k;
	u64 epoch_ms;
	u64 w_reno;
	bool has_epoch;
};

/* Most ACKs do not need the branches marked `unlikely`: their instructions lie behind the
 * others. */
#ifndef unlikely
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

static __always_inline u64 curve_less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* The cube root of n < 2^52, rounded down: `curve_begin` passes no more for windows below 2^20.
 * Without a branch, since the verifier would follow both sides each time. */
static __always_inline u64 cube_root(u64 n)
{
	u64 root = 0, candidate, is_larger;
	int bit;

	for (bit = 17; bit >= 0; bit--) {
		candidate = root | 1ULL << bit;
		is_larger = (n - candidate * candidate * candidate) >> 63;
		root |= (is_larger ^ 1) << bit;
	}
	return root;
}

static __always_inline void curve_begin(struct curve *c, u64 now_ms, u64 cwnd, u64 acked)
{
	c->has_epoch = true;
	c->epoch_ms = now_ms;
	c->acks = acked;
	c->w_reno = cwnd;
	c->origin = c->w_max > cwnd ? c->w_max : cwnd;
	c->k = cube_root(CURVE_CUBE_FACTOR * (c->origin - cwnd));
}

static __always_inline u64 curve_target(const struct curve *c, u64 t)
{
	u64 distance = t > c->k ? t - c->k : c->k - t;
	u64 delta;

	if (distance > CURVE_FARTHEST)
		distance = CURVE_FARTHEST;
	delta = CURVE_C * (distance * distance * distance) >> CURVE_SHIFT;
	return t < c->k ? curve_less(c->origin, delta) : c->origin + delta;
}

static __always_inline u64 curve_pace(const struct curve *c, u64 target, u64 cwnd)
{
	u64 pace = target > cwnd ? cwnd / (target - cwnd) : cwnd * 100;

	return c->w_max == 0 && pace > CURVE_SLOWEST_PROBE ? CURVE_SLOWEST_PROBE : pace;
}

static __always_inline u64 curve_reno_pace(struct curve *c, u64 cwnd)
{
	u64 acks_per_segment = cwnd * CURVE_RENO_ACKS_8 >> 3;
	u64 segments;

	if (!acks_per_segment)
		acks_per_segment = 1;
	segments = curve_less(c->acks, 1) / acks_per_segment;
	c->acks -= segments * acks_per_segment;
	c->w_reno += segments;
	return c->w_reno > cwnd ? cwnd / (c->w_reno - cwnd) : ~0ULL;
}

static __always_inline u64 curve_on_ack(struct curve *c, u64 now_ms, u64 cwnd, u64 acked,
					u64 min_rtt_ms)
{
	u64 since = curve_less(now_ms, c->last_ms), elapsed, reno;

	if (!cwnd)
		cwnd = 1;
	c->acks += acked;
	if (!unlikely(c->last_window != cwnd || since > CURVE_REFRESH_MS))
		return c->per;
	if (!c->has_epoch || since) {
		c->last_window = cwnd;
		c->last_ms = now_ms;
		if (!c->has_epoch)
			curve_begin(c, now_ms, cwnd, acked);
		elapsed = curve_less(now_ms, c->epoch_ms) + min_rtt_ms;
		c->per = curve_pace(c, curve_target(c, (elapsed << 10) / 1000), cwnd);
	}
	reno = curve_reno_pace(c, cwnd);
	if (reno < c->per)
		c->per = reno;
	if (c->per < CURVE_FASTEST)
		c->per = CURVE_FASTEST;
	return c->per;
}

/* Returns the growth of a window for `acked` segments: one segment for each `per`
 * (`arith::window::Credit`). Credit that was saved while the curve was flat, with a large `per`,
 * counts for one segment: otherwise the window would leap as soon as the curve rises. */
static __always_inline u32 credit_add(u32 *credit, u32 acked, u64 per)
{
	u32 growth = 0, more;

	if (!per)
		per = 1;
	if (unlikely(*credit >= per)) {
		*credit = 0;
		growth = 1;
	}
	*credit += acked;
	if (unlikely(*credit >= per)) {
		more = *credit / per;
		*credit -= more * per;
		growth += more;
	}
	return growth;
}

static __always_inline u64 curve_on_congestion(struct curve *c, u64 cwnd)
{
	u64 ssthresh = cwnd * CURVE_BETA / CURVE_SCALE;

	c->has_epoch = false;
	c->w_max = cwnd < c->w_max ? cwnd * (CURVE_SCALE + CURVE_BETA) / (2 * CURVE_SCALE) : cwnd;
	return ssthresh > 2 ? ssthresh : 2;
}

#endif
