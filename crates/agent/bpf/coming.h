/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Crate `arith`, module `coming`, in C: the same results to the last bit, as
 * tests/twins/handshakes.rs checks. The crate documents the functions. Needs u32 and u64. */
#ifndef HEADSTART_COMING_H
#define HEADSTART_COMING_H

#define COMING_MOST 0xffffULL
#define COMING_LONGEST (1ULL << 44)

static inline u32 coming_span(u64 now, u64 round)
{
	u64 least = round > ~0ULL / 2 ? ~0ULL : round * 2, ones = least ? least - 1 : 0;

	/* Without a loop, which the verifier would go through time and again. */
	ones |= ones >> 1;
	ones |= ones >> 2;
	ones |= ones >> 4;
	ones |= ones >> 8;
	ones |= ones >> 16;
	ones |= ones >> 32;
	return now / (ones < COMING_LONGEST ? ones + 1 : COMING_LONGEST);
}

static inline u64 coming_at(u64 coming, u32 span)
{
	u32 since = span - (u32)(coming >> 32);
	u64 kept = since == 0 ? coming & 0xffffffffULL :
		   since == 1 ? (coming & COMING_MOST) << 16 :
				0;

	return (u64)span << 32 | kept;
}

static inline u32 coming_count(u64 coming)
{
	return (coming >> 16 & COMING_MOST) + (coming & COMING_MOST);
}

static inline u64 coming_one_more(u64 coming)
{
	return (coming & COMING_MOST) < COMING_MOST ? coming + 1 : coming;
}

static inline u64 coming_one_less(u64 coming)
{
	if (coming >> 16 & COMING_MOST)
		return coming - (1 << 16);
	return coming & COMING_MOST ? coming - 1 : coming;
}

#endif
