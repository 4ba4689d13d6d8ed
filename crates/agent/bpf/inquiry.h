/* SPDX-License-Identifier: GPL-2.0-only */
/* Asks the agent for a path during its handshake. The agent asks the gateway of the site, whose
 * answer reaches the memory before the handshake ends (Zhang, Qiu & Keshav 2000 §5.2, the inquiry).
 * No connection waits for an answer: a later one serves the next connection. */
#ifndef HEADSTART_INQUIRY_H
#define HEADSTART_INQUIRY_H

#include "paths.h"

/* Room for 400 unread inquiries. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 14);
} inquiries SEC(".maps");

/* Times of the last inquiry of paths. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct path_key);
	__type(value, u64);
} asked SEC(".maps");

/* A gateway knows no better than samples of this host that are as young as this. */
#define OWN_IS_FRESH (10 * US_PER_S * NS_PER_US)
/* ASKED_LATELY: a page's connections open within this time, so one inquiry serves them all.
 * ASKED_AT_HANDSHAKE: when a connection opens, an inquiry as young as this was made for its
 * handshake. There is none where the agent gets no handshake events. */
#define ASKED_LATELY (NS_PER_MS * 50)
#define ASKED_AT_HANDSHAKE (NS_PER_MS * 3000)

/* A host that knows the path asks seldom: what it knows is of use meanwhile. */
static inline bool is_worth_asking(const struct path_key *key, u64 now, u64 lately)
{
	struct path *path = bpf_map_lookup_elem(&paths, key);
	u64 *was;

	if (path && (s64)(now - path->learnt_ns) < (s64)OWN_IS_FRESH)
		return false;
	was = bpf_map_lookup_elem(&asked, key);
	return !was || now - *was > lately;
}

/* `trigger`: enum inquiry_trigger. Not static: the verifier goes through it once, and not for
 * each way that leads to it; it takes a copy of the key (see finish_handshake). */
__noinline u32 ask_gateway(const struct path_key *of, u32 trigger)
{
	u64 lately = trigger == INQUIRY_OPEN ? ASKED_AT_HANDSHAKE : ASKED_LATELY;
	u64 now = bpf_ktime_get_ns();
	struct inquiry *asks;
	struct path_key key;

	if (!of)
		return 0;
	key = *of;
	if (!is_worth_asking(&key, now, lately))
		return 0;
	bpf_map_update_elem(&asked, &key, &now, BPF_ANY);
	asks = bpf_ringbuf_reserve(&inquiries, sizeof(*asks), 0);
	if (!asks) {
		count_lost(LOST_INQUIRIES);
		return 0;
	}
	asks->path = key;
	asks->at_ns = now;
	asks->trigger = trigger;
	asks->spare = 0;
	bpf_ringbuf_submit(asks, 0);
	return 1;
}

/* Asks the gateway for a path that the memory does not know, or knows only from long ago. */
static inline void inquire(const struct path_key *key, u32 trigger)
{
	if (settings.flags & ASK_GATEWAY)
		ask_gateway(key, trigger);
}

#endif
