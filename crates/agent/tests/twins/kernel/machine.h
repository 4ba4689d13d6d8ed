/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel as far as `hs_cubic` uses it: maps, socket options, a clock, and a stock CUBIC whose
 * windows come from the events that are played. No decision of the agent is made here. */
#ifndef TWIN_MACHINE_H
#define TWIN_MACHINE_H

#include "hook.h"
#include "cubic.h"

/* The kernel's state of a connection, and the answers of its stock CUBIC to the present event. */
struct machine_socket {
	struct tcp_sock tp; /* first: the programs cast it */
	struct net net;
	u32 grown;	    /* window after `cubictcp_cong_avoid`, segments */
	u32 stock_ssthresh; /* of `cubictcp_recalc_ssthresh`, segments */
};

/* The entry of a map; its value follows. */
struct machine_entry {
	struct machine_entry *next;
	const void *map;
	size_t key_size;
	unsigned char key[40];
	_Alignas(16) unsigned char value[];
};

static struct machine_entry *machine_entries;
static u64 machine_now_ns;
bool machine_has_tx_start;

static void machine_forget_all(void)
{
	while (machine_entries) {
		struct machine_entry *gone = machine_entries;

		machine_entries = gone->next;
		free(gone);
	}
}

static struct machine_entry **machine_slot(const void *map, const void *key, size_t key_size)
{
	struct machine_entry **at = &machine_entries;

	while (*at && ((*at)->map != map || memcmp((*at)->key, key, key_size)))
		at = &(*at)->next;
	return at;
}

void *machine_find(const void *map, const void *key, size_t key_size)
{
	struct machine_entry *entry = *machine_slot(map, key, key_size);

	return entry ? entry->value : NULL;
}

static struct machine_entry *machine_add(const void *map, const void *key, size_t key_size,
					 size_t value_size)
{
	struct machine_entry *entry = calloc(1, sizeof(*entry) + value_size);

	if (!entry || key_size > sizeof(entry->key))
		abort();
	entry->map = map;
	entry->key_size = key_size;
	memcpy(entry->key, key, key_size);
	entry->next = machine_entries;
	machine_entries = entry;
	return entry;
}

long machine_update(const void *map, const void *key, size_t key_size, const void *value,
		    size_t value_size, u64 flags)
{
	struct machine_entry *entry = *machine_slot(map, key, key_size);

	if (entry && flags == BPF_NOEXIST)
		return -1;
	if (!entry)
		entry = machine_add(map, key, key_size, value_size);
	memcpy(entry->value, value, value_size);
	return 0;
}

void *machine_storage(const void *map, const void *sk, size_t value_size, u64 flags)
{
	struct machine_entry *entry = *machine_slot(map, &sk, sizeof(sk));

	if (!entry && flags & BPF_SK_STORAGE_GET_F_CREATE)
		entry = machine_add(map, &sk, sizeof(sk), value_size);
	return entry ? entry->value : NULL;
}

/* The socket goes, and with it what programs have stored of it. */
static void machine_destroy(const void *map, const void *sk)
{
	struct machine_entry **at = machine_slot(map, &sk, sizeof(sk)), *gone = *at;

	if (!gone)
		return;
	*at = gone->next;
	free(gone);
}

u64 bpf_ktime_get_ns(void)
{
	return machine_now_ns;
}

/* Jitter of handshake timers alone, which no event here has. */
u32 bpf_get_prandom_u32(void)
{
	return 0;
}

/* Room for one record. No test reads summaries, decisions or inquiries here. */
static union {
	struct summary summary;
	struct decision decision;
	struct inquiry inquiry;
} machine_record;

void *bpf_ringbuf_reserve(void *ring, u64 size, u64 flags)
{
	return size <= sizeof(machine_record) && !flags ? &machine_record : NULL;
}

void bpf_ringbuf_submit(void *record, u64 flags)
{
}

void *bpf_skc_to_tcp_sock(void *sk)
{
	return sk;
}

void *bpf_cast_to_kern_ctx(void *ctx)
{
	static struct bpf_sock_ops_kern kernels;

	kernels.sk = (struct sock *)((struct bpf_sock_ops *)ctx)->sk;
	return &kernels;
}

static const struct tcp_congestion_ops machine_cubic = {.name = "cubic"};

/* tcp_set_congestion_control: the old one is released, and what it kept is zeroed. */
static long machine_set_control(struct tcp_sock *tp, const char *name)
{
	const struct tcp_congestion_ops *ops = tp->inet_conn.icsk_ca_ops;

	if (ops->release)
		ops->release((struct sock *)tp);
	ops = !strcmp(name, "hs_cubic") ? &hs_cubic : &hs_cubic_start;
	tp->inet_conn.icsk_ca_ops = ops;
	memset(tp->inet_conn.icsk_ca_priv, 0, sizeof(tp->inet_conn.icsk_ca_priv));
	ops->init((struct sock *)tp);
	return 0;
}

/* sk_setsockopt: a limit switches pacing on, and lowers the rate at once. */
static long machine_limit_pacing(struct sock *sk, u32 rate)
{
	sk->sk_max_pacing_rate = rate == ~0U ? ~0UL : rate;
	if (rate != ~0U && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	if (sk->sk_pacing_rate > sk->sk_max_pacing_rate)
		sk->sk_pacing_rate = sk->sk_max_pacing_rate;
	return 0;
}

/* The context of the program of sockops that runs. It sets options of its socket. */
static const void *machine_context;

long bpf_setsockopt(void *on, int level, int option, void *value, int size)
{
	void *sk = on == machine_context ? ((struct bpf_sock_ops *)on)->sk : on;
	u32 number = 0;

	if (level == IPPROTO_TCP && option == TCP_CONGESTION)
		return machine_set_control(sk, value);
	if (level != SOL_SOCKET || option != SO_MAX_PACING_RATE || size != sizeof(number))
		return -1;
	memcpy(&number, value, sizeof(number));
	return machine_limit_pacing(sk, number);
}

long bpf_getsockopt(void *on, int level, int option, void *value, int size)
{
	return -1;
}

void cubictcp_init(struct sock *sk)
{
}

u32 cubictcp_recalc_ssthresh(struct sock *sk)
{
	return ((struct machine_socket *)sk)->stock_ssthresh;
}

void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	((struct tcp_sock *)sk)->snd_cwnd = ((struct machine_socket *)sk)->grown;
}

void cubictcp_state(struct sock *sk, u8 new_state)
{
}

void cubictcp_acked(struct sock *sk, const struct ack_sample *sample)
{
}

void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
}

void cubictcp_cwnd_event_tx_start(struct sock *sk)
{
}

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

#endif
