/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface of the programs and their loader: the maps and the layout of their values.
 * src/contract is the other half. */
#ifndef HEADSTART_CONTRACT_H
#define HEADSTART_CONTRACT_H

/* A destination prefix as seen from a network namespace. IPv4 addresses are v4-mapped
 * (::ffff:a.b.c.d), so sockets of both families share the paths. Bits after the prefix are 0. */
struct path_key {
	u32 netns; /* inode number; 0: all namespaces share the path */
	u32 bits;  /* of 128 */
	__be32 address[4];
};

/* A flag in `bits` of a key: the key is of a line, one subscriber's access. A network with as many
 * bits has another key. */
enum { LINE = 256 };

/* The memory of a path. Windows in segments. Any connection that learns something writes it without
 * a lock, one at a time (BEING_LEARNT). Values are bounded where they are used, never where they
 * are written. */
struct path {
	/* when `window` was learnt, on CLOCK_MONOTONIC; if an earlier boot learnt it: wrapped,
	 * below 0 */
	u64 learnt_ns;
	u64 bytes_acked;    /* of the connections closed since the path is remembered */
	u64 sent;	    /* segments with data, retransmissions included */
	u64 retransmitted;
	/* delivery rate that flights have shown, bytes a second; 0: not measured */
	u64 rate;
	u32 window;
	u32 ssthresh;	    /* 0: slow start had not ended */
	u32 srtt_us;	    /* when `window` was learnt, queue included */
	u32 min_rtt_us;
	u32 connections;    /* closed since the path is remembered */
	u32 warm;	    /* number of those connections that started with a remembered window */
	u32 fallbacks;	    /* warm starts that lost a segment of their first flight */
	u32 fallbacks_in_row;
};

/* The operator's settings for a prefix, found by longest match. */
struct override_key {
	u32 bits;
	__be32 address[4];
};

struct override {
	u32 bits; /* prefix length of the paths that are remembered there */
	u32 cap;  /* largest first window, segments; 0: the agent leaves connections there alone */
};

/* The congestion control that the agent sets. CONTROL_AUTO: ours, derived from the one that the
 * connection has. */
enum control { CONTROL_AUTO, CONTROL_CUBIC, CONTROL_BBR, CONTROL_SESSION };

/* Settings for all connections. The loader may change them at any time: a connection reads them
 * when it opens. */
struct settings {
	u64 max_age_ns;
	u32 half_life_rtts;
	u32 cap;
	u32 v4_bits; /* of 32 */
	u32 v6_bits; /* of 128 */
	u32 control; /* enum control */
	u32 control_group; /* connections of a million that start cold for comparison */
	u32 salt;    /* makes the choice of the control group unpredictable */
	u32 flags;
	u32 mark;    /* octet of DSCP and ECN of first flights; 0: unchanged */
	/* bytes of receive window that connections which we open offer at first; 0: the kernel's */
	u32 receive_window;
	u32 canary; /* connections of a million, beside the control group, that may start warm */
	/* stage of the canary with these settings; closed connections are compared by stage */
	u32 stage;
	u64 stopped_windows;    /* by class of the remembered window (WINDOW_CLASS), bits */
	u32 stopped_lengths[8]; /* by length of the prefix, IPv4 from LENGTH_V4 on, bits */
	u32 rto_min_us; /* minimum of the retransmission timeout; 0: the kernel's */
	u32 stopped_pasts; /* by what paths carried and lost (past_of), bits */
};

/* Classes of remembered windows: the first ends at WINDOW_CLASS segments, each next one at twice as
 * many. The last class has all larger windows. */
enum { WINDOW_CLASS = 16, WINDOW_CLASSES = 5 };
/* Classes of paths by bytes of a connection, and by retransmitted segments of a thousand. The first
 * class ends at SIZE_CLASS or LOSS_CLASS, each next one at four times as many. CARRIED_BITS and
 * LOST_BITS are the first bit of each kind in a word. */
enum { SIZE_CLASS = 16384, SIZE_CLASSES = 5, CARRIED_BITS = 0 };
enum { LOSS_CLASS = 1, LOSS_CLASSES = 4, LOST_BITS = 8 };
enum { LENGTH_V4 = 160 };

enum { LEAVE_WINDOWS = 1, /* learn, and report which window would be set */
       ONLY_PORTS = 2,	  /* hook only connections of the ports that are named PORT_ONLY */
       PACE_COLD = 4,	  /* cold starts measure the path, and end slow start by that */
       SHARE_NAMESPACES = 8,	  /* network namespaces share what is learnt */
       END_EPOCHS = 16, /* transfers whose size is known begin so that they end with an epoch */
       /* other programs hook new connections: ours keep to the connections that they have */
       SUPERSEDED = 32,
       REPORT_STARTS = 64, /* each start is reported when it happens */
       ASK_GATEWAY = 128, /* the gateway is asked for a path when a handshake begins */
       KNOWN_TIMER = 256, /* timers of SYNs and SYN-ACKs use the path's known time to answer */
       WIDE_COLD = 512, /* cold starts send more than a stock window, and pace the excess slowly */
       STOP_NETWORKS = 1024 }; /* some networks are left alone */

/* The operator's rules for ports, by side and number in host order. */
enum { PORT_REMOTE = 1 << 16 };
enum { PORT_ONLY = 1, PORT_EXCEPT = 2 };

/* Report of a connection, sent when it closes. */
struct summary {
	struct path_key path;
	/* from its opening to the last acknowledged data, less its pauses (count_pause) */
	u64 lasted_ns;
	u64 bytes_acked;
	/* delivery rate of its flights (SUMMARY_SHOWN_RATE), if only of the longest; otherwise the
	 * remembered rate of its path; bytes a second; 0: not known */
	u64 rate;
	u32 first_window; /* segments that it started with */
	u32 last_window;
	u32 srtt_us;
	u32 min_rtt_us;
	u32 sent;	   /* segments with data, retransmissions included */
	u32 retransmitted; /* SYNs included */
	u32 learnt;	   /* window left in memory by its close; 0: none */
	u32 flags;
	u32 restarts; /* warm, after idle */
	u32 proposed;    /* first window that the memory proposed, taken or not; 0: none */
	u32 remembered;  /* window that the memory had for it as it opened, segments; 0: none */
	u32 handshake_us;
	u32 stage; /* in which the connection opened */
	u32 start; /* enum start */
	u32 mss;      /* payload of a full segment, bytes */
	u32 flight;   /* most segments that were outstanding at a time and all delivered */
	u32 past;     /* what its path had carried and lost as it opened (past_of), bits */
	u32 spare;
};

enum { SUMMARY_WARM = 1, SUMMARY_FELL_BACK = 2, SUMMARY_CONTROL_GROUP = 4, SUMMARY_LOST_FIRST = 8,
       /* the memory had a window, and only chance decided whether the connection uses it */
       SUMMARY_COMPARED = 16,
       /* a loss, or BBR, has measured `learnt`; otherwise `learnt` is a lower bound of the path */
       SUMMARY_MEASURED = 32,
       /* `rate` was shown by the connection itself, and is not the remembered one */
       SUMMARY_SHOWN_RATE = 64 };

/* The kind of a start: warm, or the first reason why it was cold. */
enum start {
	START_WARM,
	START_HANDSHAKE, /* it lost a segment, or data was sent before */
	START_UNKNOWN,	 /* nothing is remembered of its path */
	START_OLD,
	START_ROUND_TRIP, /* it does not fit the remembered one */
	START_SMALL,	  /* no more than a stock window is remembered */
	START_STOPPED,	  /* the canary has stopped this class of connections, or all warm starts */
	START_OUTSIDE,	  /* outside of the canary's share */
	START_CONTROL_GROUP,
	START_SHARED, /* other connections that open at the same time use the window */
	START_PACING, /* it cannot be paced, or would be slower than a cold start */
};

/* Report of a connection's start, sent when it starts, if the agent logs decisions. */
struct decision {
	struct path_key path;
	u64 age_ns;	/* of the memory; 0: the path is not remembered */
	u64 rate;	/* of its first flight, bytes a second; 0: paced by the kernel */
	u32 trigger;	/* send opportunity (`enum trigger`) */
	u32 start;	/* enum start */
	u32 flags;	/* the SUMMARY_... bits that are known so far */
	u32 window;	/* segments it starts with */
	u32 cold;	/* segments of a cold start instead */
	u32 remembered; /* remembered window, after ageing and the cap; 0: none */
	u32 rtt_us;
	u32 stage; /* of the canary, in which it opened */
};

/* In place of enum start: an earlier start of the connection has failed, so this one is cold. */
enum { FELL_BACK_BEFORE = 255 };

/* A request for what the gateway knows of a path. */
struct inquiry {
	struct path_key path;
	u64 at_ns;    /* CLOCK_MONOTONIC */
	u32 trigger; /* enum inquiry_trigger */
	u32 spare;
};

enum inquiry_trigger {
	/* a SYN was received, or is about to be sent: an answer can be in time */
	INQUIRY_HANDSHAKE,
	INQUIRY_OPEN,	   /* a connection has opened: the answer is for the next one */
};

enum trigger {
	TRIGGER_OPENING,
	TRIGGER_IDLE,	/* the kernel had reset its window */
	TRIGGER_AGAIN, /* its first flight was narrowed to the size of one transfer */
	TRIGGER_LATE,	/* its first data follows long after it opened */
};

#endif
