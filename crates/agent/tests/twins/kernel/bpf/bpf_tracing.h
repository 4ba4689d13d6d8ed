/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands in for libbpf's header: a program is called as the operation that it is. */
#ifndef TWIN_BPF_TRACING_H
#define TWIN_BPF_TRACING_H

#define BPF_PROG(name, arguments...) name(arguments)

#endif
