/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Crate `arith`, module `pending_handshakes`, in C: the same results to the last bit, as
 * tests/twins/handshakes.rs checks. The crate documents the functions. Needs u32 and u64. */
#ifndef HEADSTART_PENDING_HANDSHAKES_H
#define HEADSTART_PENDING_HANDSHAKES_H

#define PENDING_MAX_STARTED 0xffffULL
#define PENDING_MAX_SPAN (1ULL << 44)

static inline u32 pending_span(u64 now, u64 round)
{
	u64 least = round > ~0ULL / 2 ? ~0ULL : round * 2, ones = least ? least - 1 : 0;

	/* Without a loop, which the verifier would go through time and again. */
	ones |= ones >> 1;
	ones |= ones >> 2;
	ones |= ones >> 4;
	ones |= ones >> 8;
	ones |= ones >> 16;
	ones |= ones >> 32;
	return now / (ones < PENDING_MAX_SPAN ? ones + 1 : PENDING_MAX_SPAN);
}

static inline u64 pending_at(u64 pending, u32 span)
{
	u32 since = span - (u32)(pending >> 32);
	u64 kept = since == 0 ? pending & 0xffffffffULL :
		   since == 1 ? (pending & PENDING_MAX_STARTED) << 16 :
				0;

	return (u64)span << 32 | kept;
}

static inline u32 pending_count(u64 pending)
{
	return (pending >> 16 & PENDING_MAX_STARTED) + (pending & PENDING_MAX_STARTED);
}

static inline u64 pending_one_more(u64 pending)
{
	return (pending & PENDING_MAX_STARTED) < PENDING_MAX_STARTED ? pending + 1 : pending;
}

static inline u64 pending_one_less(u64 pending)
{
	if (pending >> 16 & PENDING_MAX_STARTED)
		return pending - (1 << 16);
	return pending & PENDING_MAX_STARTED ? pending - 1 : pending;
}

#endif
