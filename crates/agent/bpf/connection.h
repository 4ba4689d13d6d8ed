/* SPDX-License-Identifier: GPL-2.0-only */
/* One connection: its warm start, the end of that, and what it leaves behind. Whatever
 * congestion control runs it calls these, and does the rest as ever. */
#ifndef HEADSTART_CONNECTION_H
#define HEADSTART_CONNECTION_H

#include "epoch.h"
#include "flights.h"
#include "mark.h"
#include "search.h"
#include "reserve.h"
#include "canary.h"
#include "headstart.h"

/* No window is so many bytes (RFC 7323 §2.3): what lies behind is beyond a first flight, also
 * when sequence numbers have wrapped. */
#define ANY_WINDOW (1 << 30)

/* Where a connection is with its warm start: in one phase at a time. These are all
 * transitions; FLIGHT stands for FIRST_FLIGHT.
 *
 *  from             event                                      function           to
 *  STOCK            a start, and the memory has a window       begin_first_flight FLIGHT
 *  FLIGHT           before it is sent: the transfer is smaller apply_size         NARROWED_FLIGHT
 *  FLIGHT           the whole flight is acknowledged           on_progress        STOCK
 *  NARROWED_FLIGHT  the whole flight is acknowledged           on_progress        NARROWED
 *  either flight    a segment is lost                          fall_back          STOCK
 *  either flight    the session starts again                   lead               STOCK
 *  NARROWED_FLIGHT, it sends again with nothing outstanding    restart            STOCK, then
 *  NARROWED, IDLE                                                                 a new start
 *  any              idle: the kernel takes the window back     on_idle            IDLE
 *  FLIGHT           first data that comes after its loan ended start_late         STOCK, then
 *                                                                                 a new start
 *  STOCK, NARROWED  hs_cubic_start hands over to hs_cubic      go_on_as_cubic     MOVING, and back
 *
 * A connection that fell back (HAS_FALLEN_BACK) never enters FIRST_FLIGHT again. Under hs_window
 * there are STOCK and FIRST_FLIGHT alone, under hs_bbr no IDLE and MOVING, under hs_session only
 * STOCK and FIRST_FLIGHT. */
enum phase {
	PHASE_STOCK,	       /* cold, or its warm start is over: the kernel decides */
	PHASE_FIRST_FLIGHT,    /* the remembered window is sent, paced, and not yet acknowledged */
	PHASE_NARROWED_FLIGHT, /* the same, but only as wide as the size of one transfer */
	PHASE_NARROWED,	       /* after that flight: the next start may be wider */
	PHASE_IDLE,	       /* the kernel has taken back its window; nothing is sent yet since */
	PHASE_MOVING,	       /* from one congestion control of ours to another, within one call */
};

/* The bits that its summary will have, and one more. */
enum history {
	HAS_BEGUN_WARM = SUMMARY_WARM,
	HAS_FALLEN_BACK = SUMMARY_FELL_BACK,
	IS_CONTROL_GROUP = SUMMARY_CONTROL_GROUP,
	HAS_LOST_FIRST = SUMMARY_LOST_FIRST, /* something of its very first flight */
	IS_COMPARED = SUMMARY_COMPARED,
	/* beyond the canary's share: stock as the control group, and not compared */
	IS_OUTSIDE = 1U << 30,
	/* its summary is sent: it may get our congestion control anew after that */
	HAS_ENDED = 1U << 31,
	SUMMARY_BITS = HAS_BEGUN_WARM | HAS_FALLEN_BACK | IS_CONTROL_GROUP | HAS_LOST_FIRST |
		       IS_COMPARED,
};

struct connection {
	struct path_key path;
	u64 began_ns;
	u64 paused_ns;	  /* of the time since: it had nothing to send, longer than a round trip */
	u32 began_with;	  /* its very first window, segments */
	u32 first;	  /* remembered window of its last warm start, segments; 0: it had none */
	u32 first_end;	  /* sequence number behind that flight */
	u32 delivered;	  /* segments delivered before that */
	u32 cold;	  /* window it would have begun with there */
	u32 restarts;	  /* warm, after idle */
	u32 proposed;	  /* very first window by the memory, taken or not; 0: none */
	u32 recalled;	  /* window that the memory had when it was last asked; 0: none */
	u32 remembered;	  /* the same as it opened or, later, as it began to be compared */
	u32 handshake_us;
	u32 stage;	  /* in which it opened */
	u32 start;	  /* enum start: why it started cold, if it did */
	u32 learnt;
	u32 own_rate;	  /* SO_MAX_PACING_RATE as the application has it; ~0: none */
	u32 warm_rate;	  /* the same while the first flight lasts */
	/* when something last arrived; of window.h, as the next two */
	u64 arrived_ns;
	u32 una;	  /* first that had not arrived when it was last looked at */
	/* sequence number behind what had been sent when something was last found lost */
	u32 loss_end;
	struct flights flights; /* of hs_bbr and window.h */
	struct measure measure; /* of hs_cubic and hs_session */
	struct search search;	/* of hs_cubic */
	enum phase phase;
	u32 history;	  /* HAS_... and SUMMARY_... bits: facts that once true stay true */
	u8 mark;	  /* ours, on what it sends; 0: none */
	/* In any phase, and independent of each other: */
	/* The agent switched pacing on and has to switch it off. Pacing outlasts the first flight
	 * until slow start ends, also over idle times. */
	bool is_paced;
	/* Its ACKs are sampled for the rate of the path: a session's member, warm or cold, until a
	 * loss, the end of slow start, or enough flights. */
	bool is_measured;
	/* Its own congestion control does not react to loss: of hs_window, fixed for its life. */
	bool is_loss_blind;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* What the application has said; 0: nothing. */
struct hints {
	u32 size;   /* bytes that it sends next */
	u32 weight;
};

/* Of listening sockets, what those that they accept begin with. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct hints);
} hints SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} summaries SEC(".maps");

/* Times that applications have said a weight: who belongs to a session hears when it changes. */
u32 weights_set;
/* Times that they have said a size: until one has, nobody looks for one. */
u32 sizes_set;

/* One number: summaries that found the buffer full. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} lost_summaries SEC(".maps");

/* From a loss until all that was under way then has arrived. */
static inline bool is_recovering(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) >= TCP_CA_Recovery;
}

static inline struct connection *connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

/* Paces at `rate` at most and, with ~0, as fast as the kernel likes; false if that cannot be
 * had. `options`: what takes options of the socket, itself or the context of a program of
 * sockops. */
static inline bool pace(void *options, u32 rate)
{
	return !bpf_setsockopt(options, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
}

/* At which rate `window` is sent, and what is the application's own; false if it is not to be
 * sent. */
static inline bool choose_rate(const struct sock *sk, struct connection *c, const struct path *path,
			       u32 window)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	u32 now_us = tp->srtt_us >> 3, then_us = path->srtt_us;
	u64 even = pacing_rate(window, tp->mss_cache, now_us > then_us ? now_us : then_us);
	u64 rate = first_rate(even, path->rate, window, path->window);
	u64 own = sk->sk_max_pacing_rate;

	/* Slower than a cold start, as a peer of the same prefix can make it who answers late:
	 * then a cold start. */
	if (even < pacing_rate(c->cold, tp->mss_cache, now_us))
		return false;
	/* The option is of 32 bits; what an application has set beyond could not be put back. */
	if (!even || even >= ~0U || !own || (own != ~0UL && own >= ~0U))
		return false;
	rate = rate < ~0U ? rate : ~0U - 1;
	c->own_rate = own;
	c->warm_rate = rate < c->own_rate ? rate : c->own_rate;
	return true;
}

static inline bool in_first_flight(const struct connection *c)
{
	return c->phase == PHASE_FIRST_FLIGHT || c->phase == PHASE_NARROWED_FLIGHT;
}

/* What it sends from now on is a first flight of `window`. */
static inline void begin_first_flight(const struct tcp_sock *tp, struct connection *c, u32 window)
{
	c->first = window;
	c->delivered = tp->delivered;
	c->first_end = tp->snd_nxt + window * tp->mss_cache;
	c->phase = PHASE_FIRST_FLIGHT;
}

/* Opens with what is remembered, if pacing can be had for it. */
static inline void begin_warm(struct sock *sk, struct connection *c, const struct path *path,
			      u32 window)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	bool was_unpaced = sk->sk_pacing_status == SK_PACING_NONE;

	if (!choose_rate(sk, c, path, window) || !pace(sk, c->warm_rate)) {
		c->start = START_PACING;
		return;
	}
	c->is_paced = (c->is_paced || was_unpaced) && c->own_rate == ~0U;
	begin_first_flight(tp, c, window);
	assume_rate(&c->measure, tp->mss_cache, path->rate);
	tp->snd_cwnd = window;
	/* CUBIC's the kernel sets anew at every ACK, BBR's only BBR. */
	sk->sk_pacing_rate = c->warm_rate;
	/* Slow start ended somewhere: it does not begin again below. It never has: it goes on. */
	if (path->ssthresh)
		tp->snd_ssthresh = path->ssthresh > window ? path->ssthresh : window;
}

/* Chance gives it what the memory has, and nobody is to compare others with it. */
static inline bool is_chosen(const struct connection *c)
{
	return !(c->history & (IS_CONTROL_GROUP | IS_OUTSIDE));
}

/* Its window is ours to choose. */
static inline bool may_choose_window(const struct connection *c)
{
	return is_chosen(c) && !is_stopped(&c->path, c->recalled);
}

/* The memory has a window for it: from now on it is compared, unless it is left alone whatever
 * chance says. How it starts. */
static inline enum start compare(struct connection *c)
{
	c->remembered = c->recalled;
	if (is_stopped(&c->path, c->recalled))
		return START_STOPPED;
	if (c->history & IS_OUTSIDE)
		return START_OUTSIDE;
	c->history |= IS_COMPARED;
	return c->history & IS_CONTROL_GROUP ? START_CONTROL_GROUP : START_SHARED;
}

/* What the memory has for it now; if nothing, why. */
static inline enum start look_up(const struct tcp_sock *tp, struct connection *c, u32 cap)
{
	u32 window = recall(&c->path, tp->srtt_us >> 3, tp->snd_cwnd, cap);

	c->recalled = window & COLD_FOR ? 0 : window;
	return window & ~COLD_FOR;
}

/* As it opens. The first reason is kept; a start that fails later says so. */
static inline void look_up_first(const struct tcp_sock *tp, struct connection *c, u32 cap)
{
	c->start = START_HANDSHAKE;
	if (tp->total_retrans || tp->data_segs_out)
		return;
	c->start = look_up(tp, c, cap);
	if (c->recalled)
		c->start = compare(c);
}

/* As it starts once more. A first visit has a memory by then, of its own, and is compared from
 * now on: until now it went on alike in both groups. Members of a session join the window of
 * others then, so there it is not alike. */
static inline void look_up_again(const struct tcp_sock *tp, struct connection *c, u32 cap)
{
	look_up(tp, c, cap);
	if (c->recalled && !(c->history & IS_COMPARED) && settings.control != CONTROL_SESSION)
		compare(c);
}

/* Opens as wide as the memory allows to one of `among` connections, unless it is to be left
 * alone: the window that it has now is what it begins with otherwise. The window by the memory;
 * 0: it says nothing. */
static inline u32 begin_as_remembered(struct sock *sk, struct connection *c, u32 cap, u32 among)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct offer o = {.cold = tp->snd_cwnd, .cap = cap, .among = among};
	bool has_reserved = reserve_window(tp, &c->path, &o, is_chosen(c));

	c->cold = o.cold;
	if (has_reserved && may_choose_window(c))
		begin_warm(sk, c, o.path, o.window);
	return o.window;
}

/* Something is lost. */
static inline void note_loss(const struct tcp_sock *tp, struct connection *c)
{
	if (!c->restarts && tp->bytes_acked < ANY_WINDOW && before(tp->snd_una, c->first_end))
		c->history |= HAS_LOST_FIRST;
}

/* A connection is open; NULL if it is to be left alone. */
static inline struct connection *open_connection(struct sock *sk, struct destination *to)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 lot = lot_of(sk);
	struct connection *c;

	if (!destination_of(sk, to) || !to->cap)
		return NULL;
	c = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!c)
		return NULL;
	c->path = to->path;
	c->began_ns = bpf_ktime_get_ns();
	c->first_end = tp->snd_nxt + tp->snd_cwnd * tp->mss_cache;
	c->handshake_us = tp->srtt_us >> 3;
	c->stage = settings.stage;
	if (is_control_lot(lot))
		c->history |= IS_CONTROL_GROUP;
	if (is_outside_lot(lot))
		c->history |= IS_OUTSIDE;
	look_up_first(tp, c, to->cap);
	return c;
}

/* It begins by itself, and has sent nothing yet. NULL if it is to be left alone. */
static inline struct connection *begin(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct destination to = {};
	struct connection *c = open_connection(sk, &to);
	u32 among;

	if (!c)
		return NULL;
	among = finish_handshake(&c->path);
	/* A handshake that lost something speaks against the memory. */
	if (!tp->total_retrans && !tp->data_segs_out)
		c->proposed = begin_as_remembered(sk, c, to.cap, among);
	c->began_with = tp->snd_cwnd;
	if (c->first)
		c->history |= HAS_BEGUN_WARM;
	return c;
}

static inline void end_mark(struct sock *sk, struct connection *c)
{
	if (c->mark)
		unmark(sk, c->mark);
	c->mark = 0;
}

/* The first flight is over: as fast as the application allows again. `next` is the phase after
 * it. */
static inline void end_first_flight(struct sock *sk, struct connection *c, enum phase next)
{
	end_mark(sk, c);
	c->phase = next;
	if (sk->sk_max_pacing_rate == c->warm_rate)
		pace(sk, c->own_rate);
}

/* Whether anything is to be done as segments arrive, or are sent after a pause. Otherwise it
 * is a stock connection. */
static inline bool is_special(const struct connection *c)
{
	return c->mark || in_first_flight(c) || c->phase == PHASE_IDLE || c->is_paced ||
	       c->search.is_on ||
	       c->is_measured;
}

/* Segments have arrived and nothing is missing. */
static inline void on_progress(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	end_mark(sk, c);
	if (in_first_flight(c) && !before(tp->snd_una, c->first_end))
		end_first_flight(sk, c, c->phase == PHASE_NARROWED_FLIGHT ? PHASE_NARROWED :
									    PHASE_STOCK);
	/* Paced as long as slow start lasts: HyStart would take what pacing spreads for a full
	 * pipe. */
	if (c->is_paced && !in_first_flight(c) && !in_slow_start(tp)) {
		c->is_paced = false;
		leave_unpaced(sk);
	}
}

static inline void take_sample(const struct tcp_sock *tp, const struct connection *c,
			       struct path_sample *sample)
{
	sample->at_ns = tp->delivered_mstamp * NS_PER_US;
	sample->srtt_us = tp->srtt_us >> 3;
	sample->min_rtt_us = tp->rtt_min.s[0].v;
	sample->ssthresh = tp->snd_ssthresh < TCP_INFINITE_SSTHRESH ? tp->snd_ssthresh : 0;
	sample->rate = measured_rate(tp, &c->measure);
}

static inline void update_memory(struct connection *c, const struct path_sample *sample,
				 bool is_measured)
{
	if (update_path(&c->path, sample, is_measured))
		c->learnt = sample->window;
}

/* A first flight has lost something: it says that the path is not the one remembered. The window
 * to go on with. */
static inline u32 fall_back(struct sock *sk, struct connection *c)
{
	end_first_flight(sk, c, PHASE_STOCK);
	c->history |= HAS_FALLEN_BACK;
	halve_path(&c->path);
	return c->first / 2 > c->cold ? c->first / 2 : c->cold;
}

/* Something is lost, or marked. To `ssthresh`, that of the congestion control, the window falls,
 * or further. */
static inline u32 on_loss(struct sock *sk, struct connection *c, u32 ssthresh)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct path_sample sample = {};
	u32 half;

	note_loss(tp, c);
	if (in_first_flight(c)) {
		half = fall_back(sk, c);
		return half < ssthresh ? half : ssthresh;
	}
	take_sample(tp, c, &sample);
	sample.window = window_at_loss(tp->snd_cwnd, in_slow_start(tp));
	sample.ssthresh = ssthresh;
	update_memory(c, &sample, true);
	return ssthresh;
}

static inline void count_lost_summary(void)
{
	u32 first = 0;
	u64 *count = bpf_map_lookup_elem(&lost_summaries, &first);

	if (count)
		__sync_fetch_and_add(count, 1);
}

static inline void send_summary(struct sock *sk, struct connection *c)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct summary *s = bpf_ringbuf_reserve(&summaries, sizeof(*s), 0);
	u64 lasted_ns;

	if (!s) {
		count_lost_summary();
		return;
	}
	s->path = c->path;
	/* In microseconds when it last arrived, in nanoseconds when it began: below 0 if nothing
	 * has. */
	lasted_ns = tp->delivered_mstamp * NS_PER_US - c->began_ns - c->paused_ns;
	s->lasted_ns = (s64)lasted_ns > 0 ? lasted_ns : 0;
	s->bytes_acked = tp->bytes_acked;
	s->first_window = c->began_with;
	s->last_window = tp->snd_cwnd;
	s->srtt_us = tp->srtt_us >> 3;
	s->min_rtt_us = tp->rtt_min.s[0].v;
	s->sent = tp->data_segs_out;
	s->retransmitted = tp->total_retrans;
	s->learnt = c->learnt;
	s->flags = c->history & SUMMARY_BITS;
	s->restarts = c->restarts;
	s->proposed = c->proposed;
	s->remembered = c->remembered;
	s->handshake_us = c->handshake_us;
	s->stage = c->stage;
	s->start = c->history & HAS_BEGUN_WARM ? START_WARM : c->start;
	bpf_ringbuf_submit(s, 0);
}

/* What it has proven since the last loss. */
static inline void take_proven_sample(const struct tcp_sock *tp, const struct connection *c,
				      const struct flights *f,
				 struct path_sample *sample)
{
	u32 flight = proven_flight(f, tp);
	u32 delivered = c->history & HAS_FALLEN_BACK ? 0 : tp->delivered - c->delivered;

	take_sample(tp, c, sample);
	sample->window = proven(tp->snd_cwnd, in_slow_start(tp), flight, c->first, delivered);
	/* A search says where slow start would end, and has not shown it. */
	if (c->search.is_on && c->search.is_endless)
		sample->ssthresh = 0;
}

/* It closes, or gets another congestion control: leaves `sample`, measured or, as any window is,
 * proven. */
static inline void end(struct sock *sk, struct connection *c, const struct path_sample *sample,
		       bool is_measured)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct path *path;

	if (c->history & HAS_ENDED)
		return;
	c->history |= HAS_ENDED;
	update_memory(c, sample, is_measured);
	path = bpf_map_lookup_elem(&paths, &c->path);
	if (path) {
		__sync_fetch_and_add(&path->connections, 1);
		__sync_fetch_and_add(&path->bytes_acked, tp->bytes_acked);
		__sync_fetch_and_add(&path->sent, tp->data_segs_out);
		__sync_fetch_and_add(&path->retransmitted, tp->total_retrans);
		if (c->history & HAS_BEGUN_WARM)
			__sync_fetch_and_add(&path->warm, 1);
		if (c->first && !(c->history & HAS_FALLEN_BACK))
			path->fallbacks_in_row = 0;
	}
	send_summary(sk, c);
}

#endif
