/* SPDX-License-Identifier: GPL-2.0-only */
/* A connection's membership in a session, kept in its socket. shared.h has what the members share,
 * `places.h` where the sessions are. */
#ifndef HEADSTART_MEMBERSHIP_H
#define HEADSTART_MEMBERSHIP_H

#include "places.h"
#include "connection.h"

/* State that every ACK needs. It lies in the socket, where the kernel's congestion controls keep
 * theirs. */
struct membership {
	struct member member;
	u64 warm_rate;	/* while its first flight lasts, bytes a second */
	u32 place;	/* slot of its session, from 1; 0: it has a window of its own */
	u32 weight_version;	/* `weights_set` when its weight was read */
	u32 is_hooked;
	u32 is_special; /* the connection has to be looked up */
};

static inline struct membership *membership_of(struct sock *sk)
{
	return (struct membership *)((struct tcp_sock *)sk)->inet_conn.icsk_ca_priv;
}

static inline bool key_of(const struct sock *sk, const struct connection *c,
			  struct session_key *key)
{
	key->netns = c->path.netns;
	return remote_of(sk, key->address);
}

/* The connection's session; NULL if it has a window of its own. */
static inline struct session *session_of(const struct membership *b)
{
	return b->place ? session_at(b->place) : NULL;
}

/* Finds the host's session, or makes one. Without a free slot the connection has a window of its
 * own. */
static inline void become_member(struct sock *sk, struct membership *b, const struct connection *c)
{
	struct session_key key = {};
	struct session *s;
	u32 place;

	if (!key_of(sk, c, &key))
		return;
	place = place_of(&key, bpf_ktime_get_ns());
	s = place ? session_at(place) : NULL;
	if (s && enter(s, &key))
		b->place = place;
}

static inline void note_phase(struct membership *b, const struct connection *c)
{
	b->warm_rate = in_first_flight(c) ? c->warm_rate : 0;
	b->is_special = is_special(c);
}

#endif
