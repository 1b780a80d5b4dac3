/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * From the kernel's calls to a controller's events, and back. This is the only place that knows both.
 *
 * A controller defines `struct controller`, whose name the including file sets, and
 *
 *	controller_init		a flow with this packet size and initial window begins
 *	controller_mtu		packets have another size
 *	controller_lost		packets were declared lost
 *	controller_marked	a queue has marked a packet (ECN)
 *	controller_acked	packets were acknowledged; their losses have been told
 *	controller_timeout	the whole flight is taken for lost; its loss has been told
 *	controller_undo		the last timeout was spurious
 *	controller_restart	the first packet after silence leaves
 *	controller_window	bytes that may be in flight
 *	controller_empties	the path is being emptied: the window must not be raised (program.h)
 *	controller_rate		bytes a second to pace at
 *	controller_show		what users see of it
 *
 * The mapping, where the kernel's view and that of the Rust core's contract differ:
 *
 * - Volumes are packets times mss_cache. Times are microseconds, as nanoseconds.
 * - A rate sample counts as at most MOST_RATE.
 * - A packet's number is the count of packets delivered when it was sent, the next number the count
 *   delivered now: a packet sent after an acknowledgment has at least the number that was next there.
 * - Losses are what tp->lost has grown by: the acknowledgment's own (rs->losses), and those that timers
 *   found since the last one, which count at its time.
 * - A loss opens a recovery where the kernel enters Recovery or Loss from a lower state; its number is
 *   then the next one, else 0.
 * - The kernel tells one time of sending an acknowledgment, its newest packet's. The packets before it
 *   left evenly since the newest of the acknowledgment before, but not slower than they were paced, in
 *   whole microseconds.
 *   An acknowledgment becomes at most PIECES packets.
 * - Where the kernel has no RTT, because only packets that were sent again are acknowledged, the last time
 *   of sending counts, but as no shorter an RTT than the least: the first copy may have arrived.
 * - Entering CWR counts as one mark. The kernel enters it once a round trip at most, for ECN's echo or
 *   where a local queue is full.
 * - A timeout proves spurious where the kernel undoes it in the state Loss. What was lost is in flight
 *   again: the flight before the next acknowledgment is taken for what it was with it.
 */
#ifndef LOWTIDE_HOST_H
#define LOWTIDE_HOST_H

#include "fixed.h"

#define PIECES 4

/* What `lowtide kernel status` shows of a flow; src/status.rs reads it. */
struct shown {
	/* An index into the controller's phases. */
	u32 phase;
	u32 padding;
	/* Bytes a second; ns; bytes; bytes a second. */
	u64 bandwidth;
	u64 min_rtt;
	u64 window;
	u64 rate;
};

/* What the kernel has told so far. */
struct host {
	/* Packets. `delivered` does not wrap. */
	u64 delivered;
	u32 kernel_delivered;
	u32 lost;
	/* When the newest packet was sent that has been acknowledged; and the last acknowledgment. */
	u64 newest_sent;
	u64 last_ack;
	/* Bytes lost since the last acknowledgment. */
	u64 lost_since;
	/* The least RTT; NONE before the first. */
	u64 least_rtt;
	u32 mss;
	u8 state;
	/* A recovery has begun whose first loss has not been told; one is under way. */
	bool opening;
	bool recovering;
	/* The kernel has undone a timeout since the last acknowledgment. */
	bool undone;
};

struct loss {
	u64 now;
	u64 bytes;
	u64 number;
	/* Number of the next packet to be sent. */
	u64 next;
	bool opens;
};

struct ack {
	u64 now;
	/* When its newest packet was sent, and how much earlier the oldest was. */
	u64 newest;
	u64 spread;
	/* Of the newest packet; 0: unknown. */
	u64 rtt;
	u64 packets;
	u64 bytes;
	u64 lost;
	/* Bytes in flight before it and its losses, and after. */
	u64 prior;
	u64 inflight;
	/* The delivery-rate sample: bytes a second, and packets delivered when the sampled one was sent. */
	bool sampled;
	bool app_limited;
	u64 rate;
	u64 number;
	/* Packets delivered now. */
	u64 next;
	/* Packets lost so far; wraps. */
	u32 total_lost;
	/* A recovery has ended. */
	bool recovered;
};

INLINE u64 host_now(const struct tcp_sock *tp)
{
	return tp->tcp_mstamp * NS_PER_US;
}

INLINE u32 host_inflight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

INLINE void host_init(struct host *h, const struct tcp_sock *tp)
{
	h->kernel_delivered = tp->delivered;
	h->delivered = tp->delivered;
	h->lost = tp->lost;
	h->mss = tp->mss_cache ? tp->mss_cache : 1;
	h->least_rtt = NONE;
}

INLINE void host_count(struct host *h, const struct tcp_sock *tp)
{
	u32 delivered = tp->delivered;

	h->delivered += (u32)(delivered - h->kernel_delivered);
	h->kernel_delivered = delivered;
}

INLINE u64 host_bytes(const struct host *h, u32 packets)
{
	return least((u64)packets * h->mss, MOST_BYTES - 1);
}

/* `packets` were lost at `now`. */
INLINE struct loss host_loss(struct host *h, u64 now, u32 packets)
{
	struct loss loss = {
		.now = now,
		.bytes = host_bytes(h, packets),
		.number = h->opening ? h->delivered : 0,
		.next = h->delivered,
		.opens = h->opening,
	};

	h->lost += packets;
	h->lost_since += loss.bytes;
	h->opening = false;
	return loss;
}

/* An acknowledgment of at least one packet. */
INLINE struct ack host_ack(struct host *h, const struct tcp_sock *tp, const struct rate_sample *rs,
			   u64 paced_at)
{
	u64 now = host_now(tp);
	u64 sent = tp->first_tx_mstamp * NS_PER_US;
	u64 packets = rs->acked_sacked;
	struct ack ack = {
		.now = now,
		.packets = packets,
		.bytes = host_bytes(h, packets),
		.lost = h->lost_since,
		.prior = host_bytes(h, rs->prior_in_flight),
		.inflight = host_bytes(h, host_inflight(tp)),
		.app_limited = rs->is_app_limited,
		.next = h->delivered,
		.total_lost = h->lost,
		.number = h->delivered - (u32)(h->kernel_delivered - rs->prior_delivered),
	};
	s64 rtt_us = rs->rtt_us;
	s64 interval_us = rs->interval_us;

	if (rtt_us >= 0) {
		ack.rtt = most((u64)rtt_us * NS_PER_US, 1);
		sent = less(now, (u64)rtt_us * NS_PER_US);
		h->least_rtt = least(h->least_rtt, ack.rtt);
	} else if (h->least_rtt != NONE) {
		sent = least(sent, less(now, h->least_rtt));
	}
	ack.newest = least(sent, now);
	if (packets && paced_at)
		ack.spread = least(less(ack.newest, h->newest_sent),
				   ack.bytes * NS_PER_SECOND / paced_at);
	h->newest_sent = most(h->newest_sent, ack.newest);
	if (rs->delivered > 0 && interval_us > 0) {
		ack.sampled = true;
		ack.rate = least((u64)rs->delivered * h->mss * 1000000 / (u64)interval_us,
				 MOST_RATE);
	}
	if (h->undone)
		ack.prior = most(ack.prior, ack.inflight + ack.bytes);
	ack.recovered = h->recovering && h->state < TCP_CA_RECOVERY;
	if (ack.recovered)
		h->recovering = false;
	h->undone = false;
	h->lost_since = 0;
	h->last_ack = now;
	return ack;
}

#endif
