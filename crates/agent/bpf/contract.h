/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs and their loader share: the maps, and what is in them byte by byte.
 * src/contract is the other half. */
#ifndef HEADSTART_CONTRACT_H
#define HEADSTART_CONTRACT_H

/* A destination prefix as seen from a network namespace. IPv4 addresses are v4-mapped
 * (::ffff:a.b.c.d), so one socket family's paths are the other's, too. Bytes beyond the prefix
 * are 0. */
struct path_key {
	u32 netns; /* inode number; 0: of all, if they share */
	u32 bits;  /* of 128 */
	__be32 address[4];
};

/* In `bits` of a key: it is a line's, one subscriber's access, also where a network is of as many
 * bits. */
enum { LINE = 256 };

/* What is known of a path. Windows in segments. Written without a lock by whichever connection
 * learns something, one at a time (BEING_LEARNT): what is read is bounded where it is used, never
 * where it is written. */
struct path {
	/* when `window` was, on CLOCK_MONOTONIC; from an earlier boot: wrapped, below 0 */
	u64 learnt_ns;
	u64 bytes_acked;    /* of the connections closed since the path is remembered */
	u64 sent;	    /* segments with data, retransmissions included */
	u64 retransmitted;
	/* at which flights were seen to come in, bytes a second; 0: not measured */
	u64 rate;
	u32 window;
	u32 ssthresh;	    /* 0: slow start had not ended */
	u32 srtt_us;	    /* when `window` was learnt, queue included */
	u32 min_rtt_us;
	u32 connections;    /* closed since the path is remembered */
	u32 warm;	    /* of these, begun with a remembered window */
	u32 fallbacks;	    /* warm starts that lost something of their first flight */
	u32 fallbacks_in_row;
};

/* What the operator has said of a prefix, by longest match. */
struct override_key {
	u32 bits;
	__be32 address[4];
};

struct override {
	u32 bits; /* remembered as one path of so many bits */
	u32 cap;  /* largest first window, segments; 0: connections there are left alone */
};

/* What attended connections get. CONTROL_AUTO: ours upon the kernel's own that they have. */
enum control { CONTROL_AUTO, CONTROL_CUBIC, CONTROL_BBR, CONTROL_SESSION };

/* For all connections. The loader may change them at any time: a connection reads them as it
 * opens. */
struct settings {
	u64 max_age_ns;
	u32 half_life_rtts;
	u32 cap;
	u32 v4_bits; /* of 32 */
	u32 v6_bits; /* of 128 */
	u32 control; /* enum control */
	u32 control_group; /* of a million connections so many begin cold for comparison */
	u32 salt;    /* so that nobody can tell which */
	u32 flags;
	u32 mark;    /* octet of DSCP and ECN of first flights; 0: as they are */
	/* bytes that connections which we open offer at first; 0: as the kernel has it */
	u32 receive_window;
	u32 canary; /* beside the control group so many of a million may start warm */
	u32 stage;  /* in which these settings are; what closes is compared by that */
	u64 stopped_windows;    /* by class of the remembered window (WINDOW_CLASS), bits */
	u32 stopped_lengths[8]; /* by length of the prefix, IPv4 from LENGTH_V4 on, bits */
	u32 rto_min_us; /* of retransmission timeouts at least; 0: as the kernel has it */
	u32 stopped_pasts; /* by what paths carried and lost (past_of), bits */
};

/* Classes of remembered windows: up to so many segments, twice as many, and so on; the last one is
 * of all that are larger. */
enum { WINDOW_CLASS = 16, WINDOW_CLASSES = 5 };
/* Classes of paths by bytes of a connection, and by segments of a thousand that were
 * retransmitted: up to so many, four times as many, and so on. The first bit of each in a word. */
enum { SIZE_CLASS = 16384, SIZE_CLASSES = 5, CARRIED_BITS = 0 };
enum { LOSS_CLASS = 1, LOSS_CLASSES = 4, LOST_BITS = 8 };
enum { LENGTH_V4 = 160 };

enum { LEAVE_WINDOWS = 1, /* learn, and tell what would be done */
       ONLY_PORTS = 2,	  /* attend only to connections of the ports named so */
       PACE_COLD = 4,	  /* cold starts measure the path, and end slow start by that */
       SHARE_NAMESPACES = 8,	  /* what is learnt in one network namespace counts in all */
       END_EPOCHS = 16, /* transfers whose size is known begin so that they end with an epoch */
       SUPERSEDED = 32, /* other programs attend to new connections: ours keep to themselves */
       TELL_STARTS = 64, /* each start is told as it is */
       ASK_GATEWAY = 128, /* paths are asked for as handshakes begin */
       KNOWN_TIMER = 256, /* SYNs and SYN-ACKs wait as long as answers take on their path */
       WIDE_COLD = 512, /* cold starts send more than a stock window, the rest of it slowly */
       STOP_NETWORKS = 1024 }; /* some networks are left alone */

/* Ports that the operator has said something of, by side and number in host order. */
enum { PORT_REMOTE = 1 << 16 };
enum { PORT_ONLY = 1, PORT_EXCEPT = 2 };

/* How a connection went, told when it closes. */
struct summary {
	struct path_key path;
	u64 lasted_ns; /* from its opening to the last arrival, less its pauses (count_pause) */
	u64 bytes_acked;
	/* at which its flights came in, if only the longest of them (SUMMARY_SHOWN_RATE); without
	 * that its path's, as remembered; bytes a second; 0: not known */
	u64 rate;
	u32 first_window; /* segments it began with */
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
	u32 stage; /* in which it opened */
	u32 start; /* enum start */
	u32 mss;      /* payload of a full segment, bytes */
	u32 flight;   /* most segments that were outstanding at a time and all arrived */
	u32 past;     /* what its path had carried and lost as it opened (past_of), bits */
	u32 spare;
};

enum { SUMMARY_WARM = 1, SUMMARY_FELL_BACK = 2, SUMMARY_CONTROL_GROUP = 4, SUMMARY_LOST_FIRST = 8,
       /* the memory had a window, and chance alone said whether it starts with that */
       SUMMARY_COMPARED = 16,
       /* `learnt` is what a loss, or BBR, has shown; otherwise the path carries that at least */
       SUMMARY_MEASURED = 32,
       /* `rate` is what the connection itself has shown, and not what was remembered */
       SUMMARY_SHOWN_RATE = 64 };

/* How it started, and if cold, why: the first reason that holds. */
enum start {
	START_WARM,
	START_HANDSHAKE, /* it lost something, or somebody has sent already */
	START_UNKNOWN,	 /* nothing is remembered of its path */
	START_OLD,
	START_ROUND_TRIP, /* it does not fit the remembered one */
	START_SMALL,	  /* no more than a stock window is remembered */
	START_STOPPED,	  /* such connections, or all, are left alone */
	START_OUTSIDE,	  /* of the canary's share */
	START_CONTROL_GROUP,
	START_SHARED, /* others that open at once have it */
	START_PACING, /* it cannot be paced, or would be slower than a cold start */
};

/* How a connection starts, told as it does: of those that ask, since the agent is to log it. */
struct decision {
	struct path_key path;
	u64 age_ns;	/* of what is remembered; 0: nothing is */
	u64 rate;	/* of its first flight, bytes a second; 0: as the kernel paces */
	u32 occasion;	/* enum occasion */
	u32 start;	/* enum start */
	u32 flags;	/* SUMMARY_... bits, as far as they are known by now */
	u32 window;	/* segments it starts with */
	u32 cold;	/* that a cold start has */
	u32 remembered; /* what the memory has for it, after ageing and the cap; 0: nothing */
	u32 rtt_us;
	u32 stage; /* of the canary, in which it opened */
};

/* In place of enum start: an earlier start of the connection has failed, so this one is cold. */
enum { FELL_BACK_BEFORE = 255 };

/* A path is asked for. */
struct inquiry {
	struct path_key path;
	u64 at_ns;    /* CLOCK_MONOTONIC */
	u32 occasion; /* enum inquiry_occasion */
	u32 spare;
};

enum inquiry_occasion {
	INQUIRY_HANDSHAKE, /* a SYN has come, or is to be sent: an answer can be in time */
	INQUIRY_OPEN,	   /* a connection has opened: the answer is for the next one */
};

enum occasion {
	OCCASION_OPENING,
	OCCASION_IDLE,	/* the kernel had taken its window back */
	OCCASION_AGAIN, /* its first flight was narrowed to the size of one transfer */
	OCCASION_LATE,	/* it sends first long after it has opened */
};

#endif
