/* SPDX-License-Identifier: GPL-2.0-only */
/* Plays events, which it reads, to `hs_cubic` and `hs_cubic_start`, and writes what they made of
 * each. Records of both are 64-bit words of this machine; ../decisions/event.rs has the same. */
#include <stdint.h>
#include <stdio.h>
#include "machine.h"

enum kind {
	RESET,
	HANDSHAKE,
	OPEN,
	START,
	SENDING,
	ARRIVAL,
	REPAIR,
	LOSS,
	RETRANSMISSION, /* when nothing is under way: TX_START in recovery */
	IDLE,
	CLOSE
};

/* The state of a connection when something happens, after the kernel has noted that and before it
 * calls its congestion control. */
struct event {
	u64 kind;
	u64 connection;
	u64 now_us;
	u64 address; /* IPv4, host order */
	u64 mss;
	u64 is_paced; /* at a SYN: by the application */
	u64 cwnd;	 /* segments */
	u64 ssthresh;	 /* segments; TCP_INFINITE_SSTHRESH: none */
	u64 acked;	 /* bytes */
	u64 sent;	 /* bytes */
	u64 written;	 /* bytes */
	u64 outstanding; /* segments */
	u64 most_outstanding; /* segments, in the last round trip */
	u64 delivered;	 /* segments, now */
	u64 round_trip_us; /* of the latest of these */
	u64 srtt_us;
	u64 min_rtt_us;
	u64 data_segments; /* sent so far, retransmissions included */
	u64 retransmitted; /* segments, SYNs included */
	u64 departure_us;  /* when the last segment left, or the next one may */
	u64 stock;	 /* ARRIVAL: the window that CUBIC makes; LOSS: its threshold; segments */
	u64 announced;	 /* bytes, by the application; 0: nothing */
	/* of RESET, as struct settings */
	u64 flags;
	u64 cap;
	u64 max_age_us;
	u64 half_life_rtts;
	u64 has_tx_start;
};

/* Memory of an address. */
struct memory {
	u64 learnt_us; /* ~0: nothing is */
	u64 window;
	u64 ssthresh;
	u64 srtt_us;
	u64 min_rtt_us;
	u64 rate;
	u64 reached; /* `reached_window` */
	u64 has_shown_no_width;
};

/* After RESET zeroes, after HANDSHAKE what is remembered alone, and after CLOSE what became of the
 * connection, too. */
struct outcome {
	u64 cwnd;
	u64 ssthresh;
	u64 is_paced;
	u64 most;  /* bytes a second; 0: no limit */
	u64 fixed; /* bytes a second, whatever window and round trip say; 0: as the kernel paces */
	u64 phase;
	u64 first;	     /* window of its last warm start, segments; 0: it had none */
	u64 has_fallen_back;
	u64 has_measured;
	u64 has_restarted;
	struct memory line;    /* of the connection */
	struct memory network; /* of an address of its network that has no line */
};

#define CONNECTIONS 64
static struct machine_socket sockets[CONNECTIONS];

/* Near the end, so that they wrap. */
static u32 first_sequence(const struct event *e)
{
	return 4294000000U + e->connection * 7919;
}

static void set_up(const struct event *e)
{
	machine_forget_all();
	memset(sockets, 0, sizeof(sockets));
	settings.flags = e->flags;
	settings.cap = e->cap;
	settings.max_age_ns = e->max_age_us * NS_PER_US;
	settings.half_life_rtts = e->half_life_rtts;
	settings.v4_bits = 24;
	settings.v6_bits = 48;
	settings.canary = PER_MILLION;
	machine_has_tx_start = e->has_tx_start;
}

static void begin_socket(struct machine_socket *s, const struct event *e)
{
	struct sock *sk = (struct sock *)s;

	memset(s, 0, sizeof(*s));
	sk->__sk_common.skc_family = AF_INET;
	sk->__sk_common.skc_daddr = __builtin_bswap32(e->address);
	sk->__sk_common.skc_net.net = &s->net;
	s->net.ipv4.sysctl_tcp_min_tso_segs = 2;
	sk->sk_max_pacing_rate = ~0UL;
	sk->sk_pacing_status = e->is_paced ? SK_PACING_NEEDED : SK_PACING_NONE;
	s->tp.inet_conn.icsk_ca_ops = &machine_cubic;
	s->tp.snd_cwnd_clamp = ~0U;
	s->tp.delivered = 1; /* its SYN */
}

static void load(struct machine_socket *s, const struct event *e)
{
	struct tcp_sock *tp = &s->tp;

	tp->mss_cache = e->mss;
	tp->snd_cwnd = e->cwnd;
	tp->snd_ssthresh = e->ssthresh;
	tp->snd_una = first_sequence(e) + e->acked;
	tp->snd_nxt = first_sequence(e) + e->sent;
	tp->write_seq = first_sequence(e) + e->written;
	tp->packets_out = e->outstanding;
	tp->max_packets_out = e->most_outstanding;
	tp->delivered += e->delivered;
	tp->bytes_acked = e->acked;
	if (e->delivered)
		tp->delivered_mstamp = e->now_us;
	tp->tcp_mstamp = e->now_us;
	tp->first_tx_mstamp = e->now_us - e->round_trip_us;
	tp->tcp_wstamp_ns = e->departure_us * NS_PER_US;
	tp->srtt_us = e->srtt_us << 3;
	tp->rtt_min.s[0].v = e->min_rtt_us;
	tp->data_segs_out = e->data_segments;
	tp->total_retrans = e->retransmitted;
	machine_now_ns = e->now_us * NS_PER_US;
}

static void call_sockops(struct machine_socket *s, u32 op)
{
	struct bpf_sock_ops ops = {.op = op, .sk = (struct bpf_sock *)s};

	machine_context = &ops;
	attend(&ops);
	machine_context = NULL;
}

static void announce(struct sock *sk, u64 bytes)
{
	struct hints *given;

	if (!bytes)
		return;
	given = bpf_sk_storage_get(&hints, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	given->size = bytes;
	sizes_set = 1;
}

static void call_start(struct machine_socket *s, const struct event *e)
{
	const struct tcp_congestion_ops *ops = s->tp.inet_conn.icsk_ca_ops;

	announce((struct sock *)s, e->announced);
	if (machine_has_tx_start)
		ops->cwnd_event_tx_start((struct sock *)s);
	else
		ops->cwnd_event((struct sock *)s, CA_EVENT_TX_START);
	/* tcp_rate_skb_sent, which comes later. */
	if (!s->tp.packets_out)
		s->tp.delivered_mstamp = e->now_us;
}

static void call_arrival(struct machine_socket *s, const struct event *e)
{
	const struct tcp_congestion_ops *ops = s->tp.inet_conn.icsk_ca_ops;
	struct ack_sample sample = {.pkts_acked = e->delivered};

	s->grown = e->stock;
	ops->pkts_acked((struct sock *)s, &sample);
	ops->cong_avoid((struct sock *)s, s->tp.snd_una, e->delivered);
}

/* A FIN is a segment as any other: it leaves and is acknowledged before the kernel releases the
 * connection. */
static void call_close(struct machine_socket *s, struct event *e)
{
	s->tp.snd_nxt += 1;
	s->tp.snd_una += 1;
	s->tp.delivered += 1;
	s->tp.delivered_mstamp = e->now_us;
	s->tp.first_tx_mstamp = e->now_us + 1; /* the model does not time a FIN */
	e->delivered = 1;
	call_arrival(s, e);
	s->tp.inet_conn.icsk_ca_ops->release((struct sock *)s);
}

static void call_loss(struct machine_socket *s, const struct event *e)
{
	const struct tcp_congestion_ops *ops = s->tp.inet_conn.icsk_ca_ops;

	s->stock_ssthresh = e->stock;
	s->tp.snd_ssthresh = ops->ssthresh((struct sock *)s);
	s->tp.inet_conn.icsk_ca_state = TCP_CA_Recovery;
	ops->set_state((struct sock *)s, TCP_CA_Recovery);
}

static void destroy(struct machine_socket *s)
{
	machine_destroy(&connections, s);
	machine_destroy(&hints, s);
}

static void play(struct machine_socket *s, struct event *e)
{
	struct inet_connection_sock *icsk = &s->tp.inet_conn;

	if (e->kind != REPAIR && e->kind != LOSS && e->kind != RETRANSMISSION)
		icsk->icsk_ca_state = TCP_CA_Open;
	switch (e->kind) {
	case HANDSHAKE:
		return call_sockops(s, BPF_SOCK_OPS_TIMEOUT_INIT);
	case OPEN:
		return call_sockops(s, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB);
	case START:
	case RETRANSMISSION:
		return call_start(s, e);
	case SENDING:
		if (icsk->icsk_ca_ops->min_tso_segs)
			icsk->icsk_ca_ops->min_tso_segs((struct sock *)s);
		return;
	case ARRIVAL:
		return call_arrival(s, e);
	case LOSS:
		return call_loss(s, e);
	case IDLE:
		return icsk->icsk_ca_ops->cwnd_event((struct sock *)s, CA_EVENT_CWND_RESTART);
	case CLOSE:
		return call_close(s, e);
	}
}

static struct memory recalled(const struct path *path, u32 mss)
{
	if (!path)
		return (struct memory){.learnt_us = ~0ULL};
	return (struct memory){
		.learnt_us = path->learnt_ns / NS_PER_US,
		.window = path->window,
		.ssthresh = path->ssthresh,
		.srtt_us = path->srtt_us,
		.min_rtt_us = path->min_rtt_us,
		.rate = path->rate,
		.reached = reached_window(path, mss),
		.has_shown_no_width = !path->ssthresh && !path->fallbacks_in_row,
	};
}

static void note_sending(const struct machine_socket *s, struct outcome *o)
{
	const struct sock *sk = (const struct sock *)s;
	const struct connection *c = connection_of((struct sock *)s);

	o->cwnd = s->tp.snd_cwnd;
	o->ssthresh = s->tp.snd_ssthresh;
	o->is_paced = sk->sk_pacing_status != SK_PACING_NONE;
	o->most = sk->sk_max_pacing_rate == ~0UL ? 0 : sk->sk_max_pacing_rate;
	o->fixed = c ? beside_cubic((struct sock *)s)->rate : 0;
	o->phase = c ? c->phase : PHASE_STOCK;
}

static void note_history(const struct machine_socket *s, struct outcome *o)
{
	const struct connection *c = connection_of((struct sock *)s);

	if (!c)
		return;
	o->first = c->first;
	o->has_fallen_back = !!(c->history & HAS_FALLEN_BACK);
	o->has_measured = !!(c->history & HAS_MEASURED);
	o->has_restarted = c->restarts > 0;
}

static void note_memory(const struct machine_socket *s, const struct event *e, struct outcome *o)
{
	struct destination to = {};
	struct path_key key;

	destination_of((const struct sock *)s, &to);
	key_in_use(&to, &key);
	o->line = recalled(find_path(&key), e->mss);
	o->network = recalled(find_path(&to.path), e->mss);
}

int main(void)
{
	struct event e;

	while (fread(&e, sizeof(e), 1, stdin) == 1) {
		struct machine_socket *s = &sockets[e.connection % CONNECTIONS];
		struct outcome o = {};

		if (e.kind == RESET)
			set_up(&e);
		if (e.kind == HANDSHAKE)
			begin_socket(s, &e);
		if (e.kind != RESET) {
			load(s, &e);
			play(s, &e);
			note_memory(s, &e, &o);
			note_history(s, &o);
		}
		if (e.kind == CLOSE)
			destroy(s);
		else if (e.kind != RESET && e.kind != HANDSHAKE)
			note_sending(s, &o);
		if (fwrite(&o, sizeof(o), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
