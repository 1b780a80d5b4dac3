/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Gives the TCP sockets of a cgroup a congestion control, those that connect and those that are accepted,
 * before their flows begin.
 */
#include "kernel.h"

/* The beginning of a program's context, which the verifier translates. */
struct bpf_sock_ops {
	u32 op;
};

#define BPF_SOCK_OPS_TCP_CONNECT_CB 3
#define BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB 5
#define SOL_TCP 6
#define TCP_CONGESTION 13

static long (*bpf_setsockopt)(void *sk, int level, int option, const void *value, int bytes) = (void *)49;

/* Which; the loader sets it. */
const volatile char lowtide_name[16] SECTION(".rodata.name") = "";

char lowtide_license[] SECTION("license") = "Dual MIT/GPL";

SECTION("sockops") int lowtide_cgroup(struct bpf_sock_ops *ctx)
{
	/* A socket that cannot have it keeps what it has. */
	if (ctx->op == BPF_SOCK_OPS_TCP_CONNECT_CB || ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, (const void *)lowtide_name, sizeof(lowtide_name));
	return 1;
}
