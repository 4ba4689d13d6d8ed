/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands in for libbpf's header where the programs are compiled for this machine. Maps keep their
 * declarations; ../machine.h has what the kernel keeps of them. */
#ifndef TWIN_BPF_HELPERS_H
#define TWIN_BPF_HELPERS_H

#include <stdlib.h>
#include <string.h>

#define SEC(name)
#define __uint(name, value) int (*name)[value]
#define __type(name, of) __typeof__(of) *name
#define __ksym
#define __weak __attribute__((weak))
#define __noinline __attribute__((noinline))
/* A C library may have its own. */
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(of) __asm__ volatile("" : "+r"(of))
#define bpf_ksym_exists(symbol) (!!(symbol))

/* The entry of a map, or NULL; makes one, zeroed or with `value`. */
void *machine_find(const void *map, const void *key, size_t key_size);
long machine_update(const void *map, const void *key, size_t key_size, const void *value,
		    size_t value_size, u64 flags);
void *machine_storage(const void *map, const void *sk, size_t value_size, u64 flags);

#define bpf_map_lookup_elem(map, of) machine_find(map, of, sizeof(*(map)->key))
#define bpf_map_update_elem(map, of, to, flags) \
	machine_update(map, of, sizeof(*(map)->key), to, sizeof(*(map)->value), flags)
#define bpf_sk_storage_get(map, sk, initial, flags) \
	machine_storage(map, sk, sizeof(*(map)->value), flags)

u64 bpf_ktime_get_ns(void);
u32 bpf_get_prandom_u32(void);
void *bpf_ringbuf_reserve(void *ring, u64 size, u64 flags);
void bpf_ringbuf_submit(void *record, u64 flags);
long bpf_setsockopt(void *on, int level, int option, void *value, int size);
long bpf_getsockopt(void *on, int level, int option, void *value, int size);
void *bpf_skc_to_tcp_sock(void *sk);

#endif
