/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides which connections stay stock: a control group chosen by chance, connections outside of
 * the canary's share, and classes that warm starts are known to harm. Also looks up the memory for
 * a connection when it opens, before any of these decisions. */
#ifndef HEADSTART_CANARY_H
#define HEADSTART_CANARY_H

#include "paths.h"

#define PER_MILLION 1000000

/* All bits depend on all (MurmurHash3's finaliser). */
static inline u32 scrambled(u32 bits)
{
	bits = (bits ^ bits >> 16) * 0x85ebca6b;
	bits = (bits ^ bits >> 13) * 0xc2b2ae35;
	return bits ^ bits >> 16;
}

/* All bits of its addresses and ports. */
static inline u32 hash_of(const struct sock *sk)
{
	const struct sock_common *common = &sk->__sk_common;
	__be32 address[4] = {};
	u32 hash = settings.salt;

	remote_of(sk, address);
	hash = scrambled(hash ^ address[0] ^ common->skc_dport);
	hash = scrambled(hash ^ address[1] ^ common->skc_num);
	hash = scrambled(hash ^ address[2]);
	hash = scrambled(hash ^ address[3]);
	return hash;
}

/* The connection's lot, a number below a million by its addresses and ports, so that chance decides
 * and not its behaviour. It does not change as the canary's share grows: a connection that was in
 * stays in. */
static inline u32 lot_of(const struct sock *sk)
{
	return (u64)hash_of(sk) * PER_MILLION >> 32;
}

static inline bool is_control_lot(u32 lot)
{
	return lot < settings.control_group;
}

static inline bool is_outside_lot(u32 lot)
{
	return lot >= settings.control_group && lot - settings.control_group >= settings.canary;
}

/* Draws the control group by chance, for each connection. The draw differs also where addresses and
 * ports repeat, since the initial sequence number differs then (RFC 6528). So no group is drawn
 * before the connection is open, and nothing in a handshake can depend on the group. */
static inline bool is_of_control_group(const struct tcp_sock *tp)
{
	u32 whole = settings.control_group + settings.canary;
	u32 hash = scrambled(hash_of((const struct sock *)tp) ^ tp->snd_una);

	whole = whole < PER_MILLION ? whole : PER_MILLION;
	return (u64)hash * whole >> 32 < settings.control_group;
}

/* A connection that has opened. */
static inline bool stays_stock(const struct tcp_sock *tp)
{
	return settings.flags & LEAVE_WINDOWS || is_outside_lot(lot_of((const struct sock *)tp)) ||
	       is_of_control_group(tp);
}

/* A connection that is to open. A share as large as the control group has a stock handshake; it is
 * drawn apart from that group, so as many connections of both groups have one. */
static inline bool opens_stock(const struct sock *sk)
{
	u32 lot = lot_of(sk);

	return settings.flags & LEAVE_WINDOWS || is_control_lot(lot) || is_outside_lot(lot);
}

static inline u32 window_class(u32 window)
{
	u32 class = 0;

	for (u32 most = WINDOW_CLASS; class < WINDOW_CLASSES - 1 && window > most; most *= 2)
		class++;
	return class;
}

static inline u32 length_index(const struct path_key *path)
{
	bool is_v4 = path->bits >= V4_MAPPED && is_v4_mapped(path->address);

	return is_v4 ? LENGTH_V4 + path->bits - V4_MAPPED : path->bits;
}

/* Networks to which warm starts did harm. Their namespace is 0: they are stopped in all. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, struct path_key);
	__type(value, u32);
} stopped_networks SEC(".maps");

/* The class of `value` among bounds that begin with `most` and are four times as large each. */
static inline u32 class_by_four(u64 value, u64 most, u32 classes)
{
	u32 class = 0;

	for (; class < classes - 1 && value > most; most *= 4)
		class++;
	return class;
}

/* Returns the means of bytes carried and segments retransmitted by a path's earlier connections, as
 * bits: CARRIED_BITS and LOST_BITS have one for each class. It is known before the draw and
 * independent of it. Not static: so the verifier follows it once only. */
__noinline u32 past_of(const struct path_key *asked)
{
	struct path_key key;
	struct path *path;
	u32 carried = 0, lost = 0;

	if (!asked)
		return 0;
	key = *asked;
	path = bpf_map_lookup_elem(&paths, &key);
	if (path && path->connections)
		carried = class_by_four(path->bytes_acked / path->connections, SIZE_CLASS,
					SIZE_CLASSES);
	if (path && path->sent)
		lost = class_by_four(path->retransmitted * 1000, path->sent * LOSS_CLASS,
				     LOSS_CLASSES);
	return 1 << (CARRIED_BITS + carried) | 1 << (LOST_BITS + lost);
}

static inline bool is_stopped_network(const struct path_key *path)
{
	struct path_key key;

	if (!(settings.flags & STOP_NETWORKS))
		return false;
	key = *path;
	key.netns = 0;
	return bpf_map_lookup_elem(&stopped_networks, &key);
}

/* Whether all connections, or those of this path's kind and window, are stopped. Not static: see
 * past_of. */
__noinline u32 is_stopped(const struct path_key *path, u32 window)
{
	u32 index;

	if (!path)
		return false;
	index = length_index(path);
	return settings.flags & LEAVE_WINDOWS ||
	       settings.stopped_windows >> window_class(window) & 1 ||
	       settings.stopped_lengths[index / 32 & 7] >> index % 32 & 1 ||
	       (settings.stopped_pasts && settings.stopped_pasts & past_of(path)) ||
	       is_stopped_network(path);
}

/* With `enum start`, in place of a window. */
#define COLD_FOR (1U << 31)

/* Looks up the window in memory for a connection whose first round trip took `rtt_us`. A cold start
 * would have `cold` segments of `mss` bytes; the window is at most `cap`. Returns COLD_FOR and the
 * reason if there is none. Other connections' starts have no influence, so the result is
 * independent of the draw. Not static: see finish_handshake. */
__noinline u32 recall(const struct path_key *asked, u32 rtt_us, u32 cold, u32 mss, u32 cap)
{
	struct path_key key;
	struct path *path;
	u64 now;
	u32 window;

	if (!asked)
		return COLD_FOR | START_UNKNOWN;
	key = *asked;
	path = find_path(&key);
	if (!path)
		return COLD_FOR | START_UNKNOWN;
	now = bpf_ktime_get_ns();
	if (now - path->learnt_ns > settings.max_age_ns)
		return COLD_FOR | START_OLD;
	if (!same_round_trip(rtt_us, path->min_rtt_us))
		return COLD_FOR | START_ROUND_TRIP;
	window = estimate_of(path, now, rtt_us, mss);
	window = window < cap ? window : cap;
	return window > cold ? window : COLD_FOR | START_SMALL;
}

#endif
