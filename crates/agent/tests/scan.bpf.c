/* SPDX-License-Identifier: GPL-2.0-only */
/* A test's: teaches the agent's memory what connections from very many prefixes would, by the
 * agent's own code. */
#include "paths.h"

struct scan {
	u32 first; /* prefixes 0.0.first.0/24 and on, counted through all IPv4 addresses */
	u32 count;
	u32 netns;
};

struct teaching {
	u64 now_ns;
	u32 first;
	u32 netns;
};

static long teach(u32 n, struct teaching *t)
{
	struct path_key key = {.netns = t->netns, .bits = V4_MAPPED + 24};
	struct path_sample sample = {.at_ns = t->now_ns, .window = 40, .srtt_us = 80000,
				     .min_rtt_us = 80000};

	key.address[2] = __builtin_bswap32(0xffff);
	key.address[3] = __builtin_bswap32((t->first + n) << 8);
	update_path(&key, &sample, false);
	return 0;
}

SEC("syscall")
int scan(struct scan *asked)
{
	struct teaching t = {.now_ns = bpf_ktime_get_ns(), .first = asked->first, .netns =
			     asked->netns};

	bpf_loop(asked->count, teach, &t, 0);
	return 0;
}
