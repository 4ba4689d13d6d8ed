/* SPDX-License-Identifier: GPL-2.0-only */
/* `hs_session`: a congestion control whose connections to the same host share one window
 * (shared.h). A connection joins when it sends (join.h), gets its share at every ACK
 * (`allocation.h`), and leaves when everything is acknowledged. */
#ifndef HEADSTART_SESSION_H
#define HEADSTART_SESSION_H

#include "join.h"
#include "hints.h"
#include "pauses.h"

/* The memory gets an unchanged sample again after this time. */
#define SAMPLE_AGAIN_NS (1000 * NS_PER_MS)

/* Updates the memory by the proven window, when the last active member is done. */
static __noinline void update_memory_of_session(struct sock *sk, u32 window, bool in_slow_start,
						u32 flight, bool is_warm)
{
	struct proof proof = {
		.cwnd = window,
		.in_slow_start = in_slow_start,
		.flight = flight,
		.first = is_warm,
	};
	struct connection *c = connection_of(sk);
	struct path_sample sample = {};

	if (!c)
		return;
	take_sample((struct tcp_sock *)sk, c, &sample);
	sample.window = proven_window((struct tcp_sock *)sk, c, &proof);
	sample.ssthresh = 0;
	update_memory(c, &sample, false);
}

/* True if the proof has grown, or was last reported long ago. A sample each time that everything is
 * acknowledged would be too often. */
static inline bool is_new_sample(struct session *s, u32 flight, u64 now_ns)
{
	if (flight <= s->taught && now_ns - s->taught_ns < SAMPLE_AGAIN_NS)
		return false;
	s->taught = flight;
	s->taught_ns = now_ns;
	return true;
}

static inline u32 flight_of(const struct session *s)
{
	return larger(s->flight, larger(s->last_flight, s->round_flight));
}

/* Grows the window as Reno does, for a connection without a slot. */
static inline void grow_alone(struct sock *sk, struct membership *b, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct allocation allocation = {};

	if (is_recovering(tp))
		tp->snd_cwnd = larger(tp->snd_ssthresh, 1);
	else if (in_slow_start(tp))
		tcp_slow_start(tp, rs->acked_sacked);
	else
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, rs->acked_sacked);
	allocation.spread = tp->snd_cwnd;
	allocation.is_in_slow_start = in_slow_start(tp);
	allocation.is_proven = true;
	pace_share(sk, b, &allocation);
}

/* True if the window limits the sender as the kernel defines it: used up, or soon in slow start
 * (tcp_is_cwnd_limited). */
static inline bool is_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_ssthresh == TCP_INFINITE_SSTHRESH && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Applies the weight that the application has set. */
static inline void apply_weight(struct sock *sk, struct membership *b)
{
	b->weight_version = weights_set;
	b->member.wants = weight_of(bpf_sk_storage_get(&hints, sk, 0, 0));
}

SEC("struct_ops")
void BPF_PROG(hs_session_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct membership *b = membership_of(sk);
	struct destination to = {};
	struct connection *c = open_connection(sk, &to);

	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	b->member.weight = b->member.outstanding = b->member.allocated = b->member.limit =
		b->member.in_pieces = 0;
	b->warm_rate = 0;
	b->place = b->is_special = 0;
	b->is_hooked = c != NULL;
	if (!c)
		return;
	c->cold = c->began_with = tp->snd_cwnd;
	apply_weight(sk, b);
	become_member(sk, b, c);
}

/* While slow start lasts, so that the path's rate is learnt: not beside others, when what comes
 * in is a part of it. */
static inline void measure_member(const struct tcp_sock *tp, struct connection *c, bool is_alone)
{
	if (!in_slow_start(tp) || has_measured_enough(&c->measure))
		c->is_measured = false;
	if (!c->is_measured)
		return;
	if (!is_alone) {
		skip_trains(tp, &c->measure);
		return;
	}
	measure_ack(tp, &c->measure);
	if (!tp->packets_out)
		end_trains(tp, &c->measure);
}

/* Handles an ACK of a connection with special state. */
static __noinline void on_member_ack(struct sock *sk, bool is_alone)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct membership *b = membership_of(sk);
	struct connection *c = connection_of(sk);

	if (!c)
		return;
	on_progress(sk, c);
	measure_member(tp, c, is_alone);
	note_phase(b, c);
}

SEC("struct_ops")
void BPF_PROG(hs_session_cong_control, struct sock *sk)
{
	const struct rate_sample *rs = rate_sample_of(ctx);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct membership *b = membership_of(sk);
	struct session *s = session_of(b);
	bool recovers = is_recovering(tp), is_alone;
	bool teaches = false, is_warm = false, is_growing = false;
	struct arrival a = {};
	u32 window = 0, flight = 0;
	struct allocation allocation;

	if (unlikely(!s)) {
		grow_alone(sk, b, rs);
		return;
	}
	if (unlikely(b->weight_version != weights_set))
		apply_weight(sk, b);
	/* Time of the ACK, by the same clock: another reading would cost as much as the rest. */
	a.now_ns = tp->tcp_mstamp * NS_PER_US;
	a.acked = rs->acked_sacked;
	a.outstanding = tp->packets_out;
	a.rtt_us = rs->rtt_us > 0 ? rs->rtt_us : 0;
	a.srtt_us = tp->srtt_us >> 3;
	a.may_grow = a.acked && !recovers && is_limited(tp);

	bpf_spin_lock(&s->lock);
	count_weight(s, &b->member, b->member.wants);
	on_arrival(s, &b->member, &a);
	is_alone = s->weights == b->member.weight;
	allocation = allocation_of(s, share_of(s, &b->member));
	if (unlikely(!a.outstanding))
		count_weight(s, &b->member, 0);
	teaches = false;
	if (unlikely(!s->weights)) {
		flight = flight_of(s);
		teaches = is_new_sample(s, flight, a.now_ns);
		window = s->window;
		is_growing = is_in_slow_start(s);
		is_warm = s->is_warm;
	}
	bpf_spin_unlock(&s->lock);

	if (unlikely(b->member.limit))
		b->member.limit += a.acked;
	take_share(sk, b, &allocation);
	/* The first retransmission is sent at once, whatever is outstanding. */
	if (unlikely(recovers && !tp->retrans_out))
		tp->snd_cwnd = larger(allocation.share,
				      tp->packets_out - tp->sacked_out - tp->lost_out + 1);
	/* A member that resumes sending sets its pace then. */
	if (a.outstanding)
		pace_share(sk, b, &allocation);
	if (unlikely(b->is_special && a.acked && !recovers))
		on_member_ack(sk, is_alone);
	if (unlikely(teaches))
		update_memory_of_session(sk, window, is_growing, flight, is_warm);
}

/* Something is lost, or marked. */
SEC("struct_ops")
u32 BPF_PROG(hs_session_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct membership *b = membership_of(sk);
	struct session *s = session_of(b);
	struct connection *c = s ? connection_of(sk) : NULL;
	u64 now = bpf_ktime_get_ns();
	bool was_in_slow_start, has_reduced;
	struct loss loss;
	u32 before, share, most = MAX_WINDOW;

	if (!s || !c)
		return tcp_reno_ssthresh(sk);
	keep_paced(sk);
	note_loss(tp, c);
	if (in_first_flight(c) && has_failed(tp, c))
		most = fall_back(sk, c);
	else if (in_first_flight(c))
		doubt_flight(sk, c);
	c->is_measured = false;
	note_phase(b, c);
	bpf_spin_lock(&s->lock);
	before = s->window;
	was_in_slow_start = is_in_slow_start(s);
	has_reduced = reduce(s, now, tp->srtt_us >> 3);
	if (most < s->window)
		s->window = s->ssthresh = most;
	share = share_of(s, &b->member);
	bpf_spin_unlock(&s->lock);
	loss.cwnd = before;
	loss.in_slow_start = was_in_slow_start;
	if (has_reduced && most == MAX_WINDOW)
		learn_loss(tp, c, &loss);
	return share > 2 ? share : 2;
}

SEC("struct_ops")
u32 BPF_PROG(hs_session_undo_cwnd, struct sock *sk)
{
	struct membership *b = membership_of(sk);
	struct session *s = session_of(b);
	u32 share;

	if (!s)
		return tcp_reno_undo_cwnd(sk);
	keep_paced(sk);
	bpf_spin_lock(&s->lock);
	take_back_reduction(s);
	count_weight(s, &b->member, b->member.wants);
	share = share_of(s, &b->member);
	bpf_spin_unlock(&s->lock);
	b->member.limit = 0;
	return share;
}

/* After a timeout a connection goes on from one segment, up to its share. Its peer may be gone
 * for good: until something arrives its share is the others'. */
SEC("struct_ops")
void BPF_PROG(hs_session_set_state, struct sock *sk, u8 state)
{
	struct membership *b = membership_of(sk);
	struct session *s = session_of(b);

	if (!s || state != TCP_CA_Loss)
		return;
	keep_paced(sk);
	b->member.limit = 1;
	bpf_spin_lock(&s->lock);
	discount(s, &b->member);
	bpf_spin_unlock(&s->lock);
}

/* Bytes of its next transfer, if its application has set them; used once. */
static __noinline u32 size_hint(struct sock *sk)
{
	struct hints *given = sizes_set ? bpf_sk_storage_get(&hints, sk, 0, 0) : NULL;
	u32 size = given ? given->size : 0;

	if (given)
		given->size = 0;
	return size;
}

/* Notes the start of a member with its window. The start is warm if the window exceeds the stock
 * one: by the memory, or by other members' proof. */
static inline void begin_member(const struct tcp_sock *tp, struct connection *c)
{
	c->began_with = tp->snd_cwnd;
	if (tp->snd_cwnd > c->cold) {
		c->history |= HAS_STARTED_WARM;
		c->proposed = c->proposed ? c->proposed : c->began_with;
	}
	if (!in_first_flight(c))
		c->first_end = tp->snd_nxt + tp->snd_cwnd * tp->mss_cache;
	c->measure.next = tp->snd_nxt;
	c->is_measured = true;
}

/* Other connections may have proven more than the operator allows any to begin with. */
static inline void cap_first_share(const struct sock *sk, const struct connection *c,
				   struct allocation *allocation)
{
	struct destination to = {};

	if (destination_of(sk, &to))
		allocation->share = smaller(allocation->share, larger(to.cap, c->cold));
}

/* It sends and had nothing outstanding. */
static inline void start_member(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct membership *b = membership_of(sk);
	bool is_first = !tp->data_segs_out;
	struct connection *c = NULL;
	struct joining j = {.among = 1};
	struct allocation allocation = {};
	u32 whole = 0;
	struct session *s;

	/* A retransmission after a timeout is no start. */
	if (!b->is_hooked || is_recovering(tp))
		return;
	if (unlikely(is_first || !b->place || b->is_special || is_after_pause(tp))) {
		c = connection_of(sk);
		if (!c)
			return;
		count_pause_before_start(tp, c);
		if (!b->place)
			become_member(sk, b, c);
		if (is_first)
			j.among = finish_handshake(&c->path);
	}
	s = session_of(b);
	if (!s)
		return;
	j.sends = known_to_send(size_hint(sk), tp->write_seq - tp->snd_nxt, tp->mss_cache,
				b->member.in_pieces);
	if (unlikely(!join(tp, b, s, &j, &allocation))) {
		c = c ? c : connection_of(sk);
		if (!c)
			return;
		whole = begin_session(sk, c, s, &j, &allocation);
	}
	if (is_first && c)
		cap_first_share(sk, c, &allocation);
	allocation.spread = spread_of(allocation.window, allocation.share, allocation.allocated,
				      allocation.joining);
	take(sk, b, &allocation);
	if (!c)
		return;
	if (in_first_flight(c) && tp->snd_cwnd < whole)
		lead_with_part(sk, c, whole);
	if (is_first)
		begin_member(tp, c);
	note_phase(b, c);
	begin_first_train(tp, &c->measure);
}

/* Until Linux 7.0. No other event matters. */
SEC("struct_ops")
void BPF_PROG(hs_session_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		start_member(sk);
}

/* Since Linux 7.1. */
SEC("struct_ops")
void BPF_PROG(hs_session_cwnd_event_tx_start, struct sock *sk)
{
	start_member(sk);
}

SEC("struct_ops")
void BPF_PROG(hs_session_release, struct sock *sk)
{
	struct membership *b = membership_of(sk);
	struct connection *c = connection_of(sk);
	struct session *s = session_of(b);
	struct session_key key = {};
	struct path_sample nothing = {};
	bool is_empty = false;

	if (s) {
		bpf_spin_lock(&s->lock);
		is_empty = depart(s, &b->member);
		bpf_spin_unlock(&s->lock);
	}
	if (!c)
		return;
	/* A member that joins at this moment has a window of its own until it is idle. */
	if (is_empty && key_of(sk, c, &key))
		vacate(&key, b->place);
	b->place = 0;
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
	.cwnd_event_tx_start = (void *)hs_session_cwnd_event_tx_start,
	.release = (void *)hs_session_release,
	.name = "hs_session",
};

#endif
