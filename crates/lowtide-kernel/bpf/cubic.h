/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUBIC (RFC 9438) without HyStart++, as crates/lowtide-cc/src/controllers/cubic: the rival that ebb plays
 * in competition. Windows are packets as Q32. The cubic function errs by less than 2^-24 of the window.
 */
#ifndef LOWTIDE_CUBIC_H
#define LOWTIDE_CUBIC_H

#include "host.h"

/* The window after a congestion event; growth of the Reno estimate before it is as large as before. */
#define CUBIC_ALPHA Q32(3.0 * (1.0 - 0.7) / (1.0 + 0.7))
#define CUBIC_C Q32(0.4)
#define CUBIC_LEAST (2 * ONE_Q32)

struct cubic_epoch {
	u64 began_at;
	/* Seconds until the function reaches w_max, a Q32. */
	u64 k;
	u64 w_est;
	bool on;
};

/* What a spurious timeout gives back. */
struct cubic_saved {
	u64 cwnd, ssthresh, w_max, cwnd_prior;
	struct cubic_epoch epoch;
	u64 recovery_began;
};

struct cubic {
	u64 cwnd, ssthresh, w_max, cwnd_prior;
	struct cubic_epoch epoch;
	/* When the flow last used its whole window; NONE: never. */
	u64 limited_at;
	u64 srtt;
	/* The last recovery: number of the first packet behind it. */
	u64 recovery_began;
	u64 reduced_at;
	struct cubic_saved before_reduction;
	struct cubic_saved before_timeout;
	bool recovering;
	bool has_reduced;
	bool timed_out;
	bool on;
};

INLINE void cubic_save(const struct cubic *c, struct cubic_saved *saved)
{
	saved->cwnd = c->cwnd;
	saved->ssthresh = c->ssthresh;
	saved->w_max = c->w_max;
	saved->cwnd_prior = c->cwnd_prior;
	saved->epoch = c->epoch;
}

/* A flow in slow start with a window of so many bytes. */
INLINE void cubic_start(struct cubic *c, u64 bytes, u64 mss)
{
	struct cubic new = {
		.cwnd = most(ratio(bytes, mss, 32), CUBIC_LEAST),
		.ssthresh = NONE,
		.limited_at = NONE,
		.on = true,
	};

	*c = new;
}

/* Whole bytes. */
STAGE u64 cubic_window(const struct cubic *c GIVEN, u64 mss)
{
	return most(times(mss, c->cwnd), mss);
}

/* Whether a window is below the last one, by more than rounding. */
INLINE bool cubic_below(u64 window, u64 last)
{
	return window < times(last, Q32(0.999999));
}

STAGE int cubic_reduce(struct cubic *c GIVEN, u64 now, u64 next)
{
	c->reduced_at = now;
	c->has_reduced = true;
	cubic_save(c, &c->before_reduction);
	c->before_reduction.recovery_began = c->recovery_began;
	c->recovery_began = next;
	c->recovering = true;
	c->epoch.on = false;
	c->w_max = cubic_below(c->cwnd, c->w_max) ? times(c->cwnd, Q32(0.85)) : c->cwnd;
	c->cwnd_prior = c->cwnd;
	/* 0.7 of it, exactly: as a Q32 0.7 is less, and a window that should be whole would lose a byte. */
	c->ssthresh = most(c->cwnd - c->cwnd / 10 * 3 - c->cwnd % 10 * 3 / 10, CUBIC_LEAST);
	c->cwnd = c->ssthresh;
	return 0;
}

INLINE void cubic_lost(struct cubic *c, const struct loss *loss)
{
	if (!c->on || loss->number < c->recovery_began)
		return;
	if (c->timed_out) {
		/* A new recovery, but the window has been reduced. */
		c->recovery_began = loss->next;
		c->recovering = true;
		return;
	}
	cubic_reduce(c, loss->now, loss->next);
}

INLINE void cubic_marked(struct cubic *c, u64 now, u64 next)
{
	if (c->on && !c->recovering)
		cubic_reduce(c, now, next);
}

INLINE void cubic_timeout(struct cubic *c, u64 now)
{
	if (!c->on)
		return;
	if (!c->timed_out) {
		if (c->has_reduced && c->reduced_at == now) {
			c->before_timeout = c->before_reduction;
		} else {
			cubic_save(c, &c->before_timeout);
			c->before_timeout.recovery_began = c->recovery_began;
		}
		c->timed_out = true;
	}
	c->epoch.on = false;
	c->w_max = 0;
	c->cwnd = ONE_Q32;
	c->recovering = false;
}

INLINE void cubic_undo(struct cubic *c)
{
	const struct cubic_saved *before = &c->before_timeout;

	if (!c->on)
		return;
	c->recovering = false;
	if (!c->timed_out)
		return;
	c->timed_out = false;
	c->cwnd = before->cwnd;
	c->ssthresh = before->ssthresh;
	c->w_max = before->w_max;
	c->cwnd_prior = before->cwnd_prior;
	c->epoch = before->epoch;
	c->recovery_began = before->recovery_began;
}

INLINE void cubic_mtu(struct cubic *c, u64 old, u64 new)
{
	u64 scale = ratio(old, new, 32);

	if (!c->on)
		return;
	c->cwnd = most(times(c->cwnd, scale), ONE_Q32);
	if (c->ssthresh != NONE)
		c->ssthresh = most(times(c->ssthresh, scale), CUBIC_LEAST);
	c->w_max = times(c->w_max, scale);
	c->cwnd_prior = times(c->cwnd_prior, scale);
	c->epoch.on = false;
}

/* W(t), t in ns; not above `limit`, and not below 0. */
STAGE u64 cubic_at(const struct cubic *c GIVEN, u64 t, u64 limit)
{
	u64 now = seconds(t) >> 16;
	u64 x = distance(now, c->epoch.k);
	u64 cube;

	/* Beyond 1000 s it is far from any window. */
	x = least(x, 1000 * ONE_Q32);
	cube = times(times(times(x, x), x), CUBIC_C);
	if (now >= c->epoch.k)
		return least(c->w_max + cube, limit);
	return least(less(c->w_max, cube), limit);
}

STAGE int cubic_avoid(struct cubic *c GIVEN, u64 now, u64 acked)
{
	struct cubic_epoch *epoch = &c->epoch;
	u64 cwnd = c->cwnd;
	u64 t, target, growth;

	if (!epoch->on) {
		c->w_max = most(c->w_max, cwnd);
		epoch->on = true;
		epoch->began_at = now;
		epoch->k = cube_root(times(c->w_max - cwnd, Q32(2.5)));
		epoch->w_est = cwnd;
	}
	/* Time in which the flow did not use its window is not growth. */
	if (c->limited_at != NONE && c->limited_at >= epoch->began_at)
		epoch->began_at += less(less(now, c->limited_at), c->srtt);
	c->limited_at = now;
	t = less(now, epoch->began_at);
	growth = ratio(acked, cwnd, 32);
	epoch->w_est += cubic_below(epoch->w_est, c->cwnd_prior) ? times(growth, CUBIC_ALPHA) : growth;
	if (cubic_at(c, t, NONE) < epoch->w_est) {
		c->cwnd = most(cwnd, epoch->w_est);
		return 0;
	}
	target = most(cubic_at(c, t + c->srtt, cwnd + cwnd / 2), cwnd);
	c->cwnd = cwnd + times(acked, ratio(target - cwnd, cwnd, 32));
	return 0;
}

STAGE int cubic_acked(struct cubic *c GIVEN, const struct ack *ack GIVEN, u64 mss)
{
	u64 window = cubic_window(c, mss);
	bool slow_start = c->cwnd < c->ssthresh;

	if (!c->on)
		return 0;
	if (c->recovering && ack->number >= c->recovery_began)
		c->recovering = false;
	c->timed_out = false;
	if (ack->rtt)
		c->srtt = c->srtt ? (c->srtt * 7 + ack->rtt) / 8 : ack->rtt;
	/* Only a window that limits the flow may grow. */
	if (c->recovering || ack->prior + (slow_start ? window / 2 : 3 * mss) < window)
		return 0;
	if (slow_start)
		c->cwnd += ack->packets << 32;
	else
		cubic_avoid(c, ack->now, ack->packets << 32);
	return 0;
}

#endif
