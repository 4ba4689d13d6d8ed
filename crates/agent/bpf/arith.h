/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Crate `arith`, module `reuse`, in C: the same names and the same results to the last bit, as
 * tests/twins/reuse.rs checks. The crate documents the functions. Needs u32, u64 and bool. */
#ifndef HEADSTART_ARITH_H
#define HEADSTART_ARITH_H

/* Bytes a second: 10 Mbit/s. */
#define WIDE_COLD_RATE 1250000ULL
/* Segments. */
#define MAX_PROBED 64

static inline u64 part_of_1024(u64 part, u64 whole)
{
	return part <= ~0ULL / 1024 ? part * 1024 / whole : part / (whole / 1024);
}

static inline u64 decayed(u64 value, u64 elapsed, u64 half_life)
{
	u64 halvings, halved, half, part;

	if (elapsed == 0)
		return value;
	if (half_life == 0)
		return 0;
	halvings = elapsed / half_life;
	if (halvings >= 64)
		return 0;
	halved = value >> halvings;
	part = part_of_1024(elapsed % half_life, half_life);
	half = halved / 2;
	return halved - (half / 1024 * part + half % 1024 * part / 1024);
}

static inline u64 half_life_ns(u32 srtt_us, u32 round_trips)
{
	u64 round = srtt_us * 1000ULL;
	u64 high = (round >> 32) * round_trips + ((u32)round * (u64)round_trips >> 32);

	return high >> 32 ? ~0ULL : round * round_trips;
}

static inline u64 first_window(u64 remembered, u64 cold, u64 cap)
{
	u64 capped = remembered < cap ? remembered : cap;

	return capped > cold ? capped : cold;
}

static inline u64 unexpired_part(u64 reserved, u64 elapsed, u64 round)
{
	u64 part;

	if (elapsed >= round)
		return 0;
	part = part_of_1024(elapsed, round);
	return reserved - (reserved / 1024 * part + reserved % 1024 * part / 1024);
}

static inline bool same_round_trip(u32 now, u32 remembered)
{
	return now != 0 && remembered != 0 && (u64)now * 2 >= remembered &&
	       now <= (u64)remembered * 10;
}

static inline u32 wide_cold_window(u32 rtt_us, u32 mss)
{
	u64 wide = !mss ? 10 : 10 + WIDE_COLD_RATE * (u64)rtt_us / 1000000 / mss;

	return wide < 32 ? wide : 32;
}

static inline u32 handshake_wait(u32 srtt_us, u32 draw)
{
	u64 wait = (u64)srtt_us * 2 > 20000 ? (u64)srtt_us * 2 : 20000;

	wait += wait / 8 * (draw & 0xffff) >> 16;
	return !srtt_us ? 0 : wait < 1000000 ? wait : 1000000;
}

static inline u32 doublings_to_second(u32 wait_us)
{
	u32 doublings = 0;

	for (u64 wait = wait_us; wait && wait < 1000000 && doublings < 20; wait *= 2)
		doublings++;
	return doublings;
}

static inline u32 window_at_loss(u32 cwnd, bool in_slow_start)
{
	u32 window = in_slow_start ? cwnd / 2 : cwnd ? cwnd - 1 : 0;

	return window > 1 ? window : 1;
}

static inline bool has_queue(u32 srtt_us, u32 min_rtt_us)
{
	u32 delay = min_rtt_us / 8 < 1000 ? 1000 : min_rtt_us / 8;

	delay = delay > 16000 ? 16000 : delay;
	return min_rtt_us && srtt_us > (u64)min_rtt_us + delay;
}

static inline bool has_standing_queue(u32 srtt_us, u32 min_rtt_us)
{
	return srtt_us > (u64)min_rtt_us + min_rtt_us / 2;
}

static inline u32 carried_in_lowest(u32 window, u32 srtt_us, u32 min_rtt_us)
{
	return srtt_us <= min_rtt_us ? window : (u64)window * min_rtt_us / srtt_us;
}

#define LARGEST_BDP (1ULL << 20)

static inline u32 bdp(u64 rate, u32 rtt_us, u32 mss)
{
	u64 held;

	if (!rate || !mss)
		return 0;
	held = (rate / 1000 < ~0U ? rate / 1000 : ~0U) * rtt_us / 1000 / mss;
	return (held < LARGEST_BDP ? held : LARGEST_BDP) + 3;
}

static inline u64 probed_rate(u32 bytes, u32 took_us, u32 mss)
{
	return bytes < mss || !took_us ? 0 : bytes * 1000000ULL / took_us;
}

static inline u32 probed_window(u64 rate, u32 rtt_us, u32 mss, u32 cold)
{
	u32 full = bdp(rate, rtt_us, mss), wide = full < MAX_PROBED ? full : MAX_PROBED;

	return wide > cold ? wide : cold;
}

static inline bool is_slower(u32 window, u64 gap, u32 srtt_us, u32 min_rtt_us)
{
	u64 longest = (gap < ~0U ? gap : ~0U) * window / 500;

	return gap && srtt_us > longest + min_rtt_us;
}

static inline u64 rate_of(u32 window, u32 mss, u32 rtt_us)
{
	u64 bytes = (u64)window * mss;

	if (!rtt_us)
		return 0;
	return (bytes > ~0ULL / 1000000 ? ~0ULL : bytes * 1000000) / rtt_us;
}

static inline bool may_double(u32 srtt_us, u32 min_rtt_us)
{
	return srtt_us <= (u64)min_rtt_us + min_rtt_us / 4;
}

#define MAX_WIDER 4

static inline u32 reach(u32 window, u32 bdp)
{
	u64 most = (u64)window * MAX_WIDER, wide = bdp < most ? bdp : most;

	return wide > window ? wide : window;
}

static inline u32 without_queue(u32 window, u32 bdp, u32 srtt_us, u32 min_rtt_us)
{
	u32 carried = carried_in_lowest(window, srtt_us, min_rtt_us);
	u32 most = bdp > carried ? bdp : carried;

	if (!bdp && !has_queue(srtt_us, min_rtt_us))
		return window;
	return window < most ? window : most;
}

static inline u32 proven(u32 cwnd, bool in_slow_start, u32 flight, u32 first, u32 delivered)
{
	u32 most = in_slow_start && cwnd < ~0U ? cwnd + 1 : cwnd, arrived, used;

	if (first == 0) {
		arrived = flight > ~0U / 2 ? ~0U : flight * 2 + 1;
	} else {
		used = delivered < first ? delivered : first;
		arrived = used > flight ? used : flight;
	}
	return arrived < most ? arrived : most;
}

static inline u64 pacing_rate(u32 window, u32 mss, u32 rtt_us)
{
	u64 bytes = (u64)window * mss;

	if (rtt_us == 0)
		return 0;
	return (bytes > ~0ULL / 1200000 ? ~0ULL : bytes * 1200000) / rtt_us;
}

#define INITIAL_WINDOW 10

static inline u32 part_beside(u32 window, u32 taken, u32 own, u32 among)
{
	u64 at_once = own, beside;

	if (among > 1) {
		at_once += (u64)INITIAL_WINDOW * (among - 1);
		if (10 * at_once > 7ULL * window)
			return 0;
	}
	beside = at_once + taken;
	return window > beside ? (window - beside) / (among ? among : 1) : 0;
}

static inline u64 all_of(u32 taken, u32 first, u32 among)
{
	return taken + (u64)first * (among ? among : 1);
}

static inline u64 part_of_rate(u64 rate, u32 taken, u32 first, u32 among)
{
	u64 all = all_of(taken, first, among), kilo = rate / 1000;

	if (!all)
		return 0;
	if (all == first)
		return rate;
	return (kilo < ~0U ? kilo : ~0U) * first / all * 1000;
}

static inline u32 part_of_full(u32 full, u32 first, u32 sharers)
{
	u64 part = full / sharers;
	u64 half_more = part + part / 2;
	u32 end = half_more < full ? half_more : full;

	return end > first ? end : first;
}

#define MAX_FASTER 16

static inline u64 first_rate(u64 even, u64 carried, u32 window, u32 remembered)
{
	u64 part = window < remembered ? carried / remembered * window : carried;
	u64 most = even > ~0ULL / MAX_FASTER ? ~0ULL : even * MAX_FASTER;
	u64 faster = part < most ? part : most;
	u64 least = carried ? even / 6 * 5 : even;

	return faster > least ? faster : least;
}

#endif
