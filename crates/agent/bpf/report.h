/* SPDX-License-Identifier: GPL-2.0-only */
/* `report`: reports to observers of the packets how a connection went, by a TCP option in its FIN
 * (Zhang, Qiu & Keshav 2000 §5.1, the second way of collecting). It is attached only if the
 * operator asks for it.
 *
 * No other segment has the option. A lost FIN is retransmitted without it. So a peer or a middlebox
 * that drops unknown options costs one timeout, after all data has been sent. A network where that
 * happens repeatedly is left alone for a while. */
#ifndef HEADSTART_REPORT_H
#define HEADSTART_REPORT_H

#include "hook.h"
#include "cubic.h"
#include "option.h"
#include "shared.h"

enum { TCP_FIN = 1, TCP_OPTION_SPACE = 40 };
enum tcp_state { TCP_FIN_WAIT1 = 4, TCP_FIN_WAIT2 = 5, TCP_TIME_WAIT = 6, TCP_LAST_ACK = 9 };

/* After this number of undelivered options in a row a network is left alone. */
#define MIN_CHOKED_IN_A_ROW 3
/* After this time it is tried once more. */
#define LEFT_ALONE_NS (3600ULL * 1000 * NS_PER_MS)

/* The fate of options, for connections that had something to report. */
enum reported {
	REPORTED_WRITTEN, /* on the wire */
	REPORTED_PASSED,  /* and acknowledged */
	REPORTED_CHOKED,  /* not acknowledged, and the same FIN without it was; or a reset came */
	REPORTED_SPARED,  /* not written: the network has choked */
	REPORTED_NO_ROOM, /* not written: the FIN is of several segments, or its header is full */
	REPORTED_KINDS,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REPORTED_KINDS);
	__type(key, u32);
	__type(value, u64);
} reported SEC(".maps");

/* Networks on which options did not arrive. */
struct choked {
	u64 last_ns;
	u32 in_row;
	u32 spare;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct path_key);
	__type(value, struct choked);
} choking SEC(".maps");

/* The report of a connection that closes. */
struct due_report {
	u8 bytes[OPTION_BYTES];
	struct path_key path;
	u32 retransmitted; /* when it was written */
	bool is_reserved;  /* the header has room for it */
	bool is_written;
	bool is_alone;	   /* nothing else was outstanding then */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct due_report);
} due_reports SEC(".maps");

static inline void count_reported(u32 what)
{
	u64 *count = bpf_map_lookup_elem(&reported, &what);

	if (count)
		__sync_fetch_and_add(count, 1);
}

/* Copies the flights of a connection from its congestion control's state. */
static inline void flights_of(struct tcp_sock *tp, const struct connection *c, struct flights *f)
{
	char has[TCP_CA_NAME_MAX] = {};

	*f = c->flights;
	bpf_core_read(has, sizeof(has), &tp->inet_conn.icsk_ca_ops->name);
	/* Without the end of the name: also what cold starts begin with. */
	if (has_name(has, "hs_cubic", sizeof("hs_cubic") - 1))
		bpf_probe_read_kernel(f, sizeof(*f), &beside_cubic((struct sock *)tp)->flights);
}

/* Fills the report as crate `agent` does for a gateway; false if the connection has shown
 * nothing. */
static inline bool take_report(struct tcp_sock *tp, const struct connection *c,
			       struct path_report *r)
{
	struct flights f = {};
	u32 segments;

	r->min_rtt_us = tp->rtt_min.s[0].v;
	r->rate = shown_rate(tp, &c->measure);
	r->sent = tp->data_segs_out;
	r->lost = smaller(tp->total_retrans, tp->data_segs_out);
	r->bound = c->history & HAS_STARTED_WARM ? OPTION_OWN_START : OPTION_OVER;
	if (has_failed_as_it_opened(c)) {
		segments = smaller(c->began_with, r->sent - r->lost);
		r->bound = OPTION_LOSS;
	} else if (c->history & HAS_MEASURED) {
		segments = c->learnt;
		r->bound = OPTION_LOSS;
	} else {
		flights_of(tp, c, &f);
		segments = proven_flight(&f, tp);
		/* Members of a session know their common window alone. */
		segments = segments ? segments : c->learnt;
	}
	r->window = (u64)segments * tp->mss_cache;
	return r->window && r->min_rtt_us;
}

static inline bool is_choking(const struct path_key *key)
{
	struct choked *choked = bpf_map_lookup_elem(&choking, key);

	return choked && choked->in_row >= MIN_CHOKED_IN_A_ROW &&
	       bpf_ktime_get_ns() - choked->last_ns < LEFT_ALONE_NS;
}

static inline void note_choked(const struct path_key *key)
{
	struct choked *was = bpf_map_lookup_elem(&choking, key);
	struct choked now = {.last_ns = bpf_ktime_get_ns(), .in_row = was ? was->in_row + 1 : 1};

	count_reported(REPORTED_CHOKED);
	bpf_map_update_elem(&choking, key, &now, BPF_ANY);
}

/* Asks for events of a hooked connection, among them its close. */
static inline void follow(struct bpf_sock_ops *ops, struct tcp_sock *tp)
{
	if (connection_of((struct sock *)tp))
		bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags |
						       BPF_SOCK_OPS_STATE_CB_FLAG);
}

/* The FIN is about to be sent. */
static inline void make_report(struct bpf_sock_ops *ops, struct tcp_sock *tp)
{
	struct connection *c = connection_of((struct sock *)tp);
	struct path_report r = {};
	struct due_report *due;

	if (!c || c->history & HAS_ENDED || !take_report(tp, c, &r))
		return;
	if (is_choking(&c->network)) {
		count_reported(REPORTED_SPARED);
		return;
	}
	due = bpf_sk_storage_get(&due_reports, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!due)
		return;
	option_write(due->bytes, &r);
	due->path = c->network;
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags |
					       BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

static inline void write_no_more(struct bpf_sock_ops *ops)
{
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags &
					       ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/* The kernel asks how much room the header of a segment is to have. No other segment becomes
 * smaller for it: where it does not fit there is none. */
static inline void reserve_report(struct bpf_sock_ops *ops, struct tcp_sock *tp)
{
	struct due_report *due = bpf_sk_storage_get(&due_reports, tp, 0, 0);

	if (!due || due->is_written || !(ops->skb_tcp_flags & TCP_FIN))
		return;
	/* The header may have all other options, too. */
	if (ops->skb_len + TCP_OPTION_SPACE <= tp->mss_cache)
		due->is_reserved = !bpf_reserve_hdr_opt(ops, OPTION_BYTES, 0);
	if (due->is_reserved)
		return;
	count_reported(REPORTED_NO_ROOM);
	write_no_more(ops);
}

static inline void write_report(struct bpf_sock_ops *ops, struct tcp_sock *tp)
{
	struct due_report *due = bpf_sk_storage_get(&due_reports, tp, 0, 0);

	if (!due || !due->is_reserved || due->is_written)
		return;
	if (!bpf_store_hdr_opt(ops, due->bytes, OPTION_BYTES, 0)) {
		due->is_written = true;
		/* The FIN counts by now. */
		due->is_alone = tp->write_seq - tp->snd_una <= 1;
		due->retransmitted = tp->total_retrans;
		count_reported(REPORTED_WRITTEN);
	}
	write_no_more(ops);
}

/* Judges the option when the FIN is acknowledged, or the connection is over. If the peer is gone,
 * there is no result: segments without the option are lost, too. */
static inline void judge_report(struct bpf_sock_ops *ops, struct tcp_sock *tp, u32 state)
{
	struct due_report *due = bpf_sk_storage_get(&due_reports, tp, 0, 0);
	bool is_acked = tp->write_seq == tp->snd_una;
	bool is_again;

	if (!due || !due->is_written)
		return;
	is_again = tp->total_retrans != due->retransmitted;
	if (is_acked && !is_again) {
		count_reported(REPORTED_PASSED);
		bpf_map_delete_elem(&choking, &due->path);
	}
	/* If other segments were outstanding, the retransmission need not be of the FIN. */
	if ((is_acked && is_again && due->is_alone) ||
	    (!is_acked && !is_again && state == BPF_TCP_CLOSE))
		note_choked(&due->path);
	due->is_written = false;
	due->is_reserved = false;
}

static inline void on_state(struct bpf_sock_ops *ops, struct tcp_sock *tp, u32 state)
{
	if (state == TCP_FIN_WAIT1 || state == TCP_LAST_ACK)
		make_report(ops, tp);
	if (state == TCP_FIN_WAIT2 || state == TCP_TIME_WAIT || state == BPF_TCP_CLOSE)
		judge_report(ops, tp, state);
}

SEC("sockops")
int report(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	struct tcp_sock *tp;

	if (!sk)
		return 1;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 1;
	if (has_opened(ops))
		follow(ops, tp);
	if (ops->op == BPF_SOCK_OPS_STATE_CB)
		on_state(ops, tp, ops->args[1]);
	if (ops->op == BPF_SOCK_OPS_HDR_OPT_LEN_CB)
		reserve_report(ops, tp);
	if (ops->op == BPF_SOCK_OPS_WRITE_HDR_OPT_CB)
		write_report(ops, tp);
	return 1;
}

#endif
