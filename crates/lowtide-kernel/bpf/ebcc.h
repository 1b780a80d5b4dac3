/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * eBCC (Han et al. 2022): the window goes half the way to its target while few packets queue, stays back
 * while many do, and a loss with a long queue empties the pipe by a ProbeRTT of one BDP.
 */
#include "host.h"

struct policy {};

#define policy_next_window ebcc_next_window
#define policy_loss_probes ebcc_loss_probes
#define policy_loss_probe_window ebcc_loss_probe_window
struct controller;
INLINE u64 ebcc_next_window(const struct controller *b, u64 target, const struct ack *ack);
INLINE bool ebcc_loss_probes(const struct controller *b, const struct ack *ack);
INLINE u64 ebcc_loss_probe_window(const struct controller *b);
#include "bbr.h"

/* Packets in the queue from which on it is long (gamma). */
#define LONG_QUEUE 30

/* diff = cwnd - cwnd base_rtt / rtt, at least gamma (Eqs. 3 to 5). */
STAGE int ebcc_queue_is_long(const struct controller *b GIVEN)
{
	u64 rtt = least(b->rtt, 1000 * NS_PER_SECOND), queueing = less(rtt, b->min_rtt);
	u64 window = least(b->window, MOST_BYTES - 1);

	/* Exact, as RTTs are whole microseconds: both sides may be equal. */
	if (rtt >= 1ULL << 30) {
		queueing /= NS_PER_US;
		rtt /= NS_PER_US;
	}
	return window * queueing >= LONG_QUEUE * b->mss * rtt;
}

INLINE u64 ebcc_next_window(const struct controller *b, u64 target, const struct ack *ack)
{
	bool long_queue = ebcc_queue_is_long(b);
	u64 last;

	if (b->phase == PROBE_BW && !ack->lost) {
		if (!long_queue)
			return (b->window + target) / 2;
		/* Eqs. 6 and 7 push a window above its target further up: the target bounds it. */
		last = less(2 * b->window, target);
		return least((last + b->window) / 2, target);
	}
	if (b->phase == PROBE_RTT && ack->lost && long_queue)
		return b->window / 2;
	return follow_target(b, target, ack);
}

INLINE bool ebcc_loss_probes(const struct controller *b, const struct ack *ack)
{
	return ebcc_queue_is_long(b);
}

INLINE u64 ebcc_loss_probe_window(const struct controller *b)
{
	return bdp(b, b->bandwidth, 1000);
}
