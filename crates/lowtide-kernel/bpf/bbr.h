/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * BBR v1 (Cardwell et al. 2016) with replaceable parts, as crates/lowtide-cc/src/controllers/bbr has it.
 * The decisions that a derivative replaces are functions of its own, defined before this file is
 * included and announced by a macro of the same name:
 *
 *	policy_acked(b, ack)		an acknowledgment came; b's RTT is its own
 *	policy_phase(b)			the phase changed
 *	policy_ends_probe(b)		the probing phase should end now
 *	policy_steady_gain(b)		ProbeBW's steady pacing gain, a share
 *	policy_next_window(b, target, ack)	the window once the pipe has been full
 *	policy_recovery(b)		what a recovery's first round does (enum first_round)
 *	policy_shrink(b)		the window in a round of SHRINK
 *	policy_loss_probes(b, ack)	whether losses call for ProbeRTT
 *	policy_loss_probe_window(b)	the window of such a ProbeRTT; NONE: like any other
 *
 * `struct policy` is what a part remembers; BBR_AGGREGATION tells whether the window makes up for
 * aggregated acknowledgments.
 *
 * Bandwidths are whole bytes a second, windows whole bytes. Window gains are thousandths and exact; pacing
 * gains are shares: a pacing rate errs by at most 2^-29 of it and 2 bytes/s, a window by nothing but what
 * a rounded ratio of RTTs (rtt-gain's gain, eBCC's queue) or a burst at a rounded rate makes of it.
 */
#ifndef LOWTIDE_BBR_H
#define LOWTIDE_BBR_H

#include "windowed.h"

#define RATE_ROUNDS 10
#define CYCLE_PHASES 8
#define MIN_RTT_WINDOW (10 * NS_PER_SECOND)
#define PROBE_RTT_STAY (200 * NS_PER_MS)
/* 2/ln 2, which doubles the delivery rate in a round. */
#define HIGH_GAIN 2885
#define HIGH_PACING SHARE(2.885)
#define DRAIN_PACING SHARE(1 / 2.885)
/* Percent of the estimate to pace at. */
#define MARGIN 99

enum phase { STARTUP, DRAIN, PROBE_BW, PROBE_RTT };

/* What the first round of a recovery does to the window. */
enum first_round { FREE, CONSERVE, SHRINK };

struct policer {
	bool sampling, in_use;
	u64 rate;
	u32 rounds;
	u64 began_at;
	u64 began_delivered;
	u32 began_lost;
};

struct aggregation {
	u64 extra[2];
	u32 current;
	u32 rounds;
	u64 began_at;
	u64 acked;
};

struct controller {
	struct policy policy;
	u64 mss;
	u64 initial_window;
	u64 bandwidth;
	u64 min_rtt;
	u64 min_rtt_at;
	u64 rtt;
	/* Rounds; `delivered` and `round_ends_at` in packets. */
	u64 rounds;
	u64 delivered;
	u64 round_ends_at;
	u64 pacing_gain;
	u64 window_gain;
	u64 pacing_rate;
	u64 quantum;
	struct windowed rates;
	u64 full_bandwidth;
	u32 full_rounds;
	u32 phase;
	u64 cycle_began_at;
	u32 cycle;
	/* ProbeRTT: when it may end, NONE before the flight is small; whose samples it limits, in packets. */
	bool probe_renews, probe_round_over, probe_limited;
	u64 probe_until;
	u64 limited_from, limited_until;
	struct aggregation aggregation;
	struct policer policer;
	u64 window;
	u64 prior_window;
	u32 first_round;
	bool after_timeout, opening, restoring;
	bool recovering;
	bool round_starts;
	bool full_pipe;
	bool probing;
	bool idle_restart;
	bool seen_rtt;
};

INLINE u64 min_window(const struct controller *b)
{
	return 4 * b->mss;
}

/* The volume that moves at a rate, rounded down. */
INLINE u64 volume_in(u64 rate, u64 ns)
{
	u64 us = ns % NS_PER_SECOND / NS_PER_US;
	u64 rest = rate * (ns % NS_PER_US) / NS_PER_US;

	return rate * (ns / NS_PER_SECOND) + (rate * us + rest) / 1000000;
}

STAGE u64 bdp(const struct controller *b GIVEN, u64 bandwidth, u64 gain)
{
	if (b->min_rtt == NONE)
		return b->initial_window;
	return volume_in(bandwidth, b->min_rtt) * gain / 1000;
}

/* Room for the bursts of both ends. */
STAGE u64 with_budget(const struct controller *b GIVEN, u64 volume)
{
	u64 pair = 2 * b->mss;
	u64 even = (volume + 3 * b->quantum + pair - 1) / pair * pair;

	return b->probing ? even + pair : even;
}

INLINE u64 inflight_at(const struct controller *b, u64 bandwidth, u64 gain)
{
	return with_budget(b, bdp(b, bandwidth, gain));
}

/* The window grows by what was acknowledged, up to its target. */
INLINE u64 follow_target(const struct controller *b, u64 target, const struct ack *ack)
{
	return least(b->window + ack->bytes, target);
}

#ifndef policy_acked
#define policy_acked(b, ack) ((void)0)
#endif
#ifndef policy_phase
#define policy_phase(b) ((void)0)
#endif
#ifndef policy_ends_probe
#define policy_ends_probe(b) false
#endif
#ifndef policy_steady_gain
#define policy_steady_gain(b) ONE_SHARE
#endif
#ifndef policy_next_window
#define policy_next_window(b, target, ack) follow_target(b, target, ack)
#endif
#ifndef policy_recovery
#define policy_recovery(b) CONSERVE
#endif
#ifndef policy_shrink
#define policy_shrink(b) ((b)->window)
#endif
#ifndef policy_loss_probes
#define policy_loss_probes(b, ack) false
#endif
#ifndef policy_loss_probe_window
#define policy_loss_probe_window(b) NONE
#endif
#ifndef BBR_AGGREGATION
#define BBR_AGGREGATION false
#endif

/* Pacing. */

STAGE int set_rate(struct controller *b GIVEN, u64 rate)
{
	u64 packets;

	b->pacing_rate = most(rate, 1);
	/*
	 * Bursts last about a millisecond and have two packets at least, one at less than 1.2 Mbit/s. What
	 * rounding has taken from the rate must not cost a packet.
	 */
	rate = b->pacing_rate + 1;
	packets = least(rate >> 10, 65535) / b->mss;
	b->quantum = b->mss * most(packets, rate < 150000 ? 1 : 2);
	return 0;
}

INLINE void set_rate_from_window(struct controller *b, u64 window, u64 rtt)
{
	set_rate(b, times_share(rate_of(window, rtt), SHARE(2.885 * MARGIN / 100)));
}

/* Until the pipe is full the rate only grows: early samples are low. */
INLINE void follow_gain(struct controller *b, u64 gain)
{
	u64 rate = times_share(b->bandwidth * MARGIN, gain) / 100;

	if (b->full_pipe || rate > b->pacing_rate)
		set_rate(b, rate);
}

/* Phases. */

INLINE void enter(struct controller *b, u32 phase)
{
	b->phase = phase;
	b->probing = phase == PROBE_BW && b->cycle == 0;
	policy_phase(b);
}

INLINE void enter_probe_bw(struct controller *b, u64 now)
{
	/* Anywhere but in the draining phase, so that flows do not probe together. */
	u32 random = ((u64)random_u32() * (CYCLE_PHASES - 1)) >> 32;

	b->cycle = (CYCLE_PHASES - random) % CYCLE_PHASES;
	b->cycle_began_at = now;
	enter(b, PROBE_BW);
}

/* A policer lets bursts pass and drops the rest: two lossy intervals of equal throughput show its rate. */

INLINE void policer_reset(struct policer *p)
{
	struct policer none = {};

	*p = none;
}

INLINE void policer_begin(struct policer *p, const struct ack *ack)
{
	p->began_at = ack->now;
	p->began_delivered = ack->next;
	p->began_lost = ack->total_lost;
	p->rounds = 0;
}

/* Returns whether the rate has been used long enough. */
STAGE int policer_acked(struct controller *b GIVEN, const struct ack *ack GIVEN, bool app_limited)
{
	struct policer *p = &b->policer;
	u64 lost, delivered, interval, rate;

	if (p->in_use) {
		if (b->phase == PROBE_BW && b->round_starts && ++p->rounds >= 48) {
			policer_reset(p);
			return true;
		}
		return false;
	}
	if (!p->sampling) {
		if (!ack->lost)
			return false;
		policer_begin(p, ack);
		p->sampling = true;
	}
	if (app_limited) {
		policer_reset(p);
		return false;
	}
	if (b->round_starts)
		p->rounds++;
	if (p->rounds < 4)
		return false;
	if (p->rounds > 16) {
		policer_reset(p);
		return false;
	}
	if (!ack->lost)
		return false;
	lost = (u32)(ack->total_lost - p->began_lost);
	delivered = ack->next - p->began_delivered;
	interval = less(ack->now, p->began_at);
	if (!delivered || lost * 256 < delivered * 50 || interval < NS_PER_MS)
		return false;
	rate = rate_of(delivered * b->mss, interval);
	if (p->rate && (distance(rate, p->rate) <= p->rate / 8 || distance(rate, p->rate) <= 500)) {
		p->rate = (rate + p->rate) / 2;
		p->in_use = true;
		p->rounds = 0;
		return false;
	}
	p->rate = rate;
	policer_begin(p, ack);
	return false;
}

/* Aggregated acknowledgments: what comes beyond what the bandwidth explains. */

INLINE void aggregation_restart(struct aggregation *a, u64 now)
{
	a->began_at = now;
	a->acked = 0;
}

STAGE int aggregation_acked(struct controller *b GIVEN, const struct ack *ack GIVEN)
{
	struct aggregation *a = &b->aggregation;
	u64 expected, extra;

	if (!ack->sampled)
		return 0;
	if (b->round_starts && ++a->rounds >= 5) {
		a->rounds = 0;
		a->current = !a->current;
		a->extra[a->current & 1] = 0;
	}
	expected = volume_in(b->bandwidth, less(ack->now, a->began_at));
	if (a->acked <= expected || a->acked + ack->bytes >= b->mss << 20) {
		aggregation_restart(a, ack->now);
		expected = 0;
	}
	a->acked += ack->bytes;
	extra = least(less(a->acked, expected), b->window);
	a->extra[a->current & 1] = most(a->extra[a->current & 1], extra);
	return 0;
}

INLINE u64 allowance(const struct controller *b)
{
	const struct aggregation *a = &b->aggregation;

	if (!BBR_AGGREGATION || !b->full_pipe)
		return 0;
	return least(most(a->extra[0], a->extra[1]), volume_in(b->bandwidth, 100 * NS_PER_MS));
}

/* The window. */

/* Remembers it; while it is already reduced, the larger memory stays. */
INLINE void save_window(struct controller *b, bool reduced)
{
	b->prior_window = reduced || b->restoring ? most(b->prior_window, b->window) : b->window;
}

INLINE void restore_window(struct controller *b)
{
	b->after_timeout = false;
	b->window = most(b->window, b->prior_window);
}

/* What a recovery does to it; whether its first round holds it. */
STAGE int recover_or_restore(struct controller *b GIVEN, const struct ack *ack GIVEN)
{
	u64 conserved = ack->inflight + ack->bytes;

	if (ack->lost)
		b->window = most(less(b->window, ack->lost), b->mss);
	if (b->opening) {
		b->opening = false;
		b->first_round = policy_recovery(b);
		if (b->first_round == CONSERVE)
			b->window = most(conserved, b->mss);
		if (b->first_round != FREE)
			b->round_ends_at = b->delivered;
	}
	if (b->restoring) {
		b->restoring = false;
		restore_window(b);
	}
	if (b->first_round == CONSERVE)
		b->window = most(b->window, conserved);
	else if (b->first_round == SHRINK)
		b->window = most(policy_shrink(b), min_window(b));
	return b->first_round != FREE;
}

STAGE int update_window(struct controller *b GIVEN, const struct ack *ack GIVEN, u64 floor)
{
	if (!recover_or_restore(b, ack)) {
		u64 target = with_budget(b, bdp(b, b->bandwidth, b->window_gain) + allowance(b));

		if (b->full_pipe)
			b->window = policy_next_window(b, target, ack);
		else if (b->window < target || b->delivered * b->mss < b->initial_window)
			b->window += ack->bytes;
		b->window = most(b->window, min_window(b));
	}
	if (b->phase == PROBE_RTT)
		b->window = most(least(b->window, floor), b->mss);
	return 0;
}

/* ProbeBW's cycle. */

STAGE int update_cycle(struct controller *b GIVEN, const struct ack *ack GIVEN, u64 bandwidth)
{
	bool full_length, over;

	if (b->phase != PROBE_BW)
		return 0;
	full_length = less(ack->now, b->cycle_began_at) > b->min_rtt;
	over = full_length;
	if (!b->policer.in_use) {
		if (b->cycle == 0)
			over = (full_length &&
				(ack->lost || ack->prior >= inflight_at(b, bandwidth, 1250))) ||
			       policy_ends_probe(b);
		else if (b->cycle == 1)
			over = full_length || ack->prior <= inflight_at(b, bandwidth, 1000);
	}
	if (over) {
		b->cycle = (b->cycle + 1) % CYCLE_PHASES;
		b->cycle_began_at = ack->now;
	}
	b->probing = b->cycle == 0;
	return 0;
}

/* Startup ends after three rounds with less than a quarter of growth. */
STAGE int check_full(struct controller *b GIVEN, const struct ack *ack GIVEN, u64 bandwidth,
		     bool app_limited)
{
	if (!b->full_pipe && b->round_starts && ack->sampled && !app_limited) {
		if (bandwidth >= b->full_bandwidth * 5 / 4) {
			b->full_bandwidth = bandwidth;
			b->full_rounds = 0;
		} else if (++b->full_rounds >= 3) {
			b->full_pipe = true;
		}
	}
	if (b->phase == STARTUP && b->full_pipe)
		enter(b, DRAIN);
	if (b->phase == DRAIN && ack->inflight <= inflight_at(b, bandwidth, 1000))
		enter_probe_bw(b, ack->now);
	return 0;
}

/* ProbeRTT. */

INLINE u64 loss_probe_window(const struct controller *b)
{
	return b->probe_renews ? NONE : policy_loss_probe_window(b);
}

INLINE u64 probe_rtt_window(const struct controller *b)
{
	u64 window = loss_probe_window(b);

	return most(window == NONE ? 0 : window, min_window(b));
}

INLINE void leave_probe_rtt(struct controller *b, u64 now)
{
	if (b->probe_renews)
		b->min_rtt_at = now;
	restore_window(b);
	if (b->full_pipe)
		enter_probe_bw(b, now);
	else
		enter(b, STARTUP);
}

INLINE bool probe_rtt_is_over(struct controller *b, const struct ack *ack)
{
	if (!b->probe_limited)
		b->limited_from = b->delivered;
	b->probe_limited = true;
	b->limited_until = b->delivered + ack->inflight / b->mss;
	if (b->probe_until == NONE) {
		if (ack->inflight <= probe_rtt_window(b)) {
			b->probe_until = ack->now + PROBE_RTT_STAY;
			b->probe_round_over = false;
			b->round_ends_at = b->delivered;
		}
		return false;
	}
	b->probe_round_over |= b->round_starts;
	return b->probe_round_over && ack->now > b->probe_until;
}

STAGE int check_probe_rtt(struct controller *b GIVEN, const struct ack *ack GIVEN)
{
	bool expired = ack->now > b->min_rtt_at + MIN_RTT_WINDOW;

	if (ack->rtt && (ack->rtt <= b->min_rtt || expired)) {
		b->min_rtt = ack->rtt;
		b->min_rtt_at = ack->now;
	}
	if (b->phase != PROBE_RTT &&
	    ((expired && !b->idle_restart) ||
	     (b->phase != STARTUP && ack->lost && policy_loss_probes(b, ack)))) {
		b->probe_renews = expired;
		b->probe_until = NONE;
		b->probe_round_over = false;
		b->probe_limited = false;
		if (loss_probe_window(b) != NONE)
			b->prior_window = 0;
		else
			save_window(b, b->recovering);
		enter(b, PROBE_RTT);
	}
	if (b->phase == PROBE_RTT && probe_rtt_is_over(b, ack))
		leave_probe_rtt(b, ack->now);
	b->idle_restart = false;
	return 0;
}

INLINE void update_gains(struct controller *b)
{
	b->pacing_gain = ONE_SHARE;
	switch (b->phase) {
	case STARTUP:
		b->pacing_gain = HIGH_PACING;
		b->window_gain = HIGH_GAIN;
		break;
	case DRAIN:
		b->pacing_gain = DRAIN_PACING;
		b->window_gain = HIGH_GAIN;
		break;
	case PROBE_BW:
		if (b->policer.in_use)
			b->pacing_gain = ONE_SHARE;
		else if (b->cycle == 0)
			b->pacing_gain = SHARE(1.25);
		else if (b->cycle == 1)
			b->pacing_gain = SHARE(0.75);
		else
			b->pacing_gain = policy_steady_gain(b);
		b->window_gain = 2000;
		break;
	default:
		b->window_gain = 1000;
	}
}

/* Events (host.h). */

INLINE void controller_init(struct controller *b, u64 mss, u64 window, u64 now)
{
	b->mss = mss;
	b->initial_window = b->window = most(window, mss);
	b->min_rtt = b->rtt = NONE;
	b->min_rtt_at = now;
	b->cycle_began_at = now;
	b->aggregation.began_at = now;
	b->pacing_gain = HIGH_PACING;
	b->window_gain = HIGH_GAIN;
	b->probe_until = NONE;
	set_rate_from_window(b, b->window, NS_PER_MS);
}

INLINE void controller_mtu(struct controller *b, u64 mss)
{
	b->mss = mss;
	set_rate(b, b->pacing_rate);
}

INLINE void controller_lost(struct controller *b, const struct loss *loss)
{
	if (!loss->opens)
		return;
	save_window(b, b->recovering || b->phase == PROBE_RTT);
	b->recovering = true;
	b->opening = true;
	b->restoring = false;
}

INLINE void controller_marked(struct controller *b, u64 now, u64 next)
{
}

INLINE void controller_timeout(struct controller *b, u64 now, u64 next)
{
	if (!b->recovering)
		save_window(b, b->phase == PROBE_RTT);
	b->recovering = true;
	b->window = b->mss;
	b->after_timeout = true;
	b->first_round = FREE;
	b->opening = b->restoring = false;
	b->full_bandwidth = 0;
	b->full_rounds = 0;
}

INLINE void controller_undo(struct controller *b, u64 now)
{
	b->recovering = false;
	/* The window comes back with the acknowledgment that shows it. */
	b->first_round = FREE;
	b->opening = false;
	b->restoring = true;
	b->after_timeout = false;
	policer_reset(&b->policer);
	b->full_bandwidth = 0;
	b->full_rounds = 0;
}

INLINE void controller_restart(struct controller *b, u64 now, bool app_limited)
{
	if (!app_limited)
		return;
	b->idle_restart = true;
	aggregation_restart(&b->aggregation, now);
	if (b->phase == PROBE_BW)
		follow_gain(b, ONE_SHARE);
	else if (b->phase == PROBE_RTT && b->probe_until != NONE && now > b->probe_until)
		leave_probe_rtt(b, now);
}

INLINE void controller_acked(struct controller *b, const struct ack *ack)
{
	/* What ProbeRTT's window delivers says nothing of the path. */
	bool app_limited = ack->app_limited ||
			   (b->probe_limited && ack->number >= b->limited_from &&
			    ack->number <= b->limited_until);
	u64 bandwidth;

	if (ack->recovered && b->recovering) {
		b->recovering = false;
		b->first_round = FREE;
		b->opening = false;
		b->restoring = true;
	}
	if (ack->rtt)
		b->rtt = ack->rtt;

	b->delivered = ack->next;
	b->round_starts = ack->sampled && ack->number >= b->round_ends_at;
	if (b->round_starts) {
		b->round_ends_at = b->delivered;
		b->rounds++;
		b->first_round = FREE;
	}
	if (ack->sampled) {
		if (policer_acked(b, ack, app_limited))
			enter_probe_bw(b, ack->now);
		if (!app_limited || !b->rates.filled || ack->rate >= b->rates.best.value)
			windowed_update(&b->rates, RATE_ROUNDS, b->rounds, ack->rate, true);
	}
	bandwidth = b->rates.best.value;
	b->bandwidth = b->policer.in_use ? b->policer.rate : bandwidth;

	policy_acked(b, ack);
	if (BBR_AGGREGATION)
		aggregation_acked(b, ack);
	update_cycle(b, ack, bandwidth);
	check_full(b, ack, bandwidth, app_limited);
	check_probe_rtt(b, ack);
	update_gains(b);
	if (!b->seen_rtt && ack->rtt) {
		b->seen_rtt = true;
		set_rate_from_window(b, b->window, ack->rtt);
	}
	follow_gain(b, b->pacing_gain);
	update_window(b, ack, probe_rtt_window(b));
}

INLINE u64 controller_window(const struct controller *b)
{
	return most(b->window, b->mss);
}

INLINE bool controller_empties(const struct controller *b)
{
	return b->phase == PROBE_RTT;
}

INLINE u64 controller_rate(const struct controller *b)
{
	return b->pacing_rate;
}

INLINE void controller_show(const struct controller *b, struct shown *shown)
{
	shown->phase = b->phase;
	shown->bandwidth = b->bandwidth;
	shown->min_rtt = b->min_rtt;
}

#endif
