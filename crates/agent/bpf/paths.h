/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of paths: the path of a socket, the memory of a path, and its updates by
 * connections. */
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

/* A line is one subscriber's access: an IPv4 address, or an IPv6 /64. While a line is active, it is
 * answered by what its own connections have shown, and any other by its network. Lines are not
 * saved, listed or reported. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct path_key);
	__type(value, struct path);
} lines SEC(".maps");

/* Times until which the windows of networks are not raised, nanoseconds: networks with a line that
 * carries far less than others. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct path_key);
	__type(value, u64);
} held SEC(".maps");

#define V6_LINE_BITS 64

/* A line counts as active for so long after its last sample. */
#define ACTIVE_NS (600ULL * 1000 * NS_PER_MS)
/* A line that carries less than this part of its network's window is of another kind. */
#define SLOWER_PART 2

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	/* twice the largest number of rules: the old ones beside the new ones */
	__uint(max_entries, 8192);
	__type(key, struct override_key);
	__type(value, struct override);
} overrides SEC(".maps");

/* Kinds of reports that were lost to a full buffer: summaries, decisions, inquiries. */
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

/* The path of a socket, and the largest first window there. */
struct destination {
	struct path_key path; /* network */
	struct path_key line; /* `bits` is 0 where networks are as small as lines */
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

/* Maps 64:ff9b::/96, which embeds IPv4 addresses behind NAT64 (RFC 6052 §2.1), to IPv4. One IPv6
 * network of them would be the whole Internet. */
static inline void translate_nat64(__be32 address[4])
{
	if (address[0] != __builtin_bswap32(0x64ff9b) || address[1] || address[2])
		return;
	address[0] = 0;
	address[2] = __builtin_bswap32(0xffff);
}

static inline void key_of_bits(const __be32 address[4], u32 bits, u32 netns, struct path_key *key)
{
	key->netns = netns;
	key->bits = bits;
	key->address[0] = address[0] & mask_of(bits, 0);
	key->address[1] = address[1] & mask_of(bits, 1);
	key->address[2] = address[2] & mask_of(bits, 2);
	key->address[3] = address[3] & mask_of(bits, 3);
}

static inline bool destination_of(const struct sock *sk, struct destination *to)
{
	struct override_key exact = {.bits = 128};
	struct override *given;
	u32 bits, line_bits, netns;

	if (!remote_of(sk, exact.address))
		return false;
	translate_nat64(exact.address);
	bits = is_v4_mapped(exact.address) ? V4_MAPPED + settings.v4_bits : settings.v6_bits;
	to->cap = settings.cap;
	given = bpf_map_lookup_elem(&overrides, &exact);
	/* A short prefix of IPv6, such as ::/0, does not apply to IPv4. */
	if (given && (!is_v4_mapped(exact.address) || given->bits >= V4_MAPPED)) {
		bits = given->bits;
		to->cap = given->cap;
	}
	netns = settings.flags & SHARE_NAMESPACES ? 0 : sk->__sk_common.skc_net.net->ns.inum;
	key_of_bits(exact.address, bits, netns, &to->path);
	line_bits = is_v4_mapped(exact.address) ? 128 : V6_LINE_BITS;
	key_of_bits(exact.address, line_bits, netns, &to->line);
	to->line.bits = bits < line_bits ? line_bits | LINE : 0;
	return true;
}

/* The entry of a key: of a line or of a network. */
static inline struct path *find_path(const struct path_key *key)
{
	return key->bits & LINE ? bpf_map_lookup_elem(&lines, key) :
				  bpf_map_lookup_elem(&paths, key);
}

/* The key of the memory for a connection: its line's if that is active, otherwise its network's. */
static inline void key_in_use(const struct destination *to, struct path_key *key)
{
	const struct path *line = to->line.bits ? bpf_map_lookup_elem(&lines, &to->line) : NULL;

	*key = to->path;
	if (line && bpf_ktime_get_ns() - line->learnt_ns <= ACTIVE_NS)
		*key = to->line;
}

/* The estimate at `now` of a window that was learnt at `then`, at round trips of `srtt_us`. */
static inline u32 aged_since(u64 then, u64 now, u32 window, u32 srtt_us)
{
	if ((s64)(now - then) < 0)
		return 0;
	return decayed(window, now - then, half_life_ns(srtt_us, settings.half_life_rtts));
}

static inline u32 aged(const struct path *path, u32 window, u64 now)
{
	return aged_since(path->learnt_ns, now, window, path->srtt_us);
}

/* The estimate of the window at `now`. */
static inline u32 aged_window(const struct path *path, u64 now)
{
	return aged(path, path->window, now);
}

/* `reach` and the arithmetic of queues below are not static: the verifier goes through each once,
 * and not for each way through it through what follows. */
__noinline u32 reach_at_rate(u32 window, u64 rate, u32 min_rtt_us, u32 mss)
{
	return reach(window, bdp(rate, min_rtt_us, mss));
}

__noinline u32 shows_queue(u32 srtt_us, u32 min_rtt_us)
{
	return has_queue(srtt_us, min_rtt_us);
}

__noinline u32 queueless(u32 window, u32 full, u32 srtt_us, u32 min_rtt_us)
{
	return without_queue(window, full, srtt_us, min_rtt_us);
}

__noinline u32 carried_at(u32 window, u32 srtt_us, u32 min_rtt_us)
{
	return carried_in_lowest(window, srtt_us, min_rtt_us);
}

__noinline u32 contradicts(u32 window, u64 gap, u32 srtt_us, u32 min_rtt_us)
{
	return is_slower(window, gap, srtt_us, min_rtt_us);
}

/* Returns the initial window before ageing, for segments of `mss` bytes. It exceeds the window that
 * the path has carried if the rate is known and no warm start has just failed. */
static inline u32 reached_window(const struct path *path, u32 mss)
{
	u64 rate = path->fallbacks_in_row ? 0 : path->rate;

	return reach_at_rate(path->window, rate, path->min_rtt_us, mss);
}

/* Returns the estimated window of the path for a connection whose first round trip took `rtt_us`,
 * segments; 0: none. */
static inline u32 estimate_of(const struct path *path, u64 now, u32 rtt_us, u32 mss)
{
	if (now - path->learnt_ns > settings.max_age_ns)
		return 0;
	return same_round_trip(rtt_us, path->min_rtt_us) ?
		       aged(path, reached_window(path, mss), now) :
		       0;
}

/* A connection's knowledge of its path at a moment at which the memory may learn it. */
struct path_sample {
	u64 at_ns; /* time of the last acknowledgement: an idle time since proves nothing */
	u32 window;
	u32 ssthresh; /* where slow start has ended by a queue, or END_UNKNOWN; 0: not shown */
	/* segments that fill the path at the rate of two flights in a row; 0: no two agreed */
	u32 bdp;
	u32 srtt_us;
	u32 min_rtt_us;
	/* most segments outstanding at a time and all delivered; only for answers to
	 * applications */
	u32 flight;
	/* of two flights that agree, or of a probe, bytes a second; 0: not known */
	u64 rate;
};

/* In place of a threshold: a loss has ended slow start, at a window that says nothing. */
#define END_UNKNOWN 1

/* In place of `learnt_ns` while a processor writes the entry: 146 years ago, which is always too
 * old. If two learn at one instant, the second is ignored: one's window would get the other's
 * age. */
#define BEING_LEARNT (3ULL << 62)

static inline bool is_whole(const struct path_sample *sample)
{
	return sample->window && sample->srtt_us && sample->min_rtt_us;
}

static inline void fill_path(struct path *path, const struct path_sample *sample)
{
	path->learnt_ns = sample->at_ns;
	path->window = sample->window;
	path->ssthresh = sample->ssthresh;
	path->srtt_us = sample->srtt_us;
	path->min_rtt_us = sample->min_rtt_us;
	path->rate = sample->rate;
}

/* A loss shows that slow start has an end, and not where: END_UNKNOWN. One that measures the path
 * shows that the end is no larger than the window. */
static inline u32 next_ssthresh(const struct path *path, const struct path_sample *sample,
				u32 window, bool is_measured)
{
	u32 known = path->ssthresh;

	if (sample->ssthresh > END_UNKNOWN)
		return sample->ssthresh;
	if (!sample->ssthresh && !is_measured)
		return known;
	if (known <= END_UNKNOWN)
		return END_UNKNOWN;
	return is_measured && window < known ? window : known;
}

/* Replaces the path's window by the sample's `window` if it was measured (by a loss, or by BBR), or
 * proves as much as the estimate after ageing. A transfer that was too short to use the window does
 * not contradict it. True if it was replaced. */
static inline bool change_path(struct path *path, const struct path_sample *sample, u32 window,
			       bool is_measured)
{
	u64 now = bpf_ktime_get_ns(), was = path->learnt_ns;

	/* A probe may have shared the path with others: it shows the least that is carried. */
	if (sample->rate && (sample->bdp || is_measured || sample->rate > path->rate))
		path->rate = sample->rate;
	if (!is_measured &&
	    aged_since(sample->at_ns, now, window, sample->srtt_us) < aged_window(path, now))
		return false;
	if (was == BEING_LEARNT ||
	    __sync_val_compare_and_swap(&path->learnt_ns, was, BEING_LEARNT) != was)
		return false;
	path->ssthresh = next_ssthresh(path, sample, window, is_measured);
	path->window = window;
	path->srtt_us = sample->srtt_us;
	path->min_rtt_us = sample->min_rtt_us;
	barrier();
	__sync_lock_test_and_set(&path->learnt_ns, sample->at_ns);
	return true;
}

/* The entry of a line, which begins as its network is remembered; NULL: neither is known, or lines
 * are not kept apart. Not static: the verifier goes through it once. */
__noinline int begin_line(const struct path_key *of, const struct path_key *network)
{
	struct path_key line, key;
	struct path *path;
	struct path copy;

	if (!of || !network || !of->bits)
		return 0;
	line = *of;
	key = *network;
	path = bpf_map_lookup_elem(&lines, &line);
	if (path && bpf_ktime_get_ns() - path->learnt_ns <= ACTIVE_NS)
		return 1;
	path = bpf_map_lookup_elem(&paths, &key);
	if (!path)
		return 0;
	copy = *path;
	copy.connections = copy.warm = copy.fallbacks = 0;
	copy.bytes_acked = copy.sent = copy.retransmitted = 0;
	return !bpf_map_update_elem(&lines, &line, &copy, BPF_ANY);
}

/* Segments that the path carries in a round trip, and not only at least, as far as the connection
 * itself has shown it; 0: it has not. */
static inline u32 carries(const struct path_sample *sample, bool is_measured)
{
	return is_measured ? sample->window : sample->bdp;
}

/* Whether the network's window is held low at `now`. */
static inline bool is_held(const struct path_key *network, u64 now)
{
	u64 *until = bpf_map_lookup_elem(&held, network);

	return until && *until > now;
}

/* Updates a network by one of its lines. The network answers for unknown lines, so it remembers the
 * slowest one. A line that carries less than half lowers the network's window at once, and holds it
 * for as long as lines count as active. */
__noinline int learn_of_network(const struct path_key *of, const struct path_sample *sample,
				u32 is_measured)
{
	struct path fresh = {};
	struct path_key key;
	struct path *path;
	u32 known, window;
	u64 now, until;
	bool is_slow, holds;

	if (!of || !sample)
		return 0;
	key = *of;
	path = bpf_map_lookup_elem(&paths, &key);
	if (!path) {
		fill_path(&fresh, sample);
		return !bpf_map_update_elem(&paths, &key, &fresh, BPF_ANY);
	}
	now = bpf_ktime_get_ns();
	known = aged_window(path, now);
	window = carries(sample, is_measured);
	is_slow = window && window < known / SLOWER_PART;
	holds = is_held(&key, now);
	if (is_slow || (holds && window && window <= path->window * SLOWER_PART)) {
		until = now + ACTIVE_NS;
		bpf_map_update_elem(&held, &key, &until, BPF_ANY);
	}
	if (is_slow) {
		path->rate = sample->rate;
		path->fallbacks_in_row = 0;
		return change_path(path, sample, window, true);
	}
	if (holds && sample->window > known)
		return 0;
	return change_path(path, sample, sample->window, is_measured);
}

/* A line learns of one of its own connections. */
__noinline int learn_of_line(const struct path_key *of, const struct path_sample *sample,
			     u32 is_measured)
{
	struct path fresh = {};
	struct path_key key;
	struct path *path;

	if (!of || !sample)
		return 0;
	key = *of;
	path = bpf_map_lookup_elem(&lines, &key);
	if (path)
		return change_path(path, sample, sample->window, is_measured);
	fill_path(&fresh, sample);
	return !bpf_map_update_elem(&lines, &key, &fresh, BPF_ANY);
}

/* A connection has learnt something of its path. True if its line took the sample. */
static inline bool update_path(const struct path_key *line, const struct path_key *network,
			       const struct path_sample *sample, bool is_measured)
{
	bool is_taken;

	if (!is_whole(sample))
		return false;
	if (!line->bits)
		return learn_of_network(network, sample, is_measured);
	begin_line(line, network);
	is_taken = learn_of_line(line, sample, is_measured);
	learn_of_network(network, sample, is_measured);
	return is_taken;
}

/* Half of the window is remembered, evenly over the round trip; after the second failure in a row
 * no more than a segment. The rate is forgotten if the flight was delivered far more slowly. */
static inline void fail_entry(struct path *path, bool is_slower)
{
	u32 window = path->window;

	/* An atomic add: of two failures at one instant each would be the first otherwise. */
	if (__sync_fetch_and_add(&path->fallbacks_in_row, 1) > 0)
		path->window = 1;
	else
		__sync_val_compare_and_swap(&path->window, window, window / 2);
	if (is_slower)
		path->rate = 0;
}

/* The line is far faster than remembered. */
static inline void forget_rate(const struct path_key *line, const struct path_key *network)
{
	struct path *path;

	begin_line(line, network);
	path = line->bits ? bpf_map_lookup_elem(&lines, line) :
			    bpf_map_lookup_elem(&paths, network);
	if (path)
		path->rate = 0;
}

/* The first flight of a warm start, which `used` has answered, has found the path full. */
static inline void fail_path(const struct path_key *used, const struct path_key *line,
			     const struct path_key *network, bool is_slower)
{
	struct path *path;

	begin_line(line, network);
	path = line->bits ? bpf_map_lookup_elem(&lines, line) : NULL;
	if (path)
		fail_entry(path, is_slower);
	path = used->bits & LINE ? NULL : bpf_map_lookup_elem(&paths, network);
	if (path)
		fail_entry(path, is_slower);
}

#endif
