/* SPDX-License-Identifier: GPL-2.0-only */
/* The start of a session's member that had nothing outstanding. It joins the active members; if
 * there are none, it starts the session, from memory if possible. */
#ifndef HEADSTART_JOIN_H
#define HEADSTART_JOIN_H

#include "allocation.h"

/* A session is idle after this time without an ACK, and a round trip: the minimum retransmission
 * timeout. */
#define IDLE_NS (200 * NS_PER_MS)
/* Queued bytes from which on more data may follow. The kernel queues this much of a large write
 * before it sends the first segment (a buffer to be filled, half of a window of 64 kB). */
#define MIN_PIECE 30000

/* Starts the session as a single connection starts: from memory, if possible. The size of its own
 * transfer bounds its own allocation, not the session's window. */
static inline void lead(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct destination to = {};
	bool is_first = !tp->data_segs_out;
	enum trigger trigger = is_first ? TRIGGER_OPENING : TRIGGER_IDLE;
	enum start why;
	u32 proposed;

	tp->snd_cwnd = c->cold;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (in_first_flight(c))
		end_first_flight(sk, c, PHASE_STOCK);
	if (!destination_of(sk, &to) || !to.cap)
		return;
	key_in_use(&to, &c->path);
	if (is_first ? tp->total_retrans : c->history & HAS_FALLEN_BACK) {
		report_start(tp, c, trigger, is_first ? START_HANDSHAKE : FELL_BACK_BEFORE);
		return;
	}
	why = look_up_again(tp, c, to.cap);
	proposed = begin_as_remembered(sk, c, to.cap, 1, 0);
	if (is_first)
		c->proposed = proposed;
	else if (in_first_flight(c))
		c->restarts += 1;
	if (in_first_flight(c))
		c->mark = mark(sk);
	report_start(tp, c, trigger, why);
}

/* True if no member is active and none has been for a while: the next one to send starts the
 * session. Called under the lock. */
static inline bool is_idle(const struct session *s, u64 now_ns, u32 srtt_us)
{
	return !s->weights && now_ns - s->used_ns > IDLE_NS + srtt_us * NS_PER_US;
}

/* Returns the segments that it has to send: by the application's hint or, if its queue may be all,
 * by that. Larger writes come in pieces, and the head of an answer often in one of its own. Not
 * static, like the next function: so the verifier follows it once, and not the rest again for each
 * of its results. */
__noinline u32 known_to_send(u32 given, u32 queued, u32 mss, bool in_pieces)
{
	u32 bytes = given ? given : queued;

	if (!mss || (!given && (in_pieces || queued >= MIN_PIECE)))
		return MAX_WINDOW;
	return larger(bytes / mss + 1, INITIAL_WINDOW);
}

/* Returns the segments in a round trip by which a joining member is paced. It gets a part of the
 * session's pace in proportion to its allocation among members that join within a round trip,
 * assuming that pending ones have as much to send. Other members are ACK-clocked, or have sent
 * their burst. */
__noinline u32 spread_of(u32 window, u32 share, u32 allocated, u32 joining)
{
	if (allocated == joining)
		return larger(share, window);
	return larger(share, (u64)window * allocated / joining);
}

/* Makes the member active. Called under the lock. */
static inline struct allocation enter_active(struct session *s, struct member *m,
					const struct joining *j)
{
	struct allocation allocation;

	count_weight(s, m, m->wants);
	allocation = allocation_of(s, share_at_once(s, m, j));
	allocation.allocated = m->allocated;
	allocation.joining = s->allocated + m->allocated * (j->among - 1);
	return allocation;
}

/* It sends, and had nothing outstanding; false if it has to start for all. */
static inline bool join(const struct tcp_sock *tp, struct membership *b, struct session *s,
			const struct joining *j, struct allocation *allocation)
{
	bool leads;

	bpf_spin_lock(&s->lock);
	/* The kernel has asked its clock for this sending. */
	leads = is_idle(s, tp->tcp_mstamp * NS_PER_US, tp->srtt_us >> 3);
	if (!leads)
		*allocation = enter_active(s, &b->member, j);
	bpf_spin_unlock(&s->lock);
	return !leads;
}

/* Narrows the first flight of the connection that starts the session to its own part, at its part
 * of the rate. The other members send the rest, so a loss there is no loss of its start. */
static inline void lead_with_part(struct sock *sk, struct connection *c, u32 window)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 rate = larger((u64)c->warm_rate * tp->snd_cwnd / window, 1);

	c->first_end = tp->snd_nxt + tp->snd_cwnd * tp->mss_cache;
	if (!pace(sk, rate))
		return;
	c->warm_rate = rate;
	sk->sk_pacing_rate = rate;
}

/* Starts the session, unless another member has started it meanwhile. Returns its window in
 * segments. */
static inline u32 begin_session(struct sock *sk, struct connection *c, struct session *s,
				const struct joining *j, struct allocation *allocation)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct membership *b = membership_of(sk);
	struct path *path = find_path(&c->path);
	u64 rate = path ? path->rate : 0;
	u32 window, ssthresh;
	bool is_warm;

	lead(sk, c);
	/* Pacing is recomputed at every ACK. */
	c->is_paced = false;
	note_phase(b, c);
	window = tp->snd_cwnd;
	ssthresh = tp->snd_ssthresh;
	is_warm = in_first_flight(c);
	bpf_spin_lock(&s->lock);
	if (!s->weights)
		start_session(s, window, ssthresh, is_warm, is_warm ? rate : 0);
	s->used_ns = tp->tcp_mstamp * NS_PER_US;
	*allocation = enter_active(s, &b->member, j);
	bpf_spin_unlock(&s->lock);
	return window;
}

#endif
