/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Socket options by which an application gives hints for a TCP connection to a running headstart
 * agent, and asks for its path.
 *
 * 	uint32_t bytes = 30000;
 * 	if (setsockopt(fd, IPPROTO_TCP, HEADSTART_SIZE, &bytes, sizeof(bytes)) &&
 * 	    errno == ENOPROTOOPT)
 * 		;	no agent hooks this process: nothing has changed, go on
 *
 * Without an agent both calls fail with ENOPROTOOPT, as any option that the kernel does not
 * know. */
#ifndef HEADSTART_H
#define HEADSTART_H

#include <stdint.h>

/* set: bytes of the transfer that is sent next, uint32_t; 0: not known. The next start of the
 * connection uses it up, its first or one after idle: the first window is not larger than the
 * transfer. Bytes as TCP carries them: with TLS, also in the kernel, 22 to 40 more for each record
 * of 16384 bytes, or for each write. A value that is slightly too large costs nothing. If the
 * transfer is larger than the value, its last segment may wait for a round trip. get: struct
 * headstart_path, cut to the size of the caller's buffer. */
#define HEADSTART_SIZE 0x7e00

/* set, get: how much of a window that is shared with other connections to the same host,
 * uint32_t from 1 (at first) to HEADSTART_MAX_WEIGHT, may change at any time. Others than
 * connections of `hs_session` share none. EINVAL: out of range. */
#define HEADSTART_WEIGHT 0x7e01
#define HEADSTART_MAX_WEIGHT 256

/* The path of a connection. Windows in segments. */
struct headstart_path {
	uint32_t flags;
	/* of the last start, the first or one after idle; 0: not hooked by the agent */
	uint32_t first_window;
	uint32_t remembered;   /* window remembered of the destination; 0: none */
	uint32_t believed;     /* estimate after ageing, for a connection that opens now */
	uint32_t srtt_us;      /* round trip when that was learnt, queue included */
	uint32_t min_rtt_us;   /* lowest round trip of the connection that taught it */
	uint32_t age_ms;       /* since then */
	uint32_t size;	       /* hint that no start has used yet */
	uint32_t weight;
};

#define HEADSTART_ATTENDED 1  /* it has a congestion control of the agent's */
#define HEADSTART_WARM 2      /* its last start was from memory */
#define HEADSTART_FELL_BACK 4 /* a segment of that start was lost */

#endif
