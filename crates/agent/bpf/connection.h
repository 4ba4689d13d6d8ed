/* SPDX-License-Identifier: GPL-2.0-only */
/* One connection: what is kept of it, and the phases of its warm start. opening.h begins it,
 * progress.h goes on and ends the warm start, ending.h has what it leaves behind. Whatever
 * congestion control runs it calls these, and does the rest as ever. */
#ifndef HEADSTART_CONNECTION_H
#define HEADSTART_CONNECTION_H

#include "epoch.h"
#include "flights.h"
#include "mark.h"
#include "probe.h"
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

/* Where a connection is with the burst of its warm start (burst.h). */
enum burst {
	BURST_NOT, /* it has none, or that has arrived */
	BURST_SENT,
	BURST_ARRIVES,
};

/* The bits that its summary will have, and one more. */
enum history {
	HAS_BEGUN_WARM = SUMMARY_WARM,
	HAS_FALLEN_BACK = SUMMARY_FELL_BACK,
	IS_CONTROL_GROUP = SUMMARY_CONTROL_GROUP,
	HAS_LOST_FIRST = SUMMARY_LOST_FIRST, /* something of its very first flight */
	IS_COMPARED = SUMMARY_COMPARED,
	HAS_MEASURED = SUMMARY_MEASURED, /* what it has left in memory last */
	/* beyond the canary's share: stock as the control group, and not compared */
	IS_OUTSIDE = 1U << 30,
	/* its summary is sent: it may get our congestion control anew after that */
	HAS_ENDED = 1U << 31,
	SUMMARY_BITS = HAS_BEGUN_WARM | HAS_FALLEN_BACK | IS_CONTROL_GROUP | HAS_LOST_FIRST |
		       IS_COMPARED | HAS_MEASURED,
};

struct connection {
	struct path_key path; /* by which it is answered: its line's, or its network's */
	struct path_key network;
	struct path_key line; /* `bits` is 0 where networks are as small as lines */
	u64 flight_us;	  /* when its last warm start began, by the socket's clock */
	u32 retransmitted; /* segments before that */
	u64 began_ns;
	u64 paused_ns;	  /* of the time since: it had nothing to send, longer than a round trip */
	u32 began_with;	  /* its very first window, segments */
	u32 first;	  /* remembered window of its last warm start, segments; 0: it had none */
	u32 first_end;	  /* sequence number behind that flight */
	u32 delivered;	  /* segments delivered before that */
	/* segments of it that had arrived when it first had nothing outstanding; 0: it always had
	 * something */
	u32 used;
	u32 cold;	  /* window it would have begun with there */
	u32 restarts;	  /* warm, after idle */
	u32 proposed;	  /* very first window by the memory, taken or not; 0: none */
	u32 recalled;	  /* window that the memory had when it was last asked; 0: none */
	u32 remembered;	  /* the same as it opened or, later, as it began to be compared */
	u32 past;	  /* of its path, as it began to be compared (past_of) */
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
	struct arrived first_ack; /* the same: of a wide cold start, or of a burst */
	struct probe probe;	/* of a wide cold start */
	u64 wide_rate;		/* the same: of its flight, bytes a second */
	enum burst burst;
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
	/* It has lost something: its threshold is the congestion control's from then on, and says
	 * nothing of where slow start ends. */
	bool has_lost;
	/* Its first flight has lost something that no queue explains; judged when that flight is
	 * over. */
	bool is_doubted;
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

static inline bool in_first_flight(const struct connection *c)
{
	return c->phase == PHASE_FIRST_FLIGHT || c->phase == PHASE_NARROWED_FLIGHT;
}

#endif
