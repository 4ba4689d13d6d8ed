/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* Crate `arith`, module `epoch`, in C: the same results to the last bit, as tests/twins/epoch.rs
 * checks. The crate documents the functions. Needs u32, u64 and bool. */
#ifndef HEADSTART_EPOCH_H
#define HEADSTART_EPOCH_H

#define EPOCH_MAX_CAPACITY (1U << 24)

static inline u64 epoch_climb(u64 from, u64 to)
{
	return (to * (to + 1) - from * (from - 1)) / 2;
}

/* The square root of `of` < 2^52, rounded down. */
static inline u64 epoch_root(u64 of)
{
	u64 root = 0;

	for (u64 bit = 1ULL << 50; bit; bit >>= 2) {
		/* 1 or 0, and times that, without a branch: the verifier would go each way each
		 * time. */
		u64 trial = root + bit, fits = 1 - ((of - trial) >> 63);

		of -= trial * fits;
		root = (root >> 1) + bit * fits;
	}
	return root;
}

static inline u64 epoch_bottom(u64 capacity)
{
	return (capacity + 1) / 2;
}

static inline u64 epoch_size(u64 capacity, u64 per_ack)
{
	return per_ack * epoch_climb(epoch_bottom(capacity), capacity) + 2 * capacity + 1;
}

/* 0: none. */
static inline u64 epoch_largest_start(u64 capacity, u64 rounds)
{
	u64 all = capacity * (capacity + 1), largest;

	if (rounds > all / 2)
		return 0;
	largest = (1 + epoch_root(4 * (all - 2 * rounds) + 1)) / 2;
	return largest < capacity ? largest : capacity;
}

/* A transfer of more than an epoch may begin below its bottom. `per_ack` is 1 to 8. */
static inline u64 epoch_window(u32 wanted_capacity, u32 wanted_per_ack, u64 segments, bool shift)
{
	u64 capacity = wanted_capacity < EPOCH_MAX_CAPACITY ? wanted_capacity : EPOCH_MAX_CAPACITY;
	u64 per_ack = wanted_per_ack ? wanted_per_ack : 1, rest, largest, delta = 0;

	capacity = capacity ? capacity : 1;
	if (!segments)
		return 1;
	rest = segments % epoch_size(capacity, per_ack);
	largest = rest ? epoch_largest_start(capacity, (rest + per_ack - 1) / per_ack) : 0;
	if (!largest)
		return epoch_bottom(capacity);
	if (shift)
		delta = (per_ack * epoch_climb(largest, capacity) - rest) /
			(per_ack * (capacity - largest + 1));
	return largest > delta + 1 ? largest - delta : 1;
}

#endif
