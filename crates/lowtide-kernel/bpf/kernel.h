/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the controllers touch of the kernel: the fields alone, which the loader finds in the running
 * kernel's BTF. No kernel header is needed to build, and no tool but clang.
 *
 * With LOWTIDE_NATIVE the same definitions stand in for the kernel's in a program of its own: that is
 * how the controllers are tested against the Rust core.
 */
#ifndef LOWTIDE_KERNEL_H
#define LOWTIDE_KERNEL_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
typedef _Bool bool;
#define true 1
#define false 0

#ifdef LOWTIDE_NATIVE
#define CORE
#define SECTION(name)
#else
#define CORE __attribute__((preserve_access_index))
#define SECTION(name) __attribute__((section(name), used))
#endif

#define INLINE static inline __attribute__((always_inline))

/*
 * The verifier follows every path through a program. A STAGE it judges by itself, once, for any arguments:
 * what would be the product of the paths through the stages becomes their sum. Pointers are GIVEN, not
 * NULL.
 */
#ifdef LOWTIDE_NATIVE
#define STAGE static inline
#define GIVEN
#else
#define STAGE __attribute__((noinline))
#define GIVEN __attribute__((btf_decl_tag("arg:nonnull")))
#endif

struct sock {
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
} CORE;

struct tcp_sock {
#ifdef LOWTIDE_NATIVE
	struct sock sk;
#endif
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 srtt_us;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 lost;
	u32 delivered;
	u32 app_limited;
	u64 tcp_mstamp;
	u64 first_tx_mstamp;
} CORE;

struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long interval_us;
	long rtt_us;
	s32 losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	bool is_app_limited;
} CORE;

enum tcp_ca_event {
	CA_EVENT_TX_START = 0,
};

/* States of the kernel's loss recovery. */
#define TCP_CA_CWR 2
#define TCP_CA_RECOVERY 3
#define TCP_CA_LOSS 4

#define TCP_INFINITE_SSTHRESH 0x7fffffff

#define SK_PACING_NONE 0
/* The socket paces itself where no fq queue discipline does. */
#define SK_PACING_NEEDED 1

#ifndef LOWTIDE_NATIVE

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	char name[16];
	void (*init)(struct sock *sk);
} CORE;

#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1

static u32 (*bpf_get_prandom_u32)(void) = (void *)7;
static void *(*bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;

INLINE u32 random_u32(void)
{
	return bpf_get_prandom_u32();
}

#else

/* The program around the controllers has its own. */
u32 random_u32(void);

#endif
#endif
