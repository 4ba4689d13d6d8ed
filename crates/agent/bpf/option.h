/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */
/* The bytes of the TCP option by which a connection reports its path: crate `gateway`, module
 * `path_option`, in C, as tests/twins/option.rs checks. The crate documents their meaning. Needs
 * u8, u32 and u64. */
#ifndef HEADSTART_OPTION_H
#define HEADSTART_OPTION_H

/* Kind, length and identifier of the experiment (RFC 6994), and the version of the layout. */
#define OPTION_KIND 254
#define OPTION_BYTES 16
#define OPTION_ID 0x4853
#define OPTION_VERSION 1

struct path_report {
	u64 window; /* bytes */
	u64 rate;   /* bytes a second; 0: not measured */
	u32 min_rtt_us;
	u32 sent;   /* segments with data */
	u32 lost;   /* number of those that were retransmitted */
	u32 bound;  /* enum option_bound */
};

/* The bound of the window, in the numbers of the gateway's protocol. */
enum option_bound { OPTION_LOSS = 1, OPTION_OWN_START = 4, OPTION_OVER = 5 };

/* The verifier follows a function of its own once, and not for each of the five numbers. */
#ifdef __bpf__
#define OPTION_FUNCTION __noinline
#else
#define OPTION_FUNCTION static inline
#endif

/* The highest eleven bits, and how far they were shifted. */
OPTION_FUNCTION u32 option_scaled(u64 number)
{
	u32 shift = 0;

	if (number >> 42) {
		number >>= 32;
		shift += 32;
	}
	if (number >> 26) {
		number >>= 16;
		shift += 16;
	}
	if (number >> 18) {
		number >>= 8;
		shift += 8;
	}
	if (number >> 14) {
		number >>= 4;
		shift += 4;
	}
	if (number >> 12) {
		number >>= 2;
		shift += 2;
	}
	if (number >> 11) {
		number >>= 1;
		shift += 1;
	}
	return number < 1024 ? number : (shift + 1) << 10 | (number & 1023);
}

static inline void option_put(u8 *at, u64 number)
{
	u32 scaled = option_scaled(number);

	at[0] = scaled >> 8;
	at[1] = scaled & 0xff;
}

static inline void option_write(u8 bytes[OPTION_BYTES], const struct path_report *r)
{
	bytes[0] = OPTION_KIND;
	bytes[1] = OPTION_BYTES;
	bytes[2] = OPTION_ID >> 8;
	bytes[3] = OPTION_ID & 0xff;
	bytes[4] = OPTION_VERSION << 4 | (r->bound & 15);
	bytes[5] = 0;
	option_put(bytes + 6, r->window);
	option_put(bytes + 8, r->rate);
	option_put(bytes + 10, r->min_rtt_us);
	option_put(bytes + 12, r->sent);
	option_put(bytes + 14, r->lost);
}

#endif
