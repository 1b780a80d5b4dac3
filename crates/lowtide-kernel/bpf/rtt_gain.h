/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * RTT-gain BBR (Xiong 2020, section 3.2): ProbeBW's pacing follows min_rtt/rtt, and its probing phase ends
 * as soon as it has built a queue.
 */
#include "host.h"

struct policy {};

#define policy_ends_probe rtt_gain_ends_probe
#define policy_steady_gain rtt_gain_steady
struct controller;
INLINE bool rtt_gain_ends_probe(const struct controller *b);
INLINE u64 rtt_gain_steady(const struct controller *b);
#include "bbr.h"

/* With rtt/min_rtt at 1.25 the gain of 1.25 has built the queue that it can build in a round. */
INLINE bool rtt_gain_ends_probe(const struct controller *b)
{
	return b->rtt * 4 >= least(b->min_rtt, b->rtt) * 5;
}

INLINE u64 rtt_gain_steady(const struct controller *b)
{
	return ratio(least(b->min_rtt, b->rtt), b->rtt, SHARE_BITS);
}
