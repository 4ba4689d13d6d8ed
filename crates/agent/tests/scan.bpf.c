/* SPDX-License-Identifier: GPL-2.0-only */
/* A test's: teaches the agent's memory what connections from very many prefixes would, by the
 * agent's own code. */
#include "paths.h"

struct scan {
	u32 first; /* prefixes 0.0.first.0/24 and following, through all IPv4 addresses */
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
	struct path_key no_line = {};

	key.address[2] = __builtin_bswap32(0xffff);
	key.address[3] = __builtin_bswap32((t->first + n) << 8);
	update_path(&no_line, &key, &sample, false);
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

/* Two processors do something to one path at one instant, time and again. */
struct together {
	u64 now_ns; /* the same for both */
	u32 side;   /* 0 or 1 */
	u32 rounds;
	u32 halves; /* both have lost something; otherwise both have learnt something */
	u32 netns;
	/* rounds in which two updates met, and the number of those with a wrong result */
	u32 met;
	u32 wrong;
};

u64 arrived;

#define OLD_NS (300ULL * 1000000000)
#define OLD_WINDOW 200
#define YOUNG_WINDOW 20

struct meeting {
	u64 all;
	u64 gives_up_ns;
};

static long wait(u32 n, struct meeting *m)
{
	return *(volatile u64 *)&arrived >= m->all ||
	       (n % 1024 == 1023 && bpf_ktime_get_ns() > m->gives_up_ns);
}

static long idle(u32 n, void *nothing)
{
	barrier();
	return 0;
}

/* Until both have come here so often, and a moment that is not the same for both; false if the
 * other one does not. */
static bool meet(u64 *times)
{
	struct meeting m = {.all = (*times += 2), .gives_up_ns = bpf_ktime_get_ns() + 1000000000};

	__sync_fetch_and_add(&arrived, 1);
	bpf_loop(1 << 23, wait, &m, 0);
	bpf_loop(bpf_get_prandom_u32() & 63, idle, NULL, 0);
	return *(volatile u64 *)&arrived >= m.all;
}

struct course {
	struct path_key key;
	struct path_key no_line;
	struct together asked;
	u64 times;
};

/* A window of 200 from long ago, or of 20 from now. */
static bool is_one_or_the_other(const struct path *path, u64 now_ns)
{
	if (path->window == OLD_WINDOW)
		return path->learnt_ns == now_ns - OLD_NS && path->srtt_us == OLD_WINDOW;
	return path->window == YOUNG_WINDOW && path->learnt_ns == now_ns &&
	       path->srtt_us == YOUNG_WINDOW;
}

static bool went_wrong(const struct course *c)
{
	struct path *path = bpf_map_lookup_elem(&paths, &c->key);

	/* The second failure in a row leaves one segment. */
	if (c->asked.halves)
		return !path || path->window != 1;
	return !path || !is_one_or_the_other(path, c->asked.now_ns);
}

static long go_round(u32 n, struct course *c)
{
	struct path started = {
		.learnt_ns = c->asked.now_ns, .window = 64, .srtt_us = 1, .min_rtt_us = 1};
	u32 window = c->asked.side ? OLD_WINDOW : YOUNG_WINDOW;
	struct path_sample sample = {.at_ns = c->asked.now_ns - (c->asked.side ? OLD_NS : 0),
				     .window = window, .srtt_us = window, .min_rtt_us = window};

	if (!c->asked.side)
		bpf_map_update_elem(&paths, &c->key, &started, BPF_ANY);
	if (!meet(&c->times))
		return 1;
	if (c->asked.halves)
		fail_path(&c->key, &c->no_line, &c->key, true);
	else
		update_path(&c->no_line, &c->key, &sample, true);
	if (!meet(&c->times))
		return 1;
	c->asked.met += 1;
	c->asked.wrong += went_wrong(c);
	return !meet(&c->times);
}

SEC("syscall")
int together(struct together *asked)
{
	struct course c = {.asked = *asked, .key = {.netns = asked->netns, .bits = V4_MAPPED + 24}};

	c.key.address[2] = __builtin_bswap32(0xffff);
	bpf_loop(c.asked.rounds, go_round, &c, 0);
	asked->met = c.asked.met;
	asked->wrong = c.asked.wrong;
	return 0;
}
