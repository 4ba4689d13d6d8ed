/* SPDX-License-Identifier: GPL-2.0-only */
/* The window pool: recent reservations of first flights, by path. Connections that start within a
 * round trip share what the path takes in one. Without that each would send all of it, and a page
 * opens a dozen at once. A new connection gets its part, as one of those with pending handshakes
 * (`hook.h` counts SYNs), and never less than the stock initial window. A reservation expires
 * evenly within a round trip, without an event. */
#ifndef HEADSTART_RESERVE_H
#define HEADSTART_RESERVE_H

#include "paths.h"
#include "pending_handshakes.h"

/* Segments in 20 bits, and the connections that began since all of it was last back in twelve
 * more. Above these are the milliseconds at which it was given. It is one word. */
typedef u64 reservation;

#define RESERVED_SEGMENTS 0xfffffU
#define SHARERS_SHIFT 20

struct account {
	reservation given;
	u64 pending; /* pending handshakes (`pending_handshakes.h`) */
	u64 answer; /* time of the last handshake, us; above 32 bits its end, seconds */
};

/* The accounts of recently used paths; the reservations of an evicted path are forgotten. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct path_key);
	__type(value, struct account);
} accounts SEC(".maps");

/* A request for a first window, and the available one. */
struct offer {
	u32 cold;   /* stock initial window, which it gets in any case, */
	u32 cap;
	u32 among;  /* connections that start together, itself */
	u32 window; /* segments; 0: none */
	u32 least;  /* least acceptable window, segments */
	u32 taken;  /* segments of the path that others took within the round trip */
	u32 sharers; /* connections that start within the round trip, itself */
	struct path *path;
};

/* Tries to change a word that another processor changes at the same time. The verifier follows each
 * try. */
#define TRIES 2

static inline u32 ms_of(u64 ns)
{
	return ns / NS_PER_MS;
}

static inline struct account *account_of(const struct path_key *key)
{
	const struct account none = {};
	struct account *of = bpf_map_lookup_elem(&accounts, key);

	if (of)
		return of;
	bpf_map_update_elem(&accounts, key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&accounts, key);
}

/* `pending` as it is now. */
static inline u64 handshakes_now(const struct path *path, u64 pending)
{
	return pending_at(pending, pending_span(bpf_ktime_get_ns(), path->srtt_us * NS_PER_US));
}

/* Counts a handshake that begins, if its path is known; otherwise there is nothing to share. */
static inline void begin_handshake(const struct path_key *key)
{
	struct path *path = find_path(key);
	struct account *of = path ? account_of(key) : NULL;
	u64 was;

	if (!of)
		return;
	for (u32 i = 0; i < TRIES; i++) {
		was = of->pending;
		if (__sync_val_compare_and_swap(&of->pending, was,
						pending_one_more(handshakes_now(path, was))) == was)
			return;
	}
}

/* Ends a pending handshake, and returns among how many connections it starts, itself included. Not
 * static: so the verifier follows it once, and not the rest again for each way through it. The
 * verifier asks for a test of the key and, before Linux 6.3, for a copy of it. */
__noinline u32 finish_handshake(const struct path_key *asked)
{
	struct path_key key;
	struct path *path;
	struct account *of;
	u64 was, is = 0;

	if (!asked)
		return 1;
	key = *asked;
	path = find_path(&key);
	of = path ? bpf_map_lookup_elem(&accounts, &key) : NULL;
	if (!of)
		return 1;
	for (u32 i = 0; i < TRIES; i++) {
		was = of->pending;
		is = handshakes_now(path, was);
		if (__sync_val_compare_and_swap(&of->pending, was, pending_one_less(is)) == was)
			break;
	}
	return pending_count(is) ? pending_count(is) : 1;
}

/* Returns among how many connections an old one restarts, itself and pending handshakes
 * included. */
static inline u32 count_restart(const struct path_key *key)
{
	struct path *path = find_path(key);
	struct account *of = path ? bpf_map_lookup_elem(&accounts, key) : NULL;

	return of ? pending_count(handshakes_now(path, of->pending)) + 1 : 1;
}

/* Returns the part of `given` that has not expired. */
static inline u32 still_reserved(const struct path *path, reservation given, u64 now)
{
	u32 since_ms = ms_of(now) - (u32)(given >> 32);

	return unexpired_part(given & RESERVED_SEGMENTS, since_ms * 1000ULL, path->srtt_us);
}

static inline reservation reservation_of(u64 now, u32 sharers, u32 segments)
{
	return (reservation)ms_of(now) << 32 | sharers << SHARERS_SHIFT |
	       (segments & RESERVED_SEGMENTS);
}

/* Segments for all connections that start within a round trip: the proven window, or the path's
 * known capacity in that time. */
static inline u32 room_of(const struct path *path, u32 believed, u32 mss)
{
	u64 carried = mss ? path->rate / 1000 * path->min_rtt_us / 1000 / mss : 0;

	if (carried > MAX_WINDOW)
		carried = MAX_WINDOW;
	return carried > believed ? carried : believed;
}

/* Not static: the verifier goes through it once, and not in each of the tries below. */
__noinline u32 part_of_room(u32 room, u32 taken, u32 cold, u32 among)
{
	return part_beside(room, taken, cold, among);
}

/* Computes the available window: a single connection gets no more than one has proven. `taken`
 * segments of the path's room are reserved already. */
static inline void make_offer(const struct tcp_sock *tp, struct offer *o, u32 believed, u32 taken)
{
	u32 room = room_of(o->path, believed, tp->mss_cache);
	u64 wider = (u64)o->cold + part_of_room(room, taken, o->cold, o->among);
	u32 cap = o->cap < tp->snd_cwnd_clamp ? o->cap : tp->snd_cwnd_clamp;
	u32 window = first_window(wider < believed ? wider : believed, o->cold, cap);

	o->window = window > o->cold && window >= o->least ? window : 0;
}

/* Others begin with it, or began within the round trip. */
static inline bool has_company(const struct offer *o)
{
	return o->among > 1 || o->taken;
}

/* The part of the path's rate for this offer, bytes a second; 0: not known. */
static inline u64 offered_rate(const struct offer *o)
{
	return part_of_rate(o->path->rate, o->taken, o->window, o->among);
}

/* Not static: the verifier goes through it once. */
__noinline u32 end_of_part(u32 full, u32 first, u32 sharers)
{
	return part_of_full(full, first, sharers);
}

/* The window at which slow start of this offer ends, segments of `mss` bytes: near its part of a
 * full path, or where a queue has ended a longer one. 0: not known. */
static inline u32 slow_start_end(const struct offer *o, u32 mss)
{
	const struct path *path = o->path;
	u32 full = bdp(path->rate, path->min_rtt_us, mss);

	if (full)
		return end_of_part(full, o->window, o->sharers);
	return path->ssthresh > o->window ? path->ssthresh : 0;
}

/* Computes the available window; reserves it if `takes`. False if the connection starts with the
 * stock initial window, which is reserved, too. Also false if other connections change the
 * reservations at the same time, twice. */
static inline bool reserve_window(const struct tcp_sock *tp, const struct path_key *key,
				  struct offer *o, bool takes)
{
	struct account *of;
	reservation given, more;
	u32 taken, believed, before;
	u64 now;

	o->path = find_path(key);
	of = o->path ? account_of(key) : NULL;
	if (!of)
		return false;
	for (u32 i = 0; i < TRIES; i++) {
		given = of->given;
		now = bpf_ktime_get_ns();
		taken = still_reserved(o->path, given, now);
		believed = estimate_of(o->path, now, tp->srtt_us >> 3, tp->mss_cache);
		make_offer(tp, o, believed, taken);
		/* A branch would have the verifier go through all that follows twice. */
		before = (u32)given >> SHARERS_SHIFT;
		before *= (0ULL - taken) >> 63;
		o->taken = taken;
		o->sharers = before + o->among;
		takes = takes && o->window;
		more = reservation_of(now, before + 1, taken + (takes ? o->window : o->cold));
		if (__sync_val_compare_and_swap(&of->given, given, more) == given)
			return takes;
	}
	return false;
}

/* Releases `segments` of a reservation made `reserved_ns` ago. The part that has expired since is
 * not released again: it would be taken from other connections. */
static inline void release_window(const struct path_key *key, u32 segments, u64 reserved_ns)
{
	struct path *path = find_path(key);
	struct account *of = path ? bpf_map_lookup_elem(&accounts, key) : NULL;
	reservation given = of ? of->given : 0;
	u32 all = given & RESERVED_SEGMENTS;

	if (!of)
		return;
	segments = unexpired_part(segments, reserved_ns / NS_PER_US, path->srtt_us);
	__sync_val_compare_and_swap(&of->given, given, given - (all < segments ? all : segments));
}

#endif
