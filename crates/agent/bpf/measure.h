/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures by a connection's ACKs at which rate its flights are delivered (trains.h). The flights
 * of slow start are the trains. If two in a row agree, they count as the path's rate, and the
 * memory learns it. The caller decides what follows: search.h for a cold start, nothing at all in a
 * session. */
#ifndef HEADSTART_MEASURE_H
#define HEADSTART_MEASURE_H

#include "flights.h"
#include "paths.h"
#include "trains.h"

/* Slow start that has doubled from ten segments this often fills any window, or something else
 * keeps it from growing: later flights are not measured. */
#define MAX_TRAINS 16

/* An ACK: when it came, by the socket's clock, microseconds, and what had been delivered with
 * it. Both wrap. */
struct arrived {
	u32 us;
	u32 delivered;
};

struct measure {
	u64 gap;	     /* of the last train, nanoseconds a segment; 0: none */
	/* the estimate, in the same unit; of a warm start at first the remembered one */
	u64 best;
	u32 next;	     /* sequence number that the next train begins with */
	u32 next_from_us;    /* when the first of that may have left */
	u32 sent_us;	     /* time over which the train that is being delivered was sent */
	struct arrived first; /* first ACK of the train that is being delivered */
	struct arrived last;
	struct arrived last_but_one;
	/* number of delivered trains with more segments than an initial window */
	u32 trains;
	bool has_train;
	bool has_measured;   /* two trains agree on `best` */
	u32 held_up_segments; /* of the longest train that was held up */
	u64 held_up_gap;      /* of that one, nanoseconds a segment; 0: none was */
};

/* Result of a train: nothing new; the path's rate, with the train before; or that the path is
 * faster than believed, by an unknown factor. */
enum train_result { TRAIN_SAYS_NOTHING, TRAIN_SAYS_RATE, TRAIN_SAYS_FASTER };

/* Takes the remembered rate of a path, bytes a second, as the first estimate. */
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

/* The part of a train that is delivered so far. */
struct arrived_train {
	u64 gap; /* nanoseconds a segment; 0: not known */
	u32 segments;
	bool is_held_up; /* it was delivered over a longer time than it was sent */
};

/* The train by its last ACK or by the last but one. The last one may be delayed, waiting for one
 * more segment: the one before it is better then. */
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

/* The measured rate, bytes a second; 0: none. */
static inline u64 measured_rate(const struct tcp_sock *tp, const struct measure *m)
{
	return m->has_measured ? train_carried(tp->mss_cache, m->best) : 0;
}

/* The measured rate or, where no two trains have agreed, the rate of the longest train that was
 * held up, bytes a second; 0: none. A single train may be wrong: it is good enough for a gateway,
 * which combines several reports, and not for pacing. */
static inline u64 shown_rate(const struct tcp_sock *tp, const struct measure *m)
{
	return m->has_measured ? measured_rate(tp, m) :
				 train_carried(tp->mss_cache, m->held_up_gap);
}

/* Evaluates the train. Two trains that agree determine the rate, until two others do. The rate is
 * discarded if one train shows that the path is faster: by its gap, or because it was delivered as
 * fast as it was sent. */
static inline enum train_result evaluate_train(struct measure *m)
{
	const struct arrived_train train = arrived_train(m);
	u64 gap = train.gap, last = m->gap;
	bool is_held_up = train.is_held_up;

	if (gap && is_held_up && train.segments >= m->held_up_segments) {
		m->held_up_gap = gap;
		m->held_up_segments = train.segments;
	}
	/* A train delivered as fast as it was sent gives a lower bound of the path's rate. */
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

/* Ends a train and starts the next one. The first ACK of a train releases the first segment of the
 * next one, whose acknowledgement therefore ends the train. This holds also if the sender does not
 * use its whole window. */
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

/* Measures at an ACK. */
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

/* Restarts the measurement: other connections were sending, so the last segments are no train. */
static inline void skip_trains(const struct tcp_sock *tp, struct measure *m)
{
	forget_trains(tp, m);
	m->first.delivered = tp->delivered;
}

/* Ends the train when everything is acknowledged: no later ACK will end it, and the next train
 * follows a pause. */
static inline void end_trains(const struct tcp_sock *tp, struct measure *m)
{
	evaluate_train(m);
	forget_trains(tp, m);
}

#endif
