/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs of others that are attached beside the agent, for tests/kernel/beside.rs. There is one
 * of each kind: one that only watches, one that chooses congestion controls, and a service mesh.
 * The mesh puts sockets into a map and redirects the connections that they open. */
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

/* Connections that have opened, as the first and the last program of the hook sees them. */
u32 seen[2];
/* Sockets that are in the map. */
u32 mapped;
/* The mesh redirects connections to any other port of this number there: in network order. */
u32 to_address;
u32 from_port, to_port;
/* Number of messages that went through the map. */
u32 passed;

enum { SOCKHASH = 18 }; /* BPF_MAP_TYPE_SOCKHASH */

struct {
	__uint(type, SOCKHASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} sockets SEC(".maps");

static inline bool opens(const struct bpf_sock_ops *ops)
{
	return ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB ||
	       ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
}

SEC("sockops")
int watch_first(struct bpf_sock_ops *ops)
{
	if (opens(ops))
		__sync_fetch_and_add(&seen[0], 1);
	return 1;
}

SEC("sockops")
int watch_last(struct bpf_sock_ops *ops)
{
	if (opens(ops))
		__sync_fetch_and_add(&seen[1], 1);
	return 1;
}

SEC("sockops")
int choose(struct bpf_sock_ops *ops)
{
	char reno[TCP_CA_NAME_MAX] = "reno";

	if (opens(ops))
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, reno, sizeof(reno));
	return 1;
}

SEC("sockops")
int map_sockets(struct bpf_sock_ops *ops)
{
	u32 key;

	if (!opens(ops))
		return 1;
	key = __sync_fetch_and_add(&mapped, 1);
	bpf_sock_hash_update((void *)ops, &sockets, &key, BPF_ANY);
	return 1;
}

SEC("sk_msg")
int pass(void *message)
{
	__sync_fetch_and_add(&passed, 1);
	return 1; /* SK_PASS */
}

/* `struct bpf_sock_addr` of include/uapi/linux/bpf.h as far as it is used. */
struct address {
	u32 family;
	u32 ip4;
	u32 ip6[4];
	u32 port;
};

SEC("cgroup/connect4")
int translate(struct address *to)
{
	if (to->port == from_port) {
		to->ip4 = to_address;
		to->port = to_port;
	}
	return 1;
}
