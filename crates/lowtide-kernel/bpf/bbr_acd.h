/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * BBR-ACD (Mahmud et al. 2020): a loss counts as congestion where three RTTs in a row hardly differ, or
 * the RTT is above twice its minimum; then the window is halved at each acknowledgment of a round, else
 * it only loses what was lost.
 */
#include "host.h"

struct policy {
	u64 last_rtt;
	u32 identical_pairs;
	bool congestion;
};

#define BBR_AGGREGATION true
#define policy_acked bbr_acd_acked
#define policy_recovery bbr_acd_recovery
#define policy_shrink bbr_acd_shrink
struct controller;
INLINE void bbr_acd_acked(struct controller *b, const struct ack *ack);
INLINE u32 bbr_acd_recovery(const struct controller *b);
INLINE u64 bbr_acd_shrink(const struct controller *b);
#include "bbr.h"

/* RTTs that differ by no more are equal (alpha). */
#define TOLERANCE NS_PER_MS

INLINE void bbr_acd_acked(struct controller *b, const struct ack *ack)
{
	struct policy *p = &b->policy;
	u64 min_rtt = least(b->min_rtt, ack->rtt);

	if (!ack->rtt)
		return;
	if (ack->rtt > min_rtt && p->last_rtt && distance(ack->rtt, p->last_rtt) <= TOLERANCE)
		p->identical_pairs++;
	else
		p->identical_pairs = 0;
	p->last_rtt = ack->rtt;
	p->congestion = p->identical_pairs >= 2 || ack->rtt > 2 * min_rtt;
}

INLINE u32 bbr_acd_recovery(const struct controller *b)
{
	return b->policy.congestion ? SHRINK : FREE;
}

INLINE u64 bbr_acd_shrink(const struct controller *b)
{
	return least(b->window / 2, bdp(b, b->bandwidth, 1000));
}
