/* SPDX-License-Identifier: GPL-2.0-only */
/* One window for all connections to a host: what happens to it, under its lock. It grows and
 * falls as that of one CUBIC does; an active member has the share of it that its weight is of
 * all active members'. */
#ifndef HEADSTART_SHARED_H
#define HEADSTART_SHARED_H

#include "paths.h"
#include "curve.h"

struct session_key {
	u32 netns;
	__be32 address[4];
};

/* What every ACK needs comes first and lies together: it is seldom in a cache. */
struct session {
	struct bpf_spin_lock lock;
	u32 window; /* segments, of all active members together */
	u32 ssthresh;
	u32 weights; /* of active members */
	u32 outstanding;
	u32 promised;	  /* to members of which nothing has arrived since they joined */
	u32 credit;	  /* acknowledged and not yet grown for */
	u32 round_flight; /* most outstanding in the round trip under way, or acknowledged */
	u32 round_acked;
	/* the remembered window that it began with, until as much has arrived of one flight; 0:
	 * it has */
	u32 unproven;
	u32 base_us;	  /* lowest round trip of all, microseconds */
	u64 round_end_ns;
	u64 used_ns;	  /* last acknowledgement */
	/* until then acknowledgements are counted in `round_acked`: for as long as the lowest
	 * round trip */
	u64 counted_ns;
	/* of the path, as remembered when it began, bytes a second; 0: not known, or something
	 * was lost since */
	u64 rate;
	struct curve curve;
	u32 last_flight;  /* in the last one */
	u32 flight;	  /* and of all before since the last reduction, which all arrived */
	u32 round_us;	  /* lowest of the round trip under way, microseconds */
	u32 samples;
	u32 window_before; /* the last reduction, which may have been for nothing */
	u32 ssthresh_before;
	u64 reduced_ns;
	u64 taught_ns;	  /* what of that memory was told, and when */
	u32 taught;
	u32 members;	  /* connections open */
	bool is_warm;	  /* it began with a remembered window */
	u64 born_ns;	  /* 0: nobody's */
	struct session_key key; /* whose it is */
};

/* What a connection has in its session. */
struct member {
	u32 weight;	/* as counted there; 0: idle */
	u32 wants;	/* weight */
	u32 outstanding; /* as counted there */
	u32 promised;
	u32 limit;	/* below its share after a timeout of its own, segments; 0: none */
	u32 in_pieces;	/* it has sent far more than lay in its queue as it joined */
};

struct joining {
	u32 among; /* of how many that come it is one, itself included */
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

/* HyStart as Linux has it (tcp_cubic.c): from this window on, by the lowest of so many samples
 * of a round trip, which is later than the lowest of all by an eighth, within these bounds. */
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

static __always_inline void count_promised(struct session *s, struct member *m, u32 promised)
{
	s->promised += promised - m->promised;
	m->promised = promised;
}

/* Nothing of it is under way any more, or will arrive. */
static __always_inline void discount(struct session *s, struct member *m)
{
	count_weight(s, m, 0);
	count_outstanding(s, m, 0);
	count_promised(s, m, 0);
}

/* Its connection closes; true if it was the last one. */
static __always_inline bool depart(struct session *s, struct member *m)
{
	discount(s, m);
	s->members -= 1;
	if (s->members)
		return false;
	s->born_ns = 0;
	return true;
}

/* Both are less than half of what 32 bits hold. Without a branch, of which the kernel's verifier
 * would follow both sides. */
static __always_inline bool is_in_slow_start(const struct session *s)
{
	return (s->window - s->ssthresh) >> 31;
}

/* At least one segment: nobody is silenced, also where there are more members than segments. */
static __always_inline u32 share_of(const struct session *s, const struct member *m)
{
	u32 share = s->weights > m->weight ? s->window * m->weight / s->weights : s->window;

	return share ? share : 1;
}

/* What it may send as it joins: its share. Those that are sending see at their next ACKs that
 * there is one more; those that have just joined see nothing for a round trip, and of a dozen
 * that join at once each would take what the one before has. So what they were promised is not
 * given again, as far as they have so much to send, and what is left is for all who come. Not
 * less than a connection begins with anyway: also in a small window, as long as nothing has said
 * where it ends. At its first ACK it has its share. */
static __always_inline u32 share_at_once(struct session *s, struct member *m,
					 const struct joining *j)
{
	u32 share = share_of(s, m), taken = s->promised - m->promised;

	share = smaller(share, INITIAL_WINDOW +
				       part_beside(s->window, taken, INITIAL_WINDOW, j->among));
	if (is_in_slow_start(s))
		share = larger(share, INITIAL_WINDOW);
	count_promised(s, m, smaller(share, j->sends));
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
	if (unlikely(m->promised && a->acked)) {
		if (a->outstanding + a->acked > 2 * m->promised)
			m->in_pieces = true;
		count_promised(s, m, 0);
	}
	on_round(s, a);
	/* What is outstanding is not known of who has just joined. */
	if (a->now_ns < s->counted_ns)
		s->round_acked += a->acked;
	if (s->round_acked > s->round_flight)
		s->round_flight = s->round_acked;
	hystart(s, a->rtt_us);
	if (a->may_grow)
		grow(s, a);
	s->used_ns = a->now_ns;
}

/* One reduction in a round trip, whoever loses how much. True if this is it. */
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

/* Nothing had been lost. */
static __always_inline void take_back_reduction(struct session *s)
{
	if (s->window_before <= s->window)
		return;
	s->window = s->window_before;
	s->ssthresh = s->ssthresh_before;
	s->window_before = 0;
}

#endif
