/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands in for libbpf's header: fields lie where this compiler puts them. */
#ifndef TWIN_BPF_CORE_READ_H
#define TWIN_BPF_CORE_READ_H

/* The kernel is of Linux 7.1, or older: `machine_has_tx_start`. Nothing else is asked for. */
extern bool machine_has_tx_start;
#define bpf_core_field_exists(field) machine_has_tx_start
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_field_size(field) sizeof(field)
#define bpf_core_read(to, size, from) memcpy(to, from, size)
#define BPF_CORE_READ_BITFIELD(of, field) ((of)->field)

#endif
