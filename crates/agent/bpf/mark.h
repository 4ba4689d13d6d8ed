/* SPDX-License-Identifier: GPL-2.0-only */
/* The mark of a first flight: a DSCP by which routers, where they support it, drop the flight
 * before other traffic. It is set as an application would set it, and cleared at the first ACK. The
 * segments sent until then are the flight. */
#ifndef HEADSTART_MARK_H
#define HEADSTART_MARK_H

#include "paths.h"

/* ECN's part of the octet is the kernel's. */
#define ECN_BITS 3

/* The option that sets the octet; 0: there is none for IPv4 over a socket of IPv6. */
static inline int class_option(const struct sock *sk, int *level)
{
	__be32 remote[4];

	if (!remote_of(sk, remote))
		return 0;
	*level = is_v4_mapped(remote) ? IPPROTO_IP : IPPROTO_IPV6;
	if (sk->__sk_common.skc_family == AF_INET)
		return IP_TOS;
	return is_v4_mapped(remote) ? 0 : IPV6_TCLASS;
}

/* Replaces the class `from`; true if that is what it was. */
static inline bool change_class(struct sock *sk, int from, int to)
{
	int level = 0, option = class_option(sk, &level), class = 0;

	if (!option || bpf_getsockopt(sk, level, option, &class, sizeof(class)))
		return false;
	if ((class & ~ECN_BITS) != from)
		return false;
	return !bpf_setsockopt(sk, level, option, &to, sizeof(to));
}

/* Marks a socket, unless its application has set a mark. Returns the mark; 0: none was set. */
static inline u8 mark(struct sock *sk)
{
	u8 octet = settings.mark;

	return octet && change_class(sk, 0, octet) ? octet : 0;
}

static inline void unmark(struct sock *sk, u8 octet)
{
	change_class(sk, octet, 0);
}

#endif
