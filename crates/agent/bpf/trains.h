/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Crate `arith`, module `trains`, in C: the same results to the last bit, as tests/twins/trains.rs
 * checks. The crate documents the functions. Needs u32, u64 and bool. */
#ifndef HEADSTART_TRAINS_H
#define HEADSTART_TRAINS_H

#define TRAIN_LEAST_SEGMENTS 4
#define TRAIN_MAX_GAP (1ULL << 31)

static inline u64 train_gap(u32 elapsed_us, u32 segments)
{
	u64 gap;

	if (segments < TRAIN_LEAST_SEGMENTS || elapsed_us == 0)
		return 0;
	gap = (u64)elapsed_us * 1000 / segments;
	return gap > TRAIN_MAX_GAP ? TRAIN_MAX_GAP : gap;
}

static inline bool train_held_up(u32 sent_us, u32 came_us)
{
	u64 most = (u64)sent_us + sent_us / 32;

	return came_us > (most > ~0U ? ~0U : most);
}

static inline u64 train_shorter(u64 a, u64 b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static inline bool trains_agree(u64 last, u64 gap)
{
	u64 difference = last > gap ? last - gap : gap - last;

	return last != 0 && gap != 0 && difference <= train_shorter(last, gap) / 8;
}

static inline u64 train_window(u32 rtt_us, u64 gap)
{
	u64 segments = (u64)rtt_us * 1000 / (gap ? gap : 1);

	return (segments ? segments : 1) + 3;
}

static inline u64 train_rate(u32 mss, u64 gap)
{
	return gap ? (u64)mss * 1125000000ULL / gap : 0;
}

static inline u64 train_carried(u32 mss, u64 gap)
{
	return gap ? (u64)mss * 1000000000ULL / gap : 0;
}

static inline u64 train_gap_of_rate(u32 mss, u64 rate)
{
	u64 gap = train_carried(mss, rate);

	return gap <= TRAIN_MAX_GAP ? gap : 0;
}

#endif
