/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shows the flows of a controller: an iterator over its map, whose every element becomes a record of the
 * layout that src/bpf/status.rs reads.
 */
#include "host.h"

#define AF_INET 2

/* The first of enum sock_flags: no process has the socket any more. */
#define SOCK_DEAD 1

struct in6_addr {
	u8 bytes[16];
} CORE;

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	u8 skc_state;
	/* Of enum sock_flags. */
	unsigned long skc_flags;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
} CORE;

/* struct sock as seen from its beginning. */
struct sock___common {
	struct sock_common __sk_common;
} CORE;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} CORE;

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	void *map;
	struct sock *sk;
	struct shown *value;
} CORE;

static long (*bpf_probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*bpf_seq_write)(struct seq_file *m, const void *data, u32 len) = (void *)127;
static struct tcp_sock *(*bpf_skc_to_tcp_sock)(void *sk) = (void *)137;

struct record {
	u16 family;
	/* Both in the order of this machine. */
	u16 local_port;
	u16 peer_port;
	u16 is_orphan;
	u8 local[16];
	u8 peer[16];
	u32 cwnd;
	u32 inflight;
	u32 mss;
	/* Eighths of a microsecond. */
	u32 srtt;
	struct shown shown;
};

char lowtide_license[] SECTION("license") = "Dual MIT/GPL";

SECTION("iter/bpf_sk_storage_map") int lowtide_status(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	struct shown *shown = ctx->value;
	struct seq_file *seq = ctx->meta->seq;
	struct sock___common *common = (struct sock___common *)sk;
	struct record record = {};
	struct tcp_sock *tp;

	if (!sk || !shown)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	record.family = common->__sk_common.skc_family;
	record.local_port = common->__sk_common.skc_num;
	record.peer_port = __builtin_bswap16(common->__sk_common.skc_dport);
	if (record.family == AF_INET) {
		bpf_probe_read_kernel(record.local, 4, &common->__sk_common.skc_rcv_saddr);
		bpf_probe_read_kernel(record.peer, 4, &common->__sk_common.skc_daddr);
	} else {
		bpf_probe_read_kernel(record.local, 16, &common->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(record.peer, 16, &common->__sk_common.skc_v6_daddr);
	}
	record.is_orphan = common->__sk_common.skc_flags & SOCK_DEAD;
	record.cwnd = tp->snd_cwnd;
	record.mss = tp->mss_cache;
	record.srtt = tp->srtt_us;
	record.inflight = host_inflight(tp);
	record.shown = *shown;
	bpf_seq_write(seq, &record, sizeof(record));
	return 0;
}
