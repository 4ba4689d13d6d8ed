/* SPDX-License-Identifier: GPL-2.0-only */
/* The sessions, each in a slot of an array. Members keep the slot's number, since looking up the
 * host's address at every ACK would cost as much as the rest of it. */
#ifndef HEADSTART_PLACES_H
#define HEADSTART_PLACES_H

#include "shared.h"

/* Maximum number of hosts at a time. A connection without a slot has a window of its own. */
#define PLACES 65536

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES);
	__type(key, u32);
	__type(value, struct session);
} sessions SEC(".maps");

/* Slot of a host's session, from 1. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PLACES);
	__type(key, struct session_key);
	__type(value, u32);
} hosts SEC(".maps");

/* Slots of former sessions. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, PLACES);
	__type(value, u32);
} vacant SEC(".maps");

/* Number of slots that were ever used. */
u32 places_used;

static inline struct session *session_at(u32 place)
{
	u32 index = place - 1;

	return bpf_map_lookup_elem(&sessions, &index);
}

static inline bool is_same(const struct session_key *a, const struct session_key *b)
{
	return a->netns == b->netns && a->address[0] == b->address[0] &&
		a->address[1] == b->address[1] &&
	       a->address[2] == b->address[2] && a->address[3] == b->address[3];
}

/* One more member, if it is still the host's. */
static inline bool enter(struct session *s, const struct session_key *key)
{
	bool is_its;

	bpf_spin_lock(&s->lock);
	is_its = s->born_ns && is_same(&s->key, key);
	s->members += is_its;
	bpf_spin_unlock(&s->lock);
	return is_its;
}

/* Returns a free slot; 0: there is none. */
static inline u32 vacant_place(void)
{
	u32 place = 0;

	if (!bpf_map_pop_elem(&vacant, &place))
		return place;
	if (places_used >= PLACES)
		return 0;
	place = __sync_fetch_and_add(&places_used, 1);
	return place < PLACES ? place + 1 : 0;
}

static inline void reset_session(struct session *s, const struct session_key *key, u64 now_ns)
{
	bpf_spin_lock(&s->lock);
	__builtin_memset(&s->window, 0, sizeof(*s) - offsetof(struct session, window));
	s->key = *key;
	s->ssthresh = TCP_INFINITE_SSTHRESH;
	s->born_ns = now_ns;
	bpf_spin_unlock(&s->lock);
}

/* Returns the host's slot, and takes one if it has none; 0: there is none. */
static inline u32 place_of(const struct session_key *key, u64 now_ns)
{
	u32 *known = bpf_map_lookup_elem(&hosts, key);
	struct session *s;
	u32 place;

	if (known)
		return *known;
	place = vacant_place();
	s = place ? session_at(place) : NULL;
	if (!s)
		return 0;
	reset_session(s, key, now_ns);
	if (!bpf_map_update_elem(&hosts, key, &place, BPF_NOEXIST))
		return place;
	/* Another connection was faster. */
	bpf_map_push_elem(&vacant, &place, BPF_ANY);
	known = bpf_map_lookup_elem(&hosts, key);
	return known ? *known : 0;
}

static inline void vacate(const struct session_key *key, u32 place)
{
	bpf_map_delete_elem(&hosts, key);
	bpf_map_push_elem(&vacant, &place, BPF_ANY);
}

#endif
