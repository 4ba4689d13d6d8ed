/* SPDX-License-Identifier: GPL-2.0-only */
/* `attend`: gives the connections of a cgroup our congestion control as they open, and counts
 * those whose handshakes begin. `leave`: has it give none. */
#ifndef HEADSTART_HOOK_H
#define HEADSTART_HOOK_H

#include "canary.h"
#include "inquiry.h"
#include "reserve.h"
#include "timers.h"

/* The operator's rules for ports, by side and number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	/* twice the largest number of rules: the old ones beside the new ones */
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, u32);
} ports SEC(".maps");

/* `leave` puts this into the hook's answer, which the kernel does not read. It is for programs of
 * parent cgroups, which run after those of their children. */
#define LEAVE_ALONE 0x68736c76

static inline bool has_opened(const struct bpf_sock_ops *ops)
{
	return ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB ||
	       ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
}

/* Whether the operator's rules for its local and remote port include the connection. */
static inline bool matches_ports(const struct sock *sk)
{
	u32 local = sk->__sk_common.skc_num;
	u32 remote = PORT_REMOTE | __builtin_bswap16(sk->__sk_common.skc_dport);
	u32 *of_local = bpf_map_lookup_elem(&ports, &local);
	u32 *of_remote = bpf_map_lookup_elem(&ports, &remote);
	u32 given = (of_local ? *of_local : 0) | (of_remote ? *of_remote : 0);

	if (given & PORT_EXCEPT)
		return false;
	return given & PORT_ONLY || !(settings.flags & ONLY_PORTS);
}

static inline bool has_name(const char has[TCP_CA_NAME_MAX], const char *name, u32 length)
{
	for (u32 i = 0; i < length; i++)
		if (has[i] != name[i])
			return false;
	return true;
}

/* The congestion control that a socket with `has` gets. */
static inline enum control control_for(const char has[TCP_CA_NAME_MAX])
{
	if (settings.control != CONTROL_AUTO)
		return settings.control;
	if (has_name(has, "cubic", sizeof("cubic")))
		return CONTROL_CUBIC;
	if (has_name(has, "bbr", sizeof("bbr")))
		return CONTROL_BBR;
	return CONTROL_AUTO;
}

/* A member of a session uses the window that others leave. So a connection that is to stay stock,
 * and is only measured, gets no session but `hs_cubic`. */
static inline enum control control_unless_stock(enum control control, const struct tcp_sock *tp)
{
	return control == CONTROL_SESSION && stays_stock(tp) ? CONTROL_CUBIC : control;
}

static inline void give(struct bpf_sock_ops *ops, enum control control)
{
	char cubic[TCP_CA_NAME_MAX] = "hs_cubic", start[TCP_CA_NAME_MAX] = "hs_cubic_start";
	char bbr[TCP_CA_NAME_MAX] = "hs_bbr", session[TCP_CA_NAME_MAX] = "hs_session";

	/* If the congestion control is not loaded, the socket keeps its own. */
	if (control == CONTROL_CUBIC && settings.flags & PACE_COLD)
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, start, sizeof(start));
	else if (control == CONTROL_CUBIC)
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, cubic, sizeof(cubic));
	if (control == CONTROL_BBR)
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, bbr, sizeof(bbr));
	if (control == CONTROL_SESSION)
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, session, sizeof(session));
}

/* Returns the socket of a newly opened connection that the agent hooks, and its destination in
 * `to`; NULL if it leaves the connection alone. Applications that chose a congestion control
 * themselves keep it. */
static inline struct tcp_sock *hooked(struct bpf_sock_ops *ops, struct destination *to)
{
	struct bpf_sock *sk = ops->sk;
	struct tcp_sock *tp;

	if (!has_opened(ops) || ops->reply == LEAVE_ALONE || !sk)
		return NULL;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_setsockopt))
		return NULL;
	if (!matches_ports((struct sock *)tp) || !destination_of((struct sock *)tp, to) || !to->cap)
		return NULL;
	return tp;
}

/* Counts pending handshakes: the kernel asks for the timeout when a SYN is received, or about to be
 * sent. Connections that are left alone later count, too. */
static inline void count_handshakes(struct bpf_sock_ops *ops)
{
	struct bpf_sock_ops_kern *kernels;
	struct destination to = {};
	struct path_key key;
	struct sock *sk;

	if (ops->op != BPF_SOCK_OPS_TIMEOUT_INIT || !bpf_ksym_exists(bpf_cast_to_kern_ctx))
		return;
	/* Programs are shown no socket before there is a whole one. */
	kernels = bpf_cast_to_kern_ctx(ops);
	sk = kernels->sk;
	if (sk && matches_ports(sk) && destination_of(sk, &to) && to.cap) {
		key_in_use(&to, &key);
		begin_handshake(&key);
		inquire(&to.path, INQUIRY_HANDSHAKE);
		choose_handshake_timer(ops, sk, &to.path);
	}
}

SEC("sockops")
int attend(struct bpf_sock_ops *ops)
{
	char has[TCP_CA_NAME_MAX] = {};
	struct destination to = {};
	struct tcp_sock *tp = hooked(ops, &to);

	count_handshakes(ops);
	if (!tp)
		return 1;
	bpf_core_read(has, sizeof(has), &tp->inet_conn.icsk_ca_ops->name);
	give(ops, control_unless_stock(control_for(has), tp));
	choose_least_timeout(ops, tp);
	learn_answer(tp, &to.path);
	return 1;
}

/* Attached to a cgroup whose connections are left alone, whatever applies to its parents. */
SEC("sockops")
int leave(struct bpf_sock_ops *ops)
{
	if (has_opened(ops) || ops->op == BPF_SOCK_OPS_TCP_CONNECT_CB)
		ops->reply = LEAVE_ALONE;
	if (ops->op == BPF_SOCK_OPS_TIMEOUT_INIT && !ops->reply)
		ops->reply = KEEP_TIMER;
	return 1;
}

#endif
