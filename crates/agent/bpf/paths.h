/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of paths: which path a socket is on, what is known of it, and what a connection
 * adds. */
#ifndef HEADSTART_PATHS_H
#define HEADSTART_PATHS_H

#include "kernel.h"
#include "contract.h"
#include "arith.h"

/* The kernel lets programs that call its functions be under the GPL only. */
char LICENSE[] SEC("license") = "GPL";

volatile struct settings settings SEC(".data.settings") = {};

/* Segments: no window is larger. */
#define MAX_WINDOW (1U << 20)

/* Least recently used first to go. The loader sets how many there are. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct path_key);
	__type(value, struct path);
} paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192); /* twice what may be said: the old beside the new */
	__type(key, struct override_key);
	__type(value, struct override);
} overrides SEC(".maps");

/* What found its buffer full: summaries, decisions, inquiries. */
enum lost { LOST_SUMMARIES, LOST_DECISIONS, LOST_INQUIRIES, LOST_KINDS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOST_KINDS);
	__type(key, u32);
	__type(value, u64);
} lost SEC(".maps");

static inline void count_lost(u32 what)
{
	u64 *count = bpf_map_lookup_elem(&lost, &what);

	if (count)
		__sync_fetch_and_add(count, 1);
}

#define V4_MAPPED 96
#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define US_PER_S 1000000ULL

/* Whose path a socket is on, and how large a first window may be there. */
struct destination {
	struct path_key path;
	u32 cap;
};

static inline __be32 mask_of(u32 bits, u32 word)
{
	u32 before = word * 32;

	if (bits <= before)
		return 0;
	if (bits >= before + 32)
		return ~0U;
	return __builtin_bswap32(~(~0U >> (bits - before)));
}

/* The peer's address. False for what is neither IPv4 nor IPv6. */
static inline bool remote_of(const struct sock *sk, __be32 address[4])
{
	u16 family = sk->__sk_common.skc_family;

	if (family == AF_INET) {
		address[0] = address[1] = 0;
		address[2] = __builtin_bswap32(0xffff);
		address[3] = sk->__sk_common.skc_daddr;
		return true;
	}
	if (family != AF_INET6)
		return false;
	address[0] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0];
	address[1] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1];
	address[2] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2];
	address[3] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3];
	return true;
}

static inline bool is_v4_mapped(const __be32 address[4])
{
	return !address[0] && !address[1] && address[2] == __builtin_bswap32(0xffff);
}

static inline bool destination_of(const struct sock *sk, struct destination *to)
{
	struct override_key exact = {.bits = 128};
	struct override *said;
	u32 bits;

	if (!remote_of(sk, exact.address))
		return false;
	bits = is_v4_mapped(exact.address) ? V4_MAPPED + settings.v4_bits : settings.v6_bits;
	to->cap = settings.cap;
	said = bpf_map_lookup_elem(&overrides, &exact);
	/* A short prefix of IPv6, as ::/0, is not said of IPv4. */
	if (said && (!is_v4_mapped(exact.address) || said->bits >= V4_MAPPED)) {
		bits = said->bits;
		to->cap = said->cap;
	}
	to->path.netns = settings.flags & SHARE_NAMESPACES ?
				 0 :
				 sk->__sk_common.skc_net.net->ns.inum;
	to->path.bits = bits;
	to->path.address[0] = exact.address[0] & mask_of(bits, 0);
	to->path.address[1] = exact.address[1] & mask_of(bits, 1);
	to->path.address[2] = exact.address[2] & mask_of(bits, 2);
	to->path.address[3] = exact.address[3] & mask_of(bits, 3);
	return true;
}

/* What of the window is believed at `now`. */
static inline u32 aged_window(const struct path *path, u64 now)
{
	u64 half_life = half_life_ns(path->srtt_us, settings.half_life_rtts);

	if ((s64)(now - path->learnt_ns) < 0)
		return 0;
	return decayed(path->window, now - path->learnt_ns, half_life);
}

/* What may be believed of the path by a connection whose first round trip took `rtt_us`,
 * segments; 0: nothing. */
static inline u32 estimate_of(const struct path *path, u64 now, u32 rtt_us)
{
	if (now - path->learnt_ns > settings.max_age_ns)
		return 0;
	return same_round_trip(rtt_us, path->min_rtt_us) ? aged_window(path, now) : 0;
}

/* What a connection knows at an instant at which its path may learn. */
struct path_sample {
	u64 at_ns; /* when something last arrived: idling since proves nothing */
	u32 window;
	u32 ssthresh;
	u32 srtt_us;
	u32 min_rtt_us;
	/* that two flights came in at, bytes a second; 0: not measured, which says nothing */
	u64 rate;
	u32 flight; /* most segments outstanding at a time that all arrived; for who asks alone */
};

/* In place of `learnt_ns` while a processor writes what belongs to it: 146 years ago, which is too
 * old for everybody. Of two that learn at one instant the second is not heard: the window of one
 * would be as young as that of the other. */
#define BEING_LEARNT (3ULL << 62)

/* Replaces what is known if the sample was measured (by a loss, or by BBR), or proves as much as
 * is still believed: a transfer that was too short to use the window says nothing against it.
 * True if it was taken. */
static inline bool update_path(const struct path_key *key, const struct path_sample *sample,
			       bool is_measured)
{
	u64 now = bpf_ktime_get_ns(), was;
	struct path *path = bpf_map_lookup_elem(&paths, key);
	struct path fresh = {
		.learnt_ns = sample->at_ns,
		.window = sample->window,
		.ssthresh = sample->ssthresh,
		.srtt_us = sample->srtt_us,
		.min_rtt_us = sample->min_rtt_us,
		.rate = sample->rate,
	};

	if (!sample->window || !sample->srtt_us || !sample->min_rtt_us)
		return false;
	if (!path)
		return !bpf_map_update_elem(&paths, key, &fresh, BPF_ANY);
	if (sample->rate)
		path->rate = sample->rate;
	was = path->learnt_ns;
	if (!is_measured && aged_window(&fresh, now) < aged_window(path, now))
		return false;
	if (was == BEING_LEARNT ||
	    __sync_val_compare_and_swap(&path->learnt_ns, was, BEING_LEARNT) != was)
		return false;
	path->window = fresh.window;
	path->ssthresh = fresh.ssthresh;
	path->srtt_us = fresh.srtt_us;
	path->min_rtt_us = fresh.min_rtt_us;
	barrier();
	__sync_lock_test_and_set(&path->learnt_ns, fresh.learnt_ns);
	return true;
}

/* A warm start has lost something of its first flight: half of what was remembered, evenly over
 * the round trip, and after the second in a row nothing. */
static inline void halve_path(const struct path_key *key)
{
	struct path *path = bpf_map_lookup_elem(&paths, key);
	u32 window;

	if (!path)
		return;
	__sync_fetch_and_add(&path->fallbacks, 1);
	window = path->window;
	__sync_val_compare_and_swap(&path->window, window, window / 2);
	path->rate = 0;
	/* Counted as one: of two at one instant each would be the first. */
	if (__sync_fetch_and_add(&path->fallbacks_in_row, 1) > 0)
		bpf_map_delete_elem(&paths, key);
}

#endif
