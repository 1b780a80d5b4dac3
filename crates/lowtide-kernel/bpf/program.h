/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A congestion control of the kernel from a controller: its functions, and the flow's state beside the
 * socket. The including file defines the controller (host.h) and then
 *
 *	PROGRAM(symbol, "name as in tcp_congestion_control")
 *
 * FLOWS is the name of the map with the flows' state, by which `lowtide kernel status` finds it. The kernel
 * allows letters, digits, '_' and '.' in such names, at most 15.
 */
#ifndef LOWTIDE_PROGRAM_H
#define LOWTIDE_PROGRAM_H

#include "host.h"

struct flow {
	struct shown shown;
	struct host host;
	struct controller controller;
};

/*
 * The least window in bytes: what leaves in 1/2048 s at the pacing rate, but no more than two of the largest
 * sends that segmentation offload takes. The RTT of a path that is shorter than this is mostly the time that
 * its two hosts take; a window of a few packets, all that such an RTT asks for, would have the kernel send so
 * many at a time, and cost a wake-up each time. A controller that empties the path waits for its own window,
 * which a larger one would never let it see.
 */
#define LARGEST_SEND 65536

INLINE u64 least_window(const struct controller *c, u64 rate)
{
	return controller_empties(c) ? 0 : least(rate >> 11, 2 * LARGEST_SEND);
}

INLINE void flow_apply(struct flow *f, struct tcp_sock *tp)
{
	struct sock *sk = (struct sock *)tp;
	u64 window = controller_window(&f->controller);
	u64 rate = least(controller_rate(&f->controller), sk->sk_max_pacing_rate);
	u64 lower = least_window(&f->controller, rate);
	u64 packets = most(window, lower) / (f->host.mss ? f->host.mss : 1);

	tp->snd_cwnd = least(most(packets, 1), tp->snd_cwnd_clamp);
	sk->sk_pacing_rate = rate;
	f->shown.window = window;
	f->shown.rate = rate;
	controller_show(&f->controller, &f->shown);
}

/*
 * The kernel keeps a socket's state where another controller takes over or the socket connects anew. Words that
 * the compiler must not join: BPF knows no memset of this size.
 */
INLINE void flow_clear(struct flow *f)
{
	typedef volatile u64 __attribute__((may_alias)) word;
	word *words = (word *)f;

	_Static_assert(sizeof(*f) % sizeof(u64) == 0, "a flow consists of whole words");
	for (u32 n = 0; n < sizeof(*f) / sizeof(u64); n++)
		words[n] = 0;
}

INLINE void flow_init(struct flow *f, struct tcp_sock *tp)
{
	struct sock *sk = (struct sock *)tp;

	flow_clear(f);
	host_init(&f->host, tp);
	controller_init(&f->controller, f->host.mss, (u64)tp->snd_cwnd * f->host.mss, host_now(tp));
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	flow_apply(f, tp);
}

INLINE void flow_lost(struct flow *f, u64 now, u32 packets)
{
	struct loss loss;

	if (!packets)
		return;
	loss = host_loss(&f->host, now, packets);
	controller_lost(&f->controller, &loss);
}

INLINE void flow_acked(struct flow *f, struct tcp_sock *tp, const struct rate_sample *rs)
{
	struct host *h = &f->host;
	u32 lost = tp->lost - h->lost;
	u32 own = rs->losses > 0 ? rs->losses : 0;
	u32 mss = tp->mss_cache;

	if (mss && mss != h->mss) {
		h->mss = mss;
		controller_mtu(&f->controller, mss);
	}
	host_count(h, tp);
	if (own > lost)
		own = lost;
	flow_lost(f, h->last_ack, lost - own);
	flow_lost(f, host_now(tp), own);
	if (rs->acked_sacked) {
		struct ack ack = host_ack(h, tp, rs, f->shown.rate);

		controller_acked(&f->controller, &ack);
	}
	flow_apply(f, tp);
}

INLINE void flow_state(struct flow *f, struct tcp_sock *tp, u8 state)
{
	struct host *h = &f->host;
	u8 before = h->state;

	h->state = state;
	if (state >= TCP_CA_RECOVERY && before < TCP_CA_RECOVERY) {
		h->opening = true;
		h->recovering = true;
	}
	if (state == TCP_CA_LOSS && before != TCP_CA_LOSS) {
		host_count(h, tp);
		flow_lost(f, host_now(tp), tp->lost - h->lost);
		h->opening = false;
		controller_timeout(&f->controller, host_now(tp), h->delivered);
		flow_apply(f, tp);
	} else if (state == TCP_CA_CWR && before < TCP_CA_CWR) {
		host_count(h, tp);
		controller_marked(&f->controller, host_now(tp), h->delivered);
		flow_apply(f, tp);
	}
}

/* Returns the window in packets. */
INLINE u32 flow_undo(struct flow *f, struct tcp_sock *tp)
{
	if (f->host.state == TCP_CA_LOSS) {
		f->host.undone = true;
		f->host.lost_since = 0;
		f->host.recovering = false;
		controller_undo(&f->controller, host_now(tp));
		flow_apply(f, tp);
	}
	return tp->snd_cwnd;
}

INLINE void flow_event(struct flow *f, struct tcp_sock *tp, u32 event)
{
	if (event == CA_EVENT_TX_START) {
		controller_restart(&f->controller, host_now(tp), tp->app_limited != 0);
		flow_apply(f, tp);
	}
}

#ifndef LOWTIDE_NATIVE

char lowtide_license[] SECTION("license") = "Dual MIT/GPL";

/* The state of each socket's flow, which the kernel frees with the socket. */
struct {
	int (*type)[BPF_MAP_TYPE_SK_STORAGE];
	int (*map_flags)[BPF_F_NO_PREALLOC];
	int *key;
	struct flow *value;
} FLOWS SECTION(".maps");

INLINE struct flow *flow_of(struct sock *sk)
{
	return bpf_sk_storage_get(&FLOWS, sk, 0, 0);
}

SECTION("struct_ops/init") int lowtide_init(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *f = bpf_sk_storage_get(&FLOWS, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	/* Without memory for its state a flow keeps its initial window. */
	if (f)
		flow_init(f, (struct tcp_sock *)sk);
	return 0;
}

SECTION("struct_ops/cong_control") int lowtide_cong_control(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct rate_sample *rs = (const struct rate_sample *)ctx[3];
	struct flow *f = flow_of(sk);

	if (f)
		flow_acked(f, (struct tcp_sock *)sk, rs);
	return 0;
}

SECTION("struct_ops/set_state") int lowtide_set_state(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *f = flow_of(sk);

	if (f)
		flow_state(f, (struct tcp_sock *)sk, ctx[1]);
	return 0;
}

SECTION("struct_ops/cwnd_event") int lowtide_cwnd_event(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *f;

	/* Most events are others. */
	if ((u32)ctx[1] != CA_EVENT_TX_START)
		return 0;
	f = flow_of(sk);
	if (f)
		flow_event(f, (struct tcp_sock *)sk, CA_EVENT_TX_START);
	return 0;
}

SECTION("struct_ops/undo_cwnd") int lowtide_undo_cwnd(u64 *ctx)
{
	struct tcp_sock *tp = (struct tcp_sock *)ctx[0];
	struct flow *f = flow_of((struct sock *)tp);

	return f ? flow_undo(f, tp) : tp->snd_cwnd;
}

/* The window follows the model, not a threshold. */
SECTION("struct_ops/ssthresh") int lowtide_ssthresh(u64 *ctx)
{
	struct tcp_sock *tp = (struct tcp_sock *)ctx[0];

	return tp->snd_ssthresh;
}

/* Windows of send buffer: what is in flight, what is sent again, and what waits. */
SECTION("struct_ops/sndbuf_expand") int lowtide_sndbuf_expand(u64 *ctx)
{
	return 3;
}

#define PROGRAM(symbol, known_as) \
	SECTION(".struct_ops.link") struct tcp_congestion_ops symbol = { \
		.init = (void *)lowtide_init, \
		.cong_control = (void *)lowtide_cong_control, \
		.set_state = (void *)lowtide_set_state, \
		.cwnd_event = (void *)lowtide_cwnd_event, \
		.undo_cwnd = (void *)lowtide_undo_cwnd, \
		.ssthresh = (void *)lowtide_ssthresh, \
		.sndbuf_expand = (void *)lowtide_sndbuf_expand, \
		.name = known_as, \
	}

#else
#define PROGRAM(symbol, known_as) extern int lowtide_native_##symbol
#endif
#endif
