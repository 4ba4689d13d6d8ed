/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types and functions that the programs use, and no others. The loader looks up the
 * offset and size of each field in the running kernel's BTF (CO-RE). So the order here has no
 * meaning, but names and types have to be the kernel's. */
#ifndef HEADSTART_KERNEL_H
#define HEADSTART_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* include/uapi/linux/bpf.h */
struct bpf_spin_lock {
	__u32 val;
};
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_CLONE = 512, BPF_SK_STORAGE_GET_F_CREATE = 1 };
enum { BPF_SOCK_OPS_TIMEOUT_INIT = 1,
       BPF_SOCK_OPS_TCP_CONNECT_CB = 3,
       BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
       BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
       BPF_SOCK_OPS_RETRANS_CB = 9,
       BPF_SOCK_OPS_STATE_CB = 10,
       BPF_SOCK_OPS_RTT_CB = 12,
       BPF_SOCK_OPS_HDR_OPT_LEN_CB = 14,
       BPF_SOCK_OPS_WRITE_HDR_OPT_CB = 15 };
enum { BPF_SOCK_OPS_RETRANS_CB_FLAG = 2,
       BPF_SOCK_OPS_STATE_CB_FLAG = 4,
       BPF_SOCK_OPS_RTT_CB_FLAG = 8,
       BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG = 64 };
enum { TCP_BPF_IW = 1001, TCP_BPF_RTO_MIN = 1004, TCP_SYNCNT = 7, BPF_TCP_CLOSE = 7 };

/* Options of sockets, families, limits: of the kernel's headers for programs. */
enum { AF_INET = 2, AF_INET6 = 10, IPPROTO_TCP = 6, TCP_CONGESTION = 13 };
enum { IPPROTO_IP = 0, IP_TOS = 1, IPPROTO_IPV6 = 41, IPV6_TCLASS = 67 };
enum { SOL_SOCKET = 1, SO_RCVBUF = 8, SO_MAX_PACING_RATE = 47, TCP_CA_NAME_MAX = 16 };
enum { SOCK_RCVBUF_LOCK = 2 };
enum { TCP_INFINITE_SSTHRESH = 0x7fffffff };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct ns_common {
	unsigned int inum;
};

struct netns_ipv4 {
	u8 sysctl_tcp_min_tso_segs;
	u8 sysctl_tcp_syn_retries;
};

struct net {
	struct ns_common ns;
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	__be32 skc_daddr;
	__be16 skc_dport;
	u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct sock *skc_listener; /* of a request */
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_max_pacing_rate;
	unsigned long sk_pacing_rate;
	u32 sk_pacing_status;
	int sk_rcvbuf;
	u8 sk_userlocks : 4;
};

/* Sockets are cast between these types: each begins with the one before it, also where tests
 * compile the programs for this machine. */
struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u32 icsk_rto;	      /* in ticks */
	u8 icsk_syn_retries;  /* 0: as the system has it */
	u8 icsk_ca_state : 5;
	u8 icsk_ca_setsockopt : 1;
	u64 icsk_ca_priv[13]; /* what the congestion control keeps of a connection */
};

struct minmax_sample {
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;     /* when something was last found lost */
	u32 prior_ssthresh; /* the same; in congestion avoidance no larger than that */
	u32 snd_nxt;
	u32 write_seq;
	u32 snd_una;
	u32 srtt_us;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 max_packets_out;
	u8 is_cwnd_limited : 1;
	u32 delivered;
	u32 data_segs_out;
	u32 total_retrans;
	u64 bytes_acked;
	u64 first_tx_mstamp; /* when the latest segment that an ACK has delivered was sent */
	u64 delivered_mstamp;
	u64 tcp_mstamp;
	u64 tcp_wstamp_ns; /* when the last segment left, or the next one may */
	struct minmax rtt_min;
};

struct ack_sample {
	u32 pkts_acked;
};

struct rate_sample {
	long rtt_us;
	u32 acked_sacked;
};

/* BBR's icsk_ca_priv. */
struct bbr {
	u32 min_rtt_us;
	struct minmax bw; /* segments per microsecond << 24 */
	u32 full_bw_reached : 1;
};

/* CUBIC's icsk_ca_priv, of which only the size is of interest. */
struct bictcp {
	u32 cnt;
};

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, u32, u32);
	void (*set_state)(struct sock *, u8);
	void (*cwnd_event)(struct sock *, enum tcp_ca_event);
	void (*cwnd_event_tx_start)(struct sock *); /* Linux 7.1; the loader drops it before */
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	u32 (*min_tso_segs)(struct sock *);
	void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
	u32 (*undo_cwnd)(struct sock *);
	u32 (*sndbuf_expand)(struct sock *);
	void (*init)(struct sock *);
	void (*release)(struct sock *);
	char name[TCP_CA_NAME_MAX];
};

struct bpf_sock {
	__u32 protocol;
};

struct bpf_sock_ops {
	__u32 op;
	__u32 bpf_sock_ops_cb_flags; /* events that the kernel reports for the socket */
	union {
		__u32 args[4];
		__u32 reply;
	};
	struct bpf_sock *sk;
	__u32 skb_len;	     /* of a segment whose header is made: payload, before it has one */
	__u32 skb_tcp_flags;
};

/* The kernel's own form of `bpf_sock_ops`. */
struct bpf_sock_ops_kern {
	struct sock *sk;
};

struct bpf_sockopt {
	struct bpf_sock *sk;
	void *optval;
	void *optval_end;
	__s32 level;
	__s32 optname;
	__s32 optlen;
	__s32 retval;
};

#pragma clang attribute pop

/* The kernel's pacing of a socket: none, by a timer of TCP's own, or by the queueing discipline
 * `fq`. */
enum sk_pacing { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1, SK_PACING_FQ = 2 };

/* Functions of the kernel. All are weak: a kernel that lacks one still gets the programs that do
 * not call it. src/assumed/mod.rs lists which congestion control needs which. */

/* Linux 6.2. */
extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;

extern void cubictcp_init(struct sock *sk) __ksym __weak;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym __weak;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym __weak;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym __weak;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym __weak;
/* Until Linux 7.0, and since 7.1. */
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern void cubictcp_cwnd_event_tx_start(struct sock *sk) __ksym __weak;

extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym __weak;
extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym __weak;
extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym __weak;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) __ksym __weak;

extern void bbr_init(struct sock *sk) __ksym __weak;
/* Since Linux 6.10, and before. */
extern void bbr_main(struct sock *sk, u32 ack, int flag,
		     const struct rate_sample *rs) __ksym __weak;
extern void bbr_main___short(struct sock *sk, const struct rate_sample *rs) __ksym __weak;
extern u32 bbr_sndbuf_expand(struct sock *sk) __ksym __weak;
extern u32 bbr_undo_cwnd(struct sock *sk) __ksym __weak;
extern u32 bbr_ssthresh(struct sock *sk) __ksym __weak;
extern u32 bbr_min_tso_segs(struct sock *sk) __ksym __weak;
extern void bbr_set_state(struct sock *sk, u8 new_state) __ksym __weak;
/* Until Linux 7.0, and since 7.1. */
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern void bbr_cwnd_event_tx_start(struct sock *sk) __ksym __weak;

/* Whether the kernel reports CA_EVENT_TX_START by an operation of its own, and only the other
 * events by `cwnd_event` (Linux 7.1). Known when the programs are loaded: so the verifier does not
 * follow the other branch, which calls a missing function. */
static inline bool has_own_tx_start(void)
{
	return bpf_core_field_exists(((struct tcp_congestion_ops *)0)->cwnd_event_tx_start);
}

/* Whether the kernel passes an ACK's number and flags to `cong_control` (Linux 6.10), before the
 * rate sample. The loader sets it before verification: the operation has one name in both forms. */
const volatile bool cong_control_tells_ack SEC(".rodata.kernel") = true;

/* Returns the rate sample of `cong_control`'s arguments. Two separate loads that clang may not
 * merge: the verifier has to know the offset of each. */
static inline const struct rate_sample *rate_sample_of(const unsigned long long *arguments)
{
	unsigned long long sample;

	if (cong_control_tells_ack) {
		sample = arguments[3];
		barrier_var(sample);
	} else {
		sample = arguments[1];
		barrier_var(sample);
	}
	return (const struct rate_sample *)sample;
}

#endif
