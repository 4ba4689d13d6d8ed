/* SPDX-License-Identifier: GPL-2.0-only */
/* Retransmission timers on known paths, if the operator asks for them. They are the timeout of a
 * SYN or SYN-ACK (by default a second, RFC 6298 §2.1), and the minimum timeout of data (200 ms). */
#ifndef HEADSTART_TIMERS_H
#define HEADSTART_TIMERS_H

#include "canary.h"
#include "reserve.h"

#define NS_PER_S 1000000000ULL

/* The kernel's answer to a timer below 1 is its own, so this changes nothing but what programs of
 * cgroups above see. */
#define KEEP_TIMER (-1)

enum { TCP_NEW_SYN_RECV = 12 };

/* Handshakes with a timer shorter than the kernel's, by the source of the expected time. */
enum timed {
	TIMED_BY_MEMORY,
	TIMED_BY_HANDSHAKE, /* the last one of a path that is not remembered */
	TIMED_KINDS,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TIMED_KINDS);
	__type(key, u32);
	__type(value, u64);
} timed SEC(".maps");

static inline void count_timed(u32 by)
{
	u64 *count = bpf_map_lookup_elem(&timed, &by);

	if (count)
		__sync_fetch_and_add(count, 1);
}

/* A SYN has come, and there is a whole socket only when the handshake has ended. */
static inline bool is_request(const struct sock *sk)
{
	return sk->__sk_common.skc_state == TCP_NEW_SYN_RECV;
}

/* Returns the ticks of a second. The kernel counts time in ticks, and programs do not know their
 * length. But a socket's first timeout is a second, and sockets that listen or are about to open
 * still have it (TCP_TIMEOUT_INIT, include/net/tcp.h). */
static inline u32 ticks_of_second(const struct sock *sk)
{
	const void *whole = is_request(sk) ? (const void *)sk->__sk_common.skc_listener : sk;
	u32 ticks = 0;

	bpf_core_read(&ticks, sizeof(ticks), &((struct inet_connection_sock *)whole)->icsk_rto);
	return ticks;
}

/* Keeps the time after which an unanswered connection attempt ends: with shorter timers there are
 * more SYNs. False if the application has chosen a number of SYNs. */
static inline bool keep_patience(struct bpf_sock_ops *ops, struct sock *sk, u32 wait_us)
{
	int count = sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_syn_retries;
	u8 chosen = 0;

	bpf_core_read(&chosen, sizeof(chosen),
		      &((struct inet_connection_sock *)sk)->icsk_syn_retries);
	count += doublings_to_second(wait_us);
	return !chosen && !bpf_setsockopt(ops, IPPROTO_TCP, TCP_SYNCNT, &count, sizeof(count));
}

/* A handshake with the path has ended. Connections that open next may learn from it how long an
 * answer takes: of a first visit nothing else is known before its first connection closes. */
static inline void learn_answer(const struct tcp_sock *tp, const struct path_key *key)
{
	u32 took_us = tp->srtt_us >> 3;
	struct account *of;

	if (!(settings.flags & KNOWN_TIMER) || !took_us)
		return;
	of = account_of(key);
	if (of)
		of->answer = bpf_ktime_get_ns() / NS_PER_S << 32 | took_us;
}

/* The smoothed round trip of a path that is not remembered, by its last handshake, microseconds; 0:
 * not known. A timer is twice that, and after a single measurement three times it (RFC 6298
 * §2.2). */
static inline u32 last_answer_us(const struct path_key *key, u64 now)
{
	struct account *of = bpf_map_lookup_elem(&accounts, key);
	u64 answer = of ? of->answer : 0;
	u32 took_us = answer, since_s = (u32)(now / NS_PER_S) - (u32)(answer >> 32);

	if (!took_us || took_us > US_PER_S || since_s * NS_PER_S > settings.max_age_ns)
		return 0;
	return took_us + took_us / 2;
}

/* Remembered, and not too old to be believed. */
static inline bool is_remembered(const struct path *path, u64 now)
{
	return path && now - path->learnt_ns <= settings.max_age_ns;
}

/* The smoothed round trip of the path by all that is known, microseconds; 0: nothing is. */
static inline u32 known_round_trip_us(const struct path_key *key)
{
	struct path *path = bpf_map_lookup_elem(&paths, key);
	u64 now = bpf_ktime_get_ns();

	return is_remembered(path, now) ? path->srtt_us : last_answer_us(key, now);
}

/* A handshake begins with a timer of ours. The memory is asked again: with two ways here, the
 * verifier would follow all between twice. */
static inline void count_timed_handshake(const struct path_key *key)
{
	struct path *path = bpf_map_lookup_elem(&paths, key);

	count_timed(is_remembered(path, bpf_ktime_get_ns()) ? TIMED_BY_MEMORY :
							      TIMED_BY_HANDSHAKE);
}

/* The kernel asks how long to wait for the answer to a SYN, or SYN-ACK, of this path. */
static inline void choose_handshake_timer(struct bpf_sock_ops *ops, struct sock *sk,
					  const struct path_key *key)
{
	u32 wait_us, second;

	if (!(settings.flags & KNOWN_TIMER) || ops->reply || opens_stock(sk))
		return;
	wait_us = handshake_wait(known_round_trip_us(key), bpf_get_prandom_u32());
	second = ticks_of_second(sk);
	if (!wait_us || wait_us >= US_PER_S || !second)
		return;
	/* At a retransmission of the SYN the kernel asks again: by then a number of SYNs is
	 * chosen. */
	if (!is_request(sk) && !keep_patience(ops, sk, wait_us))
		return;
	ops->reply = (u32)(wait_us * (u64)second / US_PER_S) + 1;
	count_timed_handshake(key);
}

/* A connection has opened, and may be other than stock. */
static inline void choose_least_timeout(struct bpf_sock_ops *ops, const struct tcp_sock *tp)
{
	u32 least_us = settings.rto_min_us;

	if (least_us && !stays_stock(tp))
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_BPF_RTO_MIN, &least_us, sizeof(least_us));
}

#endif
