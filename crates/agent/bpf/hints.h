/* SPDX-License-Identifier: GPL-2.0-only */
/* Hints of applications for a socket (include/headstart.h): received as socket options that the
 * kernel does not know, kept beside the socket, applied when it starts to send. */
#ifndef HEADSTART_HINTS_H
#define HEADSTART_HINTS_H

#include "connection.h"

enum { EINVAL = 22, MAX_BUFFER = 4096 };

static inline u32 weight_of(const struct hints *given)
{
	return given && given->weight ? given->weight : 1;
}

static inline int refuse(int error)
{
	bpf_set_retval(-error);
	return 0;
}

static inline bool is_ours(const struct bpf_sockopt *ctx)
{
	if (ctx->level != IPPROTO_TCP)
		return false;
	if (ctx->optname != HEADSTART_SIZE && ctx->optname != HEADSTART_WEIGHT)
		return false;
	return ctx->sk && ctx->sk->protocol == IPPROTO_TCP;
}

/* Does not let the kernel see it. */
static inline int set_option(struct bpf_sockopt *ctx)
{
	u32 *value = ctx->optval;
	struct hints *given;

	if (ctx->optlen < (s32)sizeof(*value) || (void *)(value + 1) > ctx->optval_end)
		return refuse(EINVAL);
	if (ctx->optname == HEADSTART_WEIGHT && (!*value || *value > HEADSTART_MAX_WEIGHT))
		return refuse(EINVAL);
	given = bpf_sk_storage_get(&hints, ctx->sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!given)
		return refuse(EINVAL);
	if (ctx->optname == HEADSTART_WEIGHT) {
		given->weight = *value;
		__sync_fetch_and_add(&weights_set, 1);
	} else {
		given->size = *value;
		__sync_fetch_and_add(&sizes_set, 1);
	}
	ctx->optlen = -1;
	return 1;
}

SEC("cgroup/setsockopt")
int hs_setsockopt(struct bpf_sockopt *ctx)
{
	if (is_ours(ctx))
		return set_option(ctx);
	/* An option larger than the kernel's copy for us passes unchanged. */
	if (ctx->optlen > MAX_BUFFER)
		ctx->optlen = 0;
	return 1;
}

static inline void describe_path(struct bpf_sock *sk, struct headstart_path *shown)
{
	struct connection *c = bpf_sk_storage_get(&connections, sk, 0, 0);
	struct path *path;
	u64 now = bpf_ktime_get_ns();

	if (!c)
		return;
	shown->flags = HEADSTART_ATTENDED | (c->first ? HEADSTART_WARM : 0) |
		       (c->history & HAS_FALLEN_BACK ? HEADSTART_FELL_BACK : 0);
	shown->first_window = c->first ? c->first : c->cold;
	path = find_path(&c->path);
	if (!path || now < path->learnt_ns)
		return;
	shown->remembered = path->window;
	shown->believed = now - path->learnt_ns > settings.max_age_ns ? 0 : aged_window(path, now);
	shown->srtt_us = path->srtt_us;
	shown->min_rtt_us = path->min_rtt_us;
	shown->age_ms = (now - path->learnt_ns) / NS_PER_MS;
}

#define WORDS (sizeof(struct headstart_path) / sizeof(u32))

/* Writes as much of the path as the caller's buffer holds. */
static inline void show(struct bpf_sockopt *ctx, const struct headstart_path *path)
{
	const u32 *from = (const u32 *)path;
	u32 *to = ctx->optval;
	u32 i;

#pragma clang loop unroll(full)
	for (i = 0; i < WORDS; i++) {
		if ((void *)(to + i + 1) > ctx->optval_end)
			break;
		to[i] = from[i];
	}
	ctx->optlen = i * sizeof(u32);
}

static inline int get_option(struct bpf_sockopt *ctx)
{
	struct headstart_path path = {};
	struct hints *given;
	u32 *weight = ctx->optval;

	given = bpf_sk_storage_get(&hints, ctx->sk, 0, 0);
	path.weight = weight_of(given);
	if (ctx->optname == HEADSTART_WEIGHT) {
		if ((void *)(weight + 1) > ctx->optval_end)
			return refuse(EINVAL);
		*weight = path.weight;
		ctx->optlen = sizeof(u32);
	} else {
		path.size = given ? given->size : 0;
		describe_path(ctx->sk, &path);
		show(ctx, &path);
	}
	ctx->retval = 0;
	return 1;
}

SEC("cgroup/getsockopt")
int hs_getsockopt(struct bpf_sockopt *ctx)
{
	if (is_ours(ctx))
		return get_option(ctx);
	if (ctx->optlen > MAX_BUFFER)
		ctx->optlen = 0;
	return 1;
}

#endif
