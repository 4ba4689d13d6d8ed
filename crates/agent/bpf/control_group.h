/* SPDX-License-Identifier: GPL-2.0-only */
/* Which connections stay stock: some by chance, so that the others can be compared with them,
 * and all while every window is to be left alone. */
#ifndef HEADSTART_CONTROL_GROUP_H
#define HEADSTART_CONTROL_GROUP_H

#include "paths.h"

#define PER_MILLION 1000000

/* All bits depend on all (MurmurHash3's finaliser). */
static inline u32 scrambled(u32 bits)
{
	bits = (bits ^ bits >> 16) * 0x85ebca6b;
	bits = (bits ^ bits >> 13) * 0xc2b2ae35;
	return bits ^ bits >> 16;
}

/* By its addresses and ports, so that it is a matter of chance and not of what it does. */
static inline bool in_control_group(const struct sock *sk)
{
	const struct sock_common *common = &sk->__sk_common;
	__be32 address[4] = {};
	u32 hash = settings.salt;

	remote_of(sk, address);
	hash = scrambled(hash ^ address[0] ^ common->skc_dport);
	hash = scrambled(hash ^ address[1] ^ common->skc_num);
	hash = scrambled(hash ^ address[2]);
	hash = scrambled(hash ^ address[3]);
	return (u64)hash * PER_MILLION >> 32 < settings.control_group;
}

static inline bool stays_stock(const struct sock *sk)
{
	return settings.flags & LEAVE_WINDOWS || in_control_group(sk);
}

#endif
