/* SPDX-License-Identifier: GPL-2.0-only */
/* What a connection's ACKs tell of the rate at which its flights come in (trains.h). The flights
 * of slow start are the trains; two in a row that came in alike are believed, and the path's
 * rate is learnt from them. Whoever has it measured decides what follows: search.h for a cold
 * start, nothing at all in a session. */
#ifndef HEADSTART_MEASURE_H
#define HEADSTART_MEASURE_H

#include "flights.h"
#include "paths.h"
#include "trains.h"

/* From ten segments on slow start has doubled so often that it fills any window, or something
 * else keeps it from growing: what flights have not told by then they are not asked for. */
#define MAX_TRAINS 16

/* An ACK: when it came, by the socket's clock, microseconds, and what had been delivered with
 * it. Both wrap. */
struct arrived {
	u32 us;
	u32 delivered;
};

struct measure {
	u64 gap;	     /* of the last train, nanoseconds a segment; 0: none */
	/* what is believed, the same; of a warm start at first what is remembered */
	u64 best;
	u32 next;	     /* sequence number that the next train begins with */
	u32 next_from_us;    /* when the first of that may have left */
	u32 sent_us;	     /* the train that is coming in left within so long */
	struct arrived first; /* of the train that is coming in */
	struct arrived last;
	struct arrived last_but_one;
	u32 trains;	     /* of more segments than anybody begins with that have come in */
	bool has_train;
	bool has_measured;   /* what is believed, by two trains */
	u32 held_up_segments; /* of the longest train that was held up */
	u64 held_up_gap;      /* of that one, nanoseconds a segment; 0: none was */
};

/* What a train has said: nothing new; with the one before, what the path carries; that it
 * carries more than was believed, and not how much more. */
enum train_result { TRAIN_SAYS_NOTHING, TRAIN_SAYS_RATE, TRAIN_SAYS_FASTER };

/* What a path is remembered to carry, bytes a second, is believed from the start. */
static inline void assume_rate(struct measure *m, u32 mss, u64 rate)
{
	m->best = train_gap_of_rate(mss, rate);
}

/* The first segments leave. */
static inline void begin_first_train(const struct tcp_sock *tp, struct measure *m)
{
	if (!m->has_train)
		m->next_from_us = tp->tcp_mstamp;
}

static inline u64 gap_until(const struct measure *m, const struct arrived *last)
{
	return train_gap(last->us - m->first.us, last->delivered - m->first.delivered);
}

/* What a train tells as far as it has come in. */
struct arrived_train {
	u64 gap; /* nanoseconds a segment; 0: it tells nothing */
	u32 segments;
	bool is_held_up; /* it came in over longer than it left */
};

/* The acknowledgement of a last segment may have waited for one more to come: the one before it
 * tells better then. */
static inline struct arrived_train arrived_train(const struct measure *m)
{
	u64 all = gap_until(m, &m->last), but_last = gap_until(m, &m->last_but_one);
	const struct arrived *end =
		all && (!but_last || all <= but_last) ? &m->last : &m->last_but_one;
	struct arrived_train train = {
		.gap = m->has_train ? train_shorter(all, but_last) : 0,
		.segments = end->delivered - m->first.delivered,
		.is_held_up = train_held_up(m->sent_us, end->us - m->first.us),
	};

	return train;
}

/* What was measured, bytes a second; 0: nothing was. */
static inline u64 measured_rate(const struct tcp_sock *tp, const struct measure *m)
{
	return m->has_measured ? train_carried(tp->mss_cache, m->best) : 0;
}

/* What was measured or, where no two trains have agreed, what the longest one shows that was held
 * up, bytes a second; 0: none was. One train alone may be wrong: enough to tell others, who ask
 * several, and not to send by it. */
static inline u64 shown_rate(const struct tcp_sock *tp, const struct measure *m)
{
	return m->has_measured ? measured_rate(tp, m) :
				 train_carried(tp->mss_cache, m->held_up_gap);
}

/* Two trains that agree are believed, until two others are, or one shows that the path is
 * faster: by its gap or, since it came in as it left, because it might be. */
static inline enum train_result evaluate_train(struct measure *m)
{
	const struct arrived_train train = arrived_train(m);
	u64 gap = train.gap, last = m->gap;
	bool is_held_up = train.is_held_up;

	if (gap && is_held_up && train.segments >= m->held_up_segments) {
		m->held_up_gap = gap;
		m->held_up_segments = train.segments;
	}
	/* One that came in as it left says how fast the path is at least. */
	if (!gap || (!is_held_up && train_shorter(gap, last) == last))
		return TRAIN_SAYS_NOTHING;
	m->gap = is_held_up || last ? gap : 0;
	if (is_held_up && trains_agree(last, gap)) {
		m->best = train_shorter(gap, last);
		m->has_measured = true;
		return TRAIN_SAYS_RATE;
	}
	/* Clocks differ by less than a sixteenth. */
	if (gap >= m->best - m->best / 16 || (is_held_up && trains_agree(m->best, gap)))
		return TRAIN_SAYS_NOTHING;
	m->best = gap;
	return TRAIN_SAYS_FASTER;
}

/* What the first of a train lets go is the first of the next one: the acknowledgement of that
 * ends this one, also where what is sent lags behind what may be. */
static inline enum train_result next_train(const struct tcp_sock *tp, struct measure *m,
					   const struct arrived *now)
{
	enum train_result says = evaluate_train(m);

	m->trains += now->delivered - m->first.delivered > INITIAL_WINDOW;
	m->first = m->last = *now;
	m->sent_us = (u32)(tp->tcp_wstamp_ns / NS_PER_US) - m->next_from_us;
	m->next = tp->snd_nxt;
	m->next_from_us = now->us;
	m->has_train = true;
	return says;
}

/* Segments have arrived. */
static inline enum train_result measure_ack(const struct tcp_sock *tp, struct measure *m)
{
	struct arrived now = {.us = tp->tcp_mstamp, .delivered = tp->delivered};
	enum train_result says = TRAIN_SAYS_NOTHING;

	if (before(m->next, tp->snd_una))
		says = next_train(tp, m, &now);
	m->last_but_one = m->last;
	m->last = now;
	return says;
}

/* Looking on would cost each ACK something, for as long as the connection lives. */
static inline bool has_measured_enough(const struct measure *m)
{
	return m->trains >= MAX_TRAINS;
}

/* The next train has none before it to agree with. */
static inline void forget_trains(const struct tcp_sock *tp, struct measure *m)
{
	m->next = tp->snd_nxt;
	m->gap = 0;
	m->has_train = false;
}

/* What has arrived since is no train: others were sending. */
static inline void skip_trains(const struct tcp_sock *tp, struct measure *m)
{
	forget_trains(tp, m);
	m->first.delivered = tp->delivered;
}

/* All has arrived: nothing that follows ends the train that has come in, and the next one comes
 * after a pause. */
static inline void end_trains(const struct tcp_sock *tp, struct measure *m)
{
	evaluate_train(m);
	forget_trains(tp, m);
}

#endif
