/* SPDX-License-Identifier: GPL-2.0-only */
/* What first flights have been given of a path lately. Connections that begin within a round
 * trip share what it takes in one: each by itself would send all of it, and a page opens a dozen
 * at once. Who opens is given its part, as one of those whose handshakes have begun (attend.h
 * counts SYNs), and never less than the stock window that anybody begins with. What was given
 * comes back evenly within a round trip; nobody has to return it. */
#ifndef HEADSTART_RESERVE_H
#define HEADSTART_RESERVE_H

#include "paths.h"
#include "coming.h"

/* Segments in 20 bits, and the connections that began since all of it was last back in twelve
 * more. Above these are the milliseconds at which it was given. It is one word. */
typedef u64 reservation;

#define RESERVED_SEGMENTS 0xfffffU
#define SHARERS_SHIFT 20

struct account {
	reservation given;
	u64 coming; /* connections whose handshake has begun, and which have not (coming.h) */
	u64 answer; /* what the last handshake took, us; above 32 bits when it ended, seconds */
};

/* Of the paths on which something began last; who is pushed out is forgotten to owe. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct path_key);
	__type(value, struct account);
} accounts SEC(".maps");

/* A first window that is asked for, and what is to be had. */
struct offer {
	u32 cold;   /* what it would begin with, and has in any case, segments */
	u32 cap;
	u32 among;  /* of how many it is one, itself included */
	u32 window; /* segments; 0: none */
	u32 least;  /* less is none, segments */
	u32 taken;  /* segments of the path that others took within the round trip */
	u32 sharers; /* those that begin within the round trip, itself included */
	struct path *path;
};

/* Times that a word is changed anew because somebody else has, meanwhile. The verifier goes
 * through each. */
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

/* `coming` as it is now. */
static inline u64 handshakes_now(const struct path *path, u64 coming)
{
	return coming_at(coming, coming_span(bpf_ktime_get_ns(), path->srtt_us * NS_PER_US));
}

/* A handshake begins to a path that is known; nobody else has anything to share. */
static inline void begin_handshake(const struct path_key *key)
{
	struct path *path = find_path(key);
	struct account *of = path ? account_of(key) : NULL;
	u64 was;

	if (!of)
		return;
	for (u32 i = 0; i < TRIES; i++) {
		was = of->coming;
		if (__sync_val_compare_and_swap(&of->coming, was,
						coming_one_more(handshakes_now(path, was))) == was)
			return;
	}
}

/* One whose handshake has been counted begins; among how many, itself included. Not static: the
 * verifier goes through it once, and not for each way through it through what follows; it asks
 * for the key to be looked at, and before Linux 6.3 for a copy of it. */
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
		was = of->coming;
		is = handshakes_now(path, was);
		if (__sync_val_compare_and_swap(&of->coming, was, coming_one_less(is)) == was)
			break;
	}
	return coming_count(is) ? coming_count(is) : 1;
}

/* One that has begun long ago starts anew, beside those that come; among how many, itself
 * included. */
static inline u32 count_restart(const struct path_key *key)
{
	struct path *path = find_path(key);
	struct account *of = path ? bpf_map_lookup_elem(&accounts, key) : NULL;

	return of ? coming_count(handshakes_now(path, of->coming)) + 1 : 1;
}

/* What of `given` has not come back. */
static inline u32 still_reserved(const struct path *path, reservation given, u64 now)
{
	u32 since_ms = ms_of(now) - (u32)(given >> 32);

	return still_lent(given & RESERVED_SEGMENTS, since_ms * 1000ULL, path->srtt_us);
}

static inline reservation reservation_of(u64 now, u32 sharers, u32 segments)
{
	return (reservation)ms_of(now) << 32 | sharers << SHARERS_SHIFT |
	       (segments & RESERVED_SEGMENTS);
}

/* Segments for all that begin within a round trip: what one has proven, or what the path is
 * known to carry in that time. */
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

/* What is to be had: for one no more than one has proven. Of the room `taken` is given away
 * already. */
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

/* Says what is to be had and, unless it is only asked for, takes it; false if it begins with
 * what anybody begins with, which counts as given, too. Also if that cannot be said, since
 * others have been given some meanwhile, twice. */
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

/* So much of what was given `lent_ns` ago is not used. What has come back of that since is not
 * returned again: it would be of what others were given. */
static inline void release_window(const struct path_key *key, u32 segments, u64 lent_ns)
{
	struct path *path = find_path(key);
	struct account *of = path ? bpf_map_lookup_elem(&accounts, key) : NULL;
	reservation given = of ? of->given : 0;
	u32 all = given & RESERVED_SEGMENTS;

	if (!of)
		return;
	segments = still_lent(segments, lent_ns / NS_PER_US, path->srtt_us);
	__sync_val_compare_and_swap(&of->given, given, given - (all < segments ? all : segments));
}

#endif
