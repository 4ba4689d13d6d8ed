/* SPDX-License-Identifier: GPL-2.0-only */
/* `hs_session`: a congestion control whose connections to the same host share one window (shared.h). A connection
 * joins as it sends and leaves when all has arrived. Its start, as any, is that of connection.h; the first one to
 * send starts for all. */
#ifndef HEADSTART_SESSION_H
#define HEADSTART_SESSION_H

#include "wishes.h"

/* Hosts at a time. Who finds no place has a window of its own. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct session_key);
	__type(value, struct session);
} sessions SEC(".maps");

/* Of silence, and a round trip: the least retransmission timeout. */
#define IDLE_NS (200 * NS_PER_MS)

static inline bool key_of(const struct sock *sk, const struct connection *c, struct session_key *key)
{
	key->netns = c->path.netns;
	return remote_of(sk, key->address);
}

static inline struct session *session_of(const struct sock *sk, const struct connection *c)
{
	struct session_key key = {};

	return key_of(sk, c, &key) ? bpf_map_lookup_elem(&sessions, &key) : NULL;
}

/* Made if there is none; NULL if there is no place. */
static inline struct session *find_session(const struct sock *sk, const struct connection *c)
{
	struct session fresh = {};
	struct session_key key = {};

	if (!key_of(sk, c, &key))
		return NULL;
	fresh.born_ns = bpf_ktime_get_ns();
	fresh.ssthresh = TCP_INFINITE_SSTHRESH;
	bpf_map_update_elem(&sessions, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sessions, &key);
}

/* Over a round trip; thrice as fast while slow start lasts, so that pacing costs it next to nothing. */
static inline void pace_share(struct sock *sk, const struct connection *c, bool is_in_slow_start)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u64 rate = pacing_rate(tp->snd_cwnd, tp->mss_cache, tp->srtt_us >> 3);

	if (is_in_slow_start)
		rate = rate * 5 / 2;
	if (c->in_first_flight)
		rate = c->warm_rate;
	if (rate)
		sk->sk_pacing_rate = rate;
}

/* What it may have outstanding, after a timeout of its own less. */
static inline void take(struct sock *sk, struct connection *c, u32 share, u32 ssthresh, bool is_in_slow_start)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (c->member.limit && c->member.limit < share)
		share = c->member.limit;
	else
		c->member.limit = 0;
	tp->snd_cwnd = share;
	tp->snd_ssthresh = ssthresh;
	pace_share(sk, c, is_in_slow_start);
}

/* Starts for all, as a connection by itself does: from memory, if there is one. */
static inline void lead(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct wishes *said = bpf_sk_storage_get(&wishes, sk, 0, 0);
	struct destination to = {};
	bool is_first = !tp->data_segs_out;
	u32 would;

	tp->snd_cwnd = c->cold;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (c->in_first_flight)
		end_first_flight(sk, c);
	if (is_first ? tp->total_retrans : c->has_retreated)
		return;
	if (!destination_of(sk, &to) || !to.cap)
		return;
	would = begin_as_remembered(sk, c, to.cap);
	if (is_first)
		c->would = would;
	else if (c->in_first_flight)
		c->restarts += 1;
	if (said)
		heed_size(sk, c, said);
	if (c->in_first_flight)
		c->mark = mark(sk);
}

/* It sends, and had nothing outstanding: joins, or starts for all after idle. */
static inline void join(struct sock *sk, struct connection *c, struct session *s)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 now = bpf_ktime_get_ns(), idle = IDLE_NS + (tp->srtt_us >> 3) * NS_PER_US;
	struct member *m = &c->member;
	bool leads, is_in_slow_start, was_first = !tp->data_segs_out;
	u32 share, window, ssthresh, first;

	bpf_spin_lock(&s->lock);
	leads = !s->weights && now - s->used_ns > idle;
	bpf_spin_unlock(&s->lock);
	if (leads)
		lead(sk, c);
	window = tp->snd_cwnd;
	ssthresh = tp->snd_ssthresh;
	first = c->in_first_flight;

	bpf_spin_lock(&s->lock);
	enter(s, m);
	if (leads && !s->weights)
		start_session(s, window, ssthresh, first);
	count_weight(s, m, m->wants);
	share = share_of(s, m);
	is_in_slow_start = s->window < s->ssthresh;
	ssthresh = is_in_slow_start ? TCP_INFINITE_SSTHRESH : share;
	bpf_spin_unlock(&s->lock);

	take(sk, c, share, ssthresh, is_in_slow_start);
	if (was_first) {
		c->began_with = tp->snd_cwnd;
		c->began_warm = c->in_first_flight;
	}
}

/* The last active member has left: what the window has proven. */
static inline void conclude_session(const struct tcp_sock *tp, struct connection *c, u32 window, u32 flight,
				    bool is_warm)
{
	struct lesson lesson = {};

	lesson_of(tp, &lesson);
	lesson.window = proven(window, flight, is_warm, 0);
	lesson.ssthresh = 0;
	conclude(c, &lesson, false);
}

static inline u32 flight_of(const struct session *s)
{
	return larger(s->flight, larger(s->last_flight, s->round_flight));
}

/* As Reno, for who has found no place. */
static inline void alone(struct sock *sk, struct connection *c, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (is_recovering(tp))
		tp->snd_cwnd = larger(tp->snd_ssthresh, 1);
	else if (in_slow_start(tp))
		tcp_slow_start(tp, rs->acked_sacked);
	else
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, rs->acked_sacked);
	if (c)
		pace_share(sk, c, in_slow_start(tp));
}

/* Of the window the kernel counts as limiting: used up, or soon in slow start (tcp_is_cwnd_limited). */
static inline bool is_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_ssthresh == TCP_INFINITE_SSTHRESH && tp->snd_cwnd < 2 * tp->max_packets_out;
}

SEC("struct_ops")
void BPF_PROG(hs_session_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct destination to = {};
	struct connection *c = open_connection(sk, &to);
	struct session *s;

	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (!c)
		return;
	c->cold = c->began_with = tp->snd_cwnd;
	c->member.wants = weight_of(bpf_sk_storage_get(&wishes, sk, 0, 0));
	s = find_session(sk, c);
	if (!s)
		return;
	bpf_spin_lock(&s->lock);
	enter(s, &c->member);
	bpf_spin_unlock(&s->lock);
}

SEC("struct_ops")
void BPF_PROG(hs_session_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *c = connection_of(sk);
	struct session *s = c ? session_of(sk, c) : NULL;
	bool recovers = is_recovering(tp), is_in_slow_start, was_last, is_warm;
	struct arrival a = {};
	u32 share, window, flight;

	if (!s) {
		alone(sk, c, rs);
		return;
	}
	/* When the ACK came in, by the same clock: asking it again would cost as much as the rest. */
	a.now_ns = tp->tcp_mstamp * NS_PER_US;
	a.acked = rs->acked_sacked;
	a.outstanding = tp->packets_out;
	a.rtt_us = rs->rtt_us > 0 ? rs->rtt_us : 0;
	a.srtt_us = tp->srtt_us >> 3;
	a.may_grow = a.acked && !recovers && is_limited(tp);

	bpf_spin_lock(&s->lock);
	enter(s, &c->member);
	count_weight(s, &c->member, c->member.wants);
	on_arrival(s, &c->member, &a);
	share = share_of(s, &c->member);
	is_in_slow_start = s->window < s->ssthresh;
	if (!a.outstanding)
		count_weight(s, &c->member, 0);
	was_last = !s->weights;
	window = s->window;
	flight = flight_of(s);
	is_warm = s->is_warm;
	bpf_spin_unlock(&s->lock);

	if (c->member.limit)
		c->member.limit += a.acked;
	take(sk, c, share, is_in_slow_start ? TCP_INFINITE_SSTHRESH : share, is_in_slow_start);
	/* The first retransmission does not wait until enough has arrived. */
	if (recovers && !tp->retrans_out)
		tp->snd_cwnd = larger(share, tp->packets_out - tp->sacked_out - tp->lost_out + 1);
	if (a.acked && !recovers)
		on_progress(sk, c, a.acked);
	if (was_last)
		conclude_session(tp, c, window, flight, is_warm);
}

/* Something is lost, or marked. */
SEC("struct_ops")
u32 BPF_PROG(hs_session_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *c = connection_of(sk);
	struct session *s = c ? session_of(sk, c) : NULL;
	u64 now = bpf_ktime_get_ns();
	struct lesson lesson = {};
	bool was_in_slow_start, has_reduced;
	u32 before, share, most = LARGEST_WINDOW;

	if (!s)
		return tcp_reno_ssthresh(sk);
	lose_flights(tp, c);
	if (c->in_first_flight)
		most = retreat(sk, c);
	bpf_spin_lock(&s->lock);
	before = s->window;
	was_in_slow_start = before < s->ssthresh;
	has_reduced = reduce(s, now, tp->srtt_us >> 3);
	if (most < s->window)
		s->window = s->ssthresh = most;
	share = share_of(s, &c->member);
	lesson.ssthresh = s->window;
	bpf_spin_unlock(&s->lock);
	if (has_reduced && most == LARGEST_WINDOW) {
		lesson_of(tp, &lesson);
		lesson.window = window_at_loss(before, was_in_slow_start);
		conclude(c, &lesson, true);
	}
	return share > 2 ? share : 2;
}

SEC("struct_ops")
u32 BPF_PROG(hs_session_undo_cwnd, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct session *s = c ? session_of(sk, c) : NULL;
	u32 share;

	if (!s)
		return tcp_reno_undo_cwnd(sk);
	bpf_spin_lock(&s->lock);
	take_back_reduction(s);
	share = share_of(s, &c->member);
	bpf_spin_unlock(&s->lock);
	c->member.limit = 0;
	return share;
}

/* After a timeout a connection goes on from one segment, up to its share. */
SEC("struct_ops")
void BPF_PROG(hs_session_set_state, struct sock *sk, u8 state)
{
	struct connection *c = connection_of(sk);

	if (c && state == TCP_CA_Loss)
		c->member.limit = 1;
}

SEC("struct_ops")
void BPF_PROG(hs_session_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct connection *c;
	struct session *s;

	if (event != CA_EVENT_TX_START)
		return;
	c = connection_of(sk);
	s = c ? session_of(sk, c) : NULL;
	if (s)
		join(sk, c, s);
}

SEC("struct_ops")
void BPF_PROG(hs_session_release, struct sock *sk)
{
	struct connection *c = connection_of(sk);
	struct session_key key = {};
	struct lesson nothing = {};
	struct session *s;
	bool is_empty = false;

	if (!c)
		return;
	s = session_of(sk, c);
	if (s && c->member.session_ns == s->born_ns) {
		bpf_spin_lock(&s->lock);
		count_weight(s, &c->member, 0);
		count_outstanding(s, &c->member, 0);
		s->members -= 1;
		is_empty = !s->members;
		bpf_spin_unlock(&s->lock);
	}
	/* Whoever joins just now finds none, and has a window of its own until it is idle. */
	if (is_empty && key_of(sk, c, &key))
		bpf_map_delete_elem(&sessions, &key);
	end(sk, c, &nothing, false);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops hs_session = {
	.init = (void *)hs_session_init,
	.cong_control = (void *)hs_session_cong_control,
	.ssthresh = (void *)hs_session_ssthresh,
	.undo_cwnd = (void *)hs_session_undo_cwnd,
	.set_state = (void *)hs_session_set_state,
	.cwnd_event = (void *)hs_session_cwnd_event,
	.release = (void *)hs_session_release,
	.name = "hs_session",
};

#endif
