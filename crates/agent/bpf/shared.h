/* SPDX-License-Identifier: GPL-2.0-only */
/* One window for all connections to a host, and its changes under its lock. It grows and shrinks as
 * the window of one CUBIC does. An active member gets a share of it in proportion to its weight
 * among all active members. */
#ifndef HEADSTART_SHARED_H
#define HEADSTART_SHARED_H

#include "paths.h"
#include "curve.h"

struct session_key {
	u32 netns;
	__be32 address[4];
};

/* The fields that every ACK needs come first and lie together: they are seldom in a cache. */
struct session {
	struct bpf_spin_lock lock;
	u32 window; /* segments, of all active members together */
	u32 ssthresh;
	u32 weights; /* of active members */
	u32 outstanding;
	/* allocated to members that have had no segment acknowledged since they joined */
	u32 allocated;
	u32 credit;	  /* acknowledged and not yet grown for */
	u32 round_flight; /* most outstanding in the round trip under way, or acknowledged */
	u32 round_acked;
	/* the remembered window that it started with; 0 as soon as one flight has delivered as
	 * much */
	u32 unproven;
	u32 base_us;	  /* lowest round trip of all, microseconds */
	u64 round_end_ns;
	u64 used_ns;	  /* last acknowledgement */
	/* until then acknowledgements add to `round_acked`: for as long as the lowest round trip */
	u64 counted_ns;
	/* remembered rate of the path, bytes a second; 0: not known, or a segment was lost since */
	u64 rate;
	struct curve curve;
	u32 last_flight;  /* largest flight of the round trip before */
	/* largest flight before that since the last reduction; all of it was delivered */
	u32 flight;
	u32 round_us;	  /* lowest of the round trip under way, microseconds */
	u32 samples;
	u32 window_before; /* before the last reduction, which may have been spurious */
	u32 ssthresh_before;
	u64 reduced_ns;
	u64 taught_ns;	  /* when the memory last got a sample, and which window */
	u32 taught;
	u32 members;	  /* connections open */
	bool is_warm;	  /* it began with a remembered window */
	u64 born_ns;	  /* 0: the session is free */
	struct session_key key; /* whose it is */
};

/* A connection's part in its session. */
struct member {
	u32 weight;	/* as included in `weights` of the session; 0: idle */
	u32 wants;	/* weight that it will have */
	u32 outstanding; /* as included in `outstanding` of the session */
	u32 allocated;
	u32 limit;	/* below its share after a timeout of its own, segments; 0: none */
	u32 in_pieces;	/* it has sent far more than lay in its queue as it joined */
};

struct joining {
	u32 among; /* number of connections that join at once, this one included */
	u32 sends; /* segments that it has to send, as far as is known */
};

struct arrival {
	u64 now_ns;
	u32 acked;
	u32 outstanding; /* after it */
	u32 rtt_us;	 /* 0: not measured */
	u32 srtt_us;
	bool may_grow;
};

/* HyStart as in Linux (tcp_cubic.c): from HYSTART_LOW_WINDOW on, the lowest of HYSTART_MIN_SAMPLES
 * of a round trip is compared with the lowest of all. Slow start ends when it is later by an eighth
 * of the latter, within the bounds of HYSTART_DELAY_*. */
#define HYSTART_LOW_WINDOW 16
#define HYSTART_MIN_SAMPLES 8
#define HYSTART_DELAY_MIN 4000
#define HYSTART_DELAY_MAX 16000

static __always_inline u32 smaller(u32 a, u32 b)
{
	return a < b ? a : b;
}

static __always_inline void count_weight(struct session *s, struct member *m, u32 weight)
{
	s->weights += weight - m->weight;
	m->weight = weight;
}

static __always_inline void count_outstanding(struct session *s, struct member *m, u32 outstanding)
{
	s->outstanding += outstanding - m->outstanding;
	m->outstanding = outstanding;
}

static __always_inline void count_allocated(struct session *s, struct member *m, u32 allocated)
{
	s->allocated += allocated - m->allocated;
	m->allocated = allocated;
}

/* The member has nothing outstanding any more, and will not. */
static __always_inline void discount(struct session *s, struct member *m)
{
	count_weight(s, m, 0);
	count_outstanding(s, m, 0);
	count_allocated(s, m, 0);
}

/* Removes a member whose connection closes; true if it was the last one. */
static __always_inline bool depart(struct session *s, struct member *m)
{
	discount(s, m);
	s->members -= 1;
	if (s->members)
		return false;
	s->born_ns = 0;
	return true;
}

/* Without a branch, since the verifier would follow both sides. The sign bit compares them, because
 * both are less than half of 32 bits' range. */
static __always_inline bool is_in_slow_start(const struct session *s)
{
	return (s->window - s->ssthresh) >> 31;
}

/* At least one segment, also if there are more members than segments: every member can send. */
static __always_inline u32 share_of(const struct session *s, const struct member *m)
{
	u32 share = s->weights > m->weight ? s->window * m->weight / s->weights : s->window;

	return share ? share : 1;
}

/* Window of a member when it joins: its share. Active members learn of a new one at their next
 * ACKs. Members that have just joined learn nothing for a round trip, so each of a dozen would take
 * what the one before has. Therefore allocations without an ACK are set aside, as far as those
 * members have data, and newcomers share the rest. In slow start a member gets at least the stock
 * initial window, even of a small window, since nothing has yet shown the path's limit. At its
 * first ACK it gets its share. */
static __always_inline u32 share_at_once(struct session *s, struct member *m,
					 const struct joining *j)
{
	u32 share = share_of(s, m), taken = s->allocated - m->allocated;

	share = smaller(share, INITIAL_WINDOW +
				       part_beside(s->window, taken, INITIAL_WINDOW, j->among));
	if (is_in_slow_start(s))
		share = larger(share, INITIAL_WINDOW);
	count_allocated(s, m, smaller(share, j->sends));
	return share;
}

/* The first member to send after idle sets the window. */
static __always_inline void start_session(struct session *s, u32 window, u32 ssthresh,
					  bool is_warm, u64 rate)
{
	s->window = window;
	if (is_warm || !s->ssthresh)
		s->ssthresh = ssthresh;
	s->is_warm = is_warm;
	s->rate = rate;
	s->unproven = is_warm ? window : 0;
	s->credit = s->round_flight = s->round_acked = s->last_flight = s->flight = s->taught = 0;
	s->round_end_ns = s->counted_ns = 0;
	s->curve.has_epoch = false;
}

static __always_inline void on_round(struct session *s, const struct arrival *a)
{
	if (!unlikely(a->now_ns >= s->round_end_ns))
		return;
	if (s->last_flight > s->flight)
		s->flight = s->last_flight;
	s->last_flight = s->round_flight;
	s->round_flight = s->round_acked = s->samples = 0;
	s->round_us = ~0U;
	s->round_end_ns = a->now_ns + a->srtt_us * NS_PER_US;
	s->counted_ns = a->now_ns + s->base_us * NS_PER_US;
	if (s->flight >= s->unproven)
		s->unproven = 0;
}

/* Leaves slow start before the queue is full. */
static __always_inline void hystart(struct session *s, u32 rtt_us)
{
	u32 later = s->base_us / 8;

	if (!rtt_us)
		return;
	if (!s->base_us || rtt_us < s->base_us)
		s->base_us = rtt_us;
	if (!unlikely(is_in_slow_start(s) && s->window >= HYSTART_LOW_WINDOW))
		return;
	s->round_us = smaller(s->round_us, rtt_us);
	s->samples += 1;
	later = later < HYSTART_DELAY_MIN ? HYSTART_DELAY_MIN : smaller(later, HYSTART_DELAY_MAX);
	if (s->samples >= HYSTART_MIN_SAMPLES && s->round_us > s->base_us + later)
		s->ssthresh = s->window;
}

static __always_inline void grow(struct session *s, const struct arrival *a)
{
	u64 per;

	if (unlikely(is_in_slow_start(s))) {
		s->window += smaller(a->acked, s->ssthresh - s->window);
	} else {
		per = curve_on_ack(&s->curve, a->now_ns / NS_PER_MS, s->window, a->acked,
				   s->base_us / 1000);
		s->window += credit_add(&s->credit, a->acked, per);
	}
	s->window = smaller(s->window, MAX_WINDOW);
}

static __always_inline void on_arrival(struct session *s, struct member *m, const struct arrival *a)
{
	u32 outstanding = s->outstanding - m->outstanding + a->outstanding + a->acked;

	if (outstanding > s->round_flight)
		s->round_flight = outstanding;
	count_outstanding(s, m, a->outstanding);
	if (unlikely(m->allocated && a->acked)) {
		if (a->outstanding + a->acked > 2 * m->allocated)
			m->in_pieces = true;
		count_allocated(s, m, 0);
	}
	on_round(s, a);
	/* A member that has just joined has not yet shown all that it has outstanding. */
	if (a->now_ns < s->counted_ns)
		s->round_acked += a->acked;
	if (s->round_acked > s->round_flight)
		s->round_flight = s->round_acked;
	hystart(s, a->rtt_us);
	if (a->may_grow)
		grow(s, a);
	s->used_ns = a->now_ns;
}

/* Reduces the window, once in a round trip, however many members lose segments. True if it did. */
static __always_inline bool reduce(struct session *s, u64 now_ns, u32 srtt_us)
{
	if (now_ns - s->reduced_ns < srtt_us * NS_PER_US)
		return false;
	s->reduced_ns = now_ns;
	s->window_before = s->window;
	s->ssthresh_before = s->ssthresh;
	s->window = s->ssthresh = curve_on_congestion(&s->curve, s->window);
	s->rate = 0;
	s->unproven = 0;
	s->credit = s->round_flight = s->round_acked = s->last_flight = s->flight = s->taught = 0;
	return true;
}

/* Undoes the last reduction, which was spurious. */
static __always_inline void take_back_reduction(struct session *s)
{
	if (s->window_before <= s->window)
		return;
	s->window = s->window_before;
	s->ssthresh = s->ssthresh_before;
	s->window_before = 0;
}

#endif
