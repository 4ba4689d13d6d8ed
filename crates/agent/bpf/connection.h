/* SPDX-License-Identifier: GPL-2.0-only */
/* One connection: its state, and the phases of its warm start. opening.h starts it, progress.h
 * follows it and ends the warm start, ending.h learns from it. Every congestion control of ours
 * calls these, and leaves the rest to the kernel. */
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

/* Bytes; every window is smaller (RFC 7323 §2.3). Above it sequence numbers may have wrapped, so a
 * first flight is not compared by them. */
#define ABOVE_ANY_WINDOW (1 << 30)

/* Phase of a connection's warm start; it is in one phase at a time. The table has all transitions;
 * FLIGHT stands for FIRST_FLIGHT.
 *
 * | from             event                                      function           to
 * | STOCK            a start, and the memory has a window       begin_first_flight FLIGHT
 * | FLIGHT           before it is sent: the transfer is smaller apply_size         NARROWED_FLIGHT
 * | FLIGHT           the whole flight is acknowledged           on_progress        STOCK
 * | NARROWED_FLIGHT  the whole flight is acknowledged           on_progress        NARROWED
 * | either flight    a segment is lost                          fall_back          STOCK
 * | either flight    a loss without a queue                     doubt_flight       STOCK
 * | either flight    round trips or the burst contradict the    end_if_contra-     STOCK
 * |                  memory                                     dicted, judge_burst
 * | either flight    BBR finds the pipe full                    on_startup_ack     STOCK
 * | either flight    stalled longer than the minimum RTO        end_stalled_flight IDLE
 * | either flight    the session starts again                   lead               STOCK
 * | NARROWED_FLIGHT, it sends with nothing outstanding          restart            STOCK, then
 * | NARROWED, IDLE                                                                 a new start
 * | any              idle: the kernel takes the window back     on_idle            IDLE
 * | FLIGHT           first data after its reservation expired   start_late         STOCK, then
 * |                                                                                a new start
 * | STOCK, NARROWED  hs_cubic_start hands over to hs_cubic      go_on_as_cubic     MOVING, and back
 *
 * A connection that fell back (HAS_FALLEN_BACK) never enters FIRST_FLIGHT again. Under hs_window
 * and hs_session there are STOCK and FIRST_FLIGHT alone. Under hs_bbr there is no MOVING, and no
 * IDLE but for the moment between end_stalled_flight and the new start. */
enum phase {
	PHASE_STOCK,	       /* cold, or its warm start is over: the kernel decides */
	PHASE_FIRST_FLIGHT,    /* the remembered window is sent, paced, and not yet acknowledged */
	PHASE_NARROWED_FLIGHT, /* the same, but only as wide as the size of one transfer */
	PHASE_NARROWED,	       /* after that flight: the next start may be wider */
	PHASE_IDLE,	       /* the kernel has taken back its window; nothing is sent yet since */
	PHASE_MOVING,	       /* from one congestion control of ours to another, within one call */
};

/* State of the burst of a warm start (burst.h). */
enum burst {
	BURST_NONE,	  /* it has no burst, or the burst was delivered */
	BURST_SENT,	  /* no ACK of the burst yet */
	BURST_DELIVERING, /* its first ACK was received */
};

/* The bits that its summary will have, and two more. */
enum history {
	HAS_STARTED_WARM = SUMMARY_WARM,
	HAS_FALLEN_BACK = SUMMARY_FELL_BACK,
	IS_CONTROL_GROUP = SUMMARY_CONTROL_GROUP,
	HAS_LOST_FIRST = SUMMARY_LOST_FIRST, /* a segment of its very first flight */
	IS_COMPARED = SUMMARY_COMPARED,
	HAS_MEASURED = SUMMARY_MEASURED, /* the sample that it left in memory last */
	/* outside of the canary's share: stock as the control group, and not compared */
	IS_OUTSIDE = 1U << 30,
	/* its summary is sent: it may get our congestion control once more after that */
	HAS_ENDED = 1U << 31,
	SUMMARY_BITS = HAS_STARTED_WARM | HAS_FALLEN_BACK | IS_CONTROL_GROUP | HAS_LOST_FIRST |
		       IS_COMPARED | HAS_MEASURED,
};

struct connection {
	/* Key of its memory entry: the line's (the access of one subscriber, paths.h) while the
	 * line is active, else the network's. */
	struct path_key path;
	struct path_key network;
	struct path_key line; /* `bits` is 0 where networks are as small as lines */
	u64 flight_us;	  /* when its last warm start began, by the socket's clock */
	u32 retransmitted; /* segments before its last warm start */
	u64 began_ns;
	u64 paused_ns;	  /* of the time since: it had nothing to send, longer than a round trip */
	u32 began_with;	  /* its very first window, segments */
	u32 first;	  /* remembered window of its last warm start, segments; 0: it had none */
	u32 first_end;	  /* sequence number behind the first flight, warm or cold */
	u32 delivered;	  /* segments delivered before its last warm start */
	/* segments of that flight that had been delivered when it first had nothing outstanding; 0:
	 * it always had segments outstanding */
	u32 delivered_at_pause;
	u32 cold;	  /* window of a cold start at that point */
	u32 restarts;	  /* warm, after idle */
	u32 proposed;	  /* very first window proposed by the memory, used or not; 0: none */
	u32 recalled;	  /* window that the memory gave at the last lookup; 0: none */
	/* the window in memory when it opened or, later, when its comparison began */
	u32 remembered;
	u32 past_classes; /* bits of past_of for its network, when its comparison began */
	u32 handshake_us; /* smoothed round trip when it opened */
	u32 stage;	  /* the canary's stage when it opened */
	u32 start;	  /* enum start: why it started cold, if it did */
	u32 learnt;	  /* window that it last left in memory, segments; 0: none */
	u32 own_rate;	  /* the application's SO_MAX_PACING_RATE; ~0: none */
	u32 warm_rate;	  /* the maximum pacing rate while the first flight lasts */
	/* time of the last acknowledgement; hs_window alone uses it, una and loss_end */
	u64 arrived_ns;
	u32 una;	  /* snd_una at the last look */
	/* sequence number behind what had been sent when something was last found lost */
	u32 loss_end;
	struct flights flights; /* of hs_bbr and window.h */
	struct measure measure; /* of hs_cubic and hs_session */
	struct search search;	/* of hs_cubic */
	struct arrived first_ack; /* first ACK of a wide cold start, or of a burst */
	u32 first_rtt_us;	/* round trip of that ACK, of a wide cold start */
	struct probe probe;	/* of a wide cold start */
	u64 wide_rate;		/* rate of the flight of a wide cold start, bytes a second */
	enum burst burst;
	enum phase phase;
	/* HAS_... and SUMMARY_... bits. Two of them can become false again: HAS_MEASURED, by each
	 * sample, and HAS_STARTED_WARM, if a late start is taken back. */
	u32 history;
	u8 mark;	  /* TOS octet that the agent has set on the socket (mark.h); 0: none */
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

/* Hints of the application; 0: none. */
struct hints {
	u32 size;   /* bytes that it sends next */
	u32 weight;
};

/* The hints of a listening socket apply to the connections that it accepts. */
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

/* Incremented whenever an application sets a weight. Members of a session read their weight
 * again if it has changed. */
u32 weights_set;
/* Incremented whenever an application sets a size. While it is 0, no connection looks for one. */
u32 sizes_set;

/* True from a loss until all data outstanding at the loss is acknowledged. */
static inline bool is_recovering(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) >= TCP_CA_Recovery;
}

static inline struct connection *connection_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

/* Paces at `rate` at most; ~0 leaves the rate to the kernel. False if the kernel refuses.
 * `options`: the socket, or the context of a program of sockops; bpf_setsockopt accepts both. */
static inline bool pace(void *options, u32 rate)
{
	return !bpf_setsockopt(options, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
}

static inline bool in_first_flight(const struct connection *c)
{
	return c->phase == PHASE_FIRST_FLIGHT || c->phase == PHASE_NARROWED_FLIGHT;
}

#endif
