/* SPDX-License-Identifier: GPL-2.0-only */
/* What first flights have been given of a path lately. Connections that begin within a round trip share what it takes in
 * one: each by itself would send all of it, and a page opens a dozen at once. What was given comes back evenly within
 * a round trip; nobody has to return it. */
#ifndef HEADSTART_LOANS_H
#define HEADSTART_LOANS_H

#include "paths.h"

/* Segments, and above 32 bits when they were given, milliseconds: read and written as one. */
typedef u64 loan;

/* Of the paths on which something began last; who is pushed out is forgotten to owe. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct path_key);
	__type(value, loan);
} loans SEC(".maps");

static inline u32 ms_of(u64 ns)
{
	return ns / NS_PER_MS;
}

static inline loan *loan_of(const struct path_key *key)
{
	const loan none = 0;
	loan *given = bpf_map_lookup_elem(&loans, key);

	if (given)
		return given;
	bpf_map_update_elem(&loans, key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&loans, key);
}

/* What of `given` has not come back. */
static inline u32 lent(const struct path *path, loan given, u64 now)
{
	u32 since_ms = ms_of(now) - (u32)(given >> 32);

	return still_lent((u32)given, since_ms * 1000ULL, path->srtt_us);
}

/* Gives `window` away beside what was `given` when it was recalled; false if others have been given some meanwhile. */
static inline bool lend(loan *of, const struct path *path, loan given, u64 now, u32 window)
{
	loan more = (loan)ms_of(now) << 32 | (lent(path, given, now) + window);

	return __sync_val_compare_and_swap(of, given, more) == given;
}

/* So much of what was given is not used. */
static inline void give_back(const struct path_key *key, u32 segments)
{
	loan *of = bpf_map_lookup_elem(&loans, key);
	loan given = of ? *of : 0;
	u32 all = given;

	if (of)
		__sync_val_compare_and_swap(of, given, given - (all < segments ? all : segments));
}

#endif
