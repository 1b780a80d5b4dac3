/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ebb, from docs/ebb-spec.md, whose sections the comments name and whose symbols the members bear. Left
 * out: `l4s`, and times of arrival by the peer's clock, which TCP does not tell.
 *
 * W, M, U, B and other volumes are volumes (fixed.h), delta and l are shares. An operation errs by at most
 * 2^-30 of its result, and what is carried from one acknowledgment to the next is a mean that forgets
 * or is bounded; tests hold W and the pacing rate to a millionth of the Rust core's and two bytes at
 * every event. What may be equal in whole packets is compared with a tolerance above any rounding, as in
 * the specification.
 */
#ifndef LOWTIDE_EBB_H
#define LOWTIDE_EBB_H

#include "cubic.h"
#include "windowed.h"

#ifndef EBB_IDLE
#define EBB_IDLE SHARE(0.05)
#endif
/* epsilon; the loader may set another before the kernel sees it. */
static const volatile u64 ebb_idle SECTION(".rodata.idle") = EBB_IDLE;

#define SPAN (10 * NS_PER_SECOND)
#define RATE_ROUNDS 15
#define LEAST_DELTA ((s64)-SHARE(0.5))
#define MOST_DELTA ((s64)SHARE(4))
#define NOMINAL_RTT NS_PER_MS
#define MOST_WINDOW VOLUME(MOST_BYTES - 1)

enum phase { STARTUP, DRAIN, STEADY, COMPETE };

/* What a drain has shown of others (section 11). */
enum outcome { SAME, CHANGED, LONGER };

/* A minimum over one to two spans. */
struct minimum {
	u64 current, previous, span_ends;
};

struct controller {
	u64 P;
	u64 W;
	u64 before_timeout;
	u64 last_ack;
	u64 lost_at, lost_bytes;
	u64 forecast_rtt;
	struct windowed best_rate;

	/* Section 5, the path. */
	struct minimum minimum, mean;
	u64 confirmed_at;
	u64 latest;
	u64 samples, sum;

	/* Section 6, rounds. */
	u64 rounds;
	u64 round_ends_at;
	u64 round_began, round_cwnd, used_max;
	u64 least_q, standing;

	/* Section 7, arrivals. */
	u64 last_arrival;
	u64 recent;
	u64 M, U;
	u64 stretch;

	/* Section 8, batches. */
	u64 batch, B, full;

	/* Section 9, the margin. */
	s64 delta;
	u64 loss;

	/* Section 10, drains and what is conceded. */
	struct windowed rtts;
	u64 drain_rounds, drain_min_rtt, drain_began, drain_ended;
	u64 plateau;
	u64 conceded_window, conceded_q, conceded_limit;

	/* Section 11, competition. */
	struct cubic cubic;
	u64 evidence;
	u64 overflow_at, last_lost, barred_until;
	u64 left_rtt, same;

	u32 phase;
	bool held;
};

/* What the stages of an acknowledgment share. */
struct step {
	u64 now;
	u64 T;
	u64 bytes;
	bool ends;
};

INLINE u64 floor_of(const struct controller *e)
{
	return VOLUME(4 * e->P);
}

INLINE u64 magnitude(s64 x)
{
	return x < 0 ? -(u64)x : (u64)x;
}

/* x times 1 + delta. */
INLINE u64 with_delta(u64 x, s64 delta)
{
	u64 part = times_share(x, magnitude(delta));

	return delta < 0 ? less(x, part) : x + part;
}

/* Section 5. */

INLINE void minimum_turn(struct minimum *m, u64 now)
{
	if (now < m->span_ends)
		return;
	if (m->current != NONE)
		m->previous = m->current;
	m->current = NONE;
	m->span_ends = now + SPAN;
}

INLINE u64 minimum_of(const struct minimum *m)
{
	return least(m->current, m->previous);
}

STAGE int path_sample(struct controller *e GIVEN, u64 now, u64 rtt)
{
	u64 minimum;

	if (!e->held) {
		minimum_turn(&e->minimum, now);
		minimum_turn(&e->mean, now);
	}
	minimum = minimum_of(&e->minimum);
	if (minimum == NONE || rtt <= minimum * 103 / 100)
		e->confirmed_at = now;
	e->minimum.current = least(e->minimum.current, rtt);
	e->latest = rtt;
	e->samples++;
	e->sum += rtt;
	return 0;
}

INLINE void path_end_round(struct controller *e)
{
	if (e->samples < 8)
		return;
	e->mean.current = least(e->mean.current, e->sum / e->samples);
	e->samples = 0;
	e->sum = 0;
}

INLINE void path_replace(struct controller *e, u64 now, u64 rtt)
{
	e->minimum.previous = NONE;
	e->minimum.current = rtt;
	e->minimum.span_ends = now + SPAN;
	e->mean.previous = NONE;
	e->mean.current = NONE;
	e->mean.span_ends = 0;
}

/* 1 - max(|delta| * inverse, l / 0.01), not below 0, a Q32 (section 9). */
INLINE u64 calm(const struct controller *e, u64 inverse)
{
	u64 unrest = most(magnitude(e->delta) * inverse, e->loss * 100);

	return less(ONE_SHARE, unrest) >> 16;
}

#define CALM_005 20
#define CALM_01 10

STAGE u64 min_rtt(const struct controller *e GIVEN)
{
	u64 m = most(minimum_of(&e->minimum), 1);
	u64 c, mean, own, excess;

	/* In Startup, and beside others, every round has a queue. */
	if (e->phase == STARTUP || e->cubic.on || e->evidence > 0)
		return m;
	c = calm(e, CALM_005);
	mean = minimum_of(&e->mean);
	if (!c || mean == NONE)
		return m;
	own = ratio(most(VOLUME(2 * e->P), e->B / 2), most(e->M, VOLUME(1)), SHARE_BITS);
	excess = less(less(mean, m) * 5 / 4, times_share(m, least(own, 1000 * ONE_SHARE)));
	return m + times(excess, c);
}

/* Section 6. */

INLINE u64 round_met(const struct controller *e)
{
	return e->least_q == NONE ? e->standing : e->least_q;
}

/* Section 8. Returns the volume that a batch which ends here left unused. */
STAGE u64 batches(struct controller *e GIVEN, u64 bytes, bool begins, bool idle)
{
	u64 ended = 0, w;

	if (begins) {
		ended = e->batch;
		e->batch = 0;
	}
	e->batch += bytes;
	if (!ended)
		return 0;
	w = weight(ended, 4 * e->W);
	if (ended > e->B)
		e->B += times_share(ended - e->B, w);
	else
		e->B -= times_share(e->B - ended, w);
	if (idle)
		return less(e->full, ended);
	if (!e->full)
		e->full = ended;
	else if (ended > e->full)
		e->full += times_share(ended - e->full, w);
	else
		e->full -= times_share(e->full - ended, w);
	return 0;
}

/* Volume of a mean batch beyond the usual two packets. */
INLINE u64 bunch(const struct controller *e)
{
	return less(e->B, VOLUME(2 * e->P));
}

/* Section 9. */

INLINE void margin_delivered(struct controller *e, u64 b)
{
	e->loss -= times_share(e->loss, weight(b, 4 * e->W));
}

STAGE int margin_arrival(struct controller *e GIVEN, u64 b, u64 unused)
{
	u64 wanted = times_share(b + unused, ebb_idle);
	s64 step;

	if (e->loss > SHARE(0.07))
		return 0;
	if (unused > wanted) {
		step = times(ratio(unused - wanted, e->W, SHARE_BITS), Q32(0.07));
		e->delta = e->delta + step > MOST_DELTA ? MOST_DELTA : e->delta + step;
	} else if (e->delta > 0) {
		step = times(ratio(wanted - unused, e->W, SHARE_BITS), Q32(0.07));
		e->delta = e->delta > step ? e->delta - step : 0;
	}
	return 0;
}

STAGE int margin_lost(struct controller *e GIVEN, u64 b, bool queued)
{
	u64 tolerated = queued ? SHARE(0.02) : SHARE(0.07);
	u64 counted = 0;
	s64 step;

	e->loss += times_share(less(ONE_SHARE, e->loss), weight(b, 4 * e->W));
	if (e->loss > tolerated)
		counted = times_share(b, ratio(e->loss - tolerated, e->loss, SHARE_BITS));
	step = times(ratio(counted, e->W, SHARE_BITS), Q32(0.14));
	e->delta = e->delta - step < LEAST_DELTA ? LEAST_DELTA : e->delta - step;
	return 0;
}

STAGE int margin_spurious(struct controller *e GIVEN, u64 b)
{
	s64 step;

	e->loss = less(e->loss, weight(b, 4 * e->W));
	if (e->delta >= 0)
		return 0;
	step = times(ratio(b, e->W, SHARE_BITS), Q32(0.14));
	e->delta = e->delta + step > 0 ? 0 : e->delta + step;
	return 0;
}

/* Section 10. */

STAGE u64 target(const struct controller *e GIVEN)
{
	u64 packets = VOLUME(2), between, law;

	if (e->forecast_rtt != NONE) {
		/* 0.03 r, a Q32: 0.03 s times packets in a T. */
		u64 served = ratio(e->M, VOLUME(e->P), 32);
		u64 a = times(ratio(served, e->forecast_rtt, 25), Q32(0.894069671630859375));

		packets = most(packets, root(least(a, 1ULL << 62)));
	}
	between = most(packets * e->P, e->B);
	law = with_delta(e->M, e->delta);
	if (e->U < e->M)
		law = less(law, times(e->M - e->U, calm(e, CALM_01)));
	return least(most(law + between, floor_of(e)), MOST_WINDOW);
}

STAGE int begin_drain(struct controller *e GIVEN, u64 now, u64 T, u64 next)
{
	u64 flow;

	e->phase = DRAIN;
	e->round_ends_at = next;
	e->drain_rounds = 0;
	e->drain_min_rtt = T;
	e->drain_began = now;
	e->plateau = NONE;
	if (e->cubic.on)
		flow = times_share(e->W, ratio(T, most(e->latest, T), SHARE_BITS));
	else
		flow = least(times_share(e->W, ratio(T, T + e->standing, SHARE_BITS)), e->M);
	e->W = most(least(e->W, times_share(flow, SHARE(0.9))), floor_of(e));
	return 0;
}

/* Section 11. */

STAGE int drained(struct controller *e GIVEN, u64 now, u64 T, u64 q)
{
	/* Larger batches than the usual wait for their end. */
	u64 explained = times_share(T + q, ratio(bunch(e), e->W, SHARE_BITS));
	bool busy = e->drain_rounds >= 2 && e->delta <= 0;
	bool shortened = T < e->drain_min_rtt * 98 / 100;
	bool failed;

	if (e->cubic.on) {
		bool empty = q < T / 20;
		bool longer, unopposed;
		u64 r = T + q;

		e->evidence = empty && !shortened ? e->evidence + 1 : 0;
		e->same = !empty && distance(r, e->left_rtt) * 100 < e->left_rtt ? e->same + 1 : 0;
		e->left_rtt = r;
		longer = e->same >= 3;
		unopposed = !empty && less(now, e->last_lost) > 15 * NS_PER_SECOND;
		if (unopposed)
			e->barred_until = now + 60 * NS_PER_SECOND;
		if (!longer && !unopposed && e->evidence < 2)
			return SAME;
		e->cubic.on = false;
		e->evidence = 0;
		return longer ? LONGER : CHANGED;
	}
	failed = busy && q > T * 3 / 20 + 5 * NS_PER_MS + explained;
	e->evidence = failed ? least(e->evidence + 1, 8) : less(e->evidence, 2);
	if (!failed || e->evidence < 3 || e->overflow_at == NONE ||
	    less(now, e->overflow_at) >= 60 * NS_PER_SECOND || now < e->barred_until)
		return SAME;
	cubic_start(&e->cubic, target(e) >> VOLUME_BITS, e->P);
	e->evidence = 0;
	e->last_lost = now;
	e->left_rtt = 0;
	e->same = 0;
	return CHANGED;
}

STAGE int end_drain(struct controller *e GIVEN, u64 now, u64 T)
{
	u64 q = round_met(e);
	int outcome = drained(e, now, T, q);

	if (outcome != SAME) {
		e->held = e->cubic.on;
		e->delta = 0;
		e->loss = 0;
	}
	if (outcome == LONGER)
		path_replace(e, now, T + q);
	e->drain_rounds = 0;
	e->drain_ended = now;
	return 0;
}

STAGE int is_due(struct controller *e GIVEN, u64 now, u64 T)
{
	u64 patience = least(most(75 * T, 500 * NS_PER_MS), 10 * NS_PER_SECOND);
	u64 before = e->rtts.filled ? e->rtts.best.value : NONE;
	u64 now_least = windowed_update(&e->rtts, patience, now, e->latest, false);
	bool aged = before != NONE && now_least > before;
	bool joins = e->drain_rounds > 20 && e->plateau != NONE &&
		     less(e->latest, T) + most(e->plateau * 3 / 10, 500 * NS_PER_US) < e->plateau;
	bool unconfirmed = less(now, e->confirmed_at) > 10 * NS_PER_SECOND;
	u64 since = less(now, e->drain_ended);

	if (e->delta < (s64)SHARE(0.02) && ((aged && !e->cubic.on) || joins))
		return true;
	if (!e->cubic.on)
		return unconfirmed;
	/* In competition, whether it is time to look for its end. */
	if (e->evidence > 0)
		return since > most(NS_PER_SECOND, 10 * T);
	return since > most(4 * NS_PER_SECOND, 25 * T);
}

STAGE int steer(struct controller *e GIVEN, const struct step *s GIVEN, u64 next)
{
	bool due = is_due(e, s->now, s->T);
	u64 grown = e->W + s->bytes;

	switch (e->phase) {
	case STARTUP: {
		u64 limit = NONE;

		if (e->best_rate.filled)
			limit = most(2 * moved(e->best_rate.best.value, s->T) + floor_of(e), e->W);
		e->W = least(least(grown, limit), MOST_WINDOW);
		if (e->stretch > most(e->W / 8, VOLUME(10 * e->P)))
			begin_drain(e, s->now, s->T, next);
		break;
	}
	case DRAIN:
		if (e->drain_rounds >= 2 ||
		    (e->drain_rounds >= 1 && e->latest <= s->T * 101 / 100)) {
			e->confirmed_at = s->now;
			end_drain(e, s->now, s->T);
			e->phase = STEADY;
		}
		break;
	default: {
		u64 window = target(e);

		if (e->cubic.on)
			window = most(window, VOLUME(cubic_window(&e->cubic, e->P)));
		e->W = least(least(window, grown), MOST_WINDOW);
		if (due)
			begin_drain(e, s->now, s->T, next);
	}
	}
	return 0;
}

/* What is conceded to a queue that does not move. */
INLINE void concede(struct controller *e, const struct step *s, u64 began, u64 q)
{
	if (q <= s->T / 4) {
		e->conceded_q = NONE;
		return;
	}
	if (e->conceded_q == NONE || distance(q, e->conceded_q) * 20 >= e->conceded_q) {
		e->conceded_window = e->W;
		e->conceded_q = q;
		e->conceded_limit = NONE;
		return;
	}
	if (e->W * 5 > e->conceded_window * 2) {
		e->conceded_limit = NONE;
		return;
	}
	if (e->conceded_limit == NONE)
		e->conceded_limit = s->now;
	if (began > e->conceded_limit) {
		e->conceded_q = NONE;
		path_replace(e, s->now, s->T + q);
	}
}

STAGE int end_round(struct controller *e GIVEN, const struct step *s GIVEN)
{
	u64 used = least(e->used_max, e->round_cwnd);
	bool limited = used > times_share(e->round_cwnd, SHARE(0.900001));
	u64 q = e->least_q, began = e->round_began;

	if (q != NONE)
		e->standing = q;
	e->least_q = NONE;
	e->round_began = s->now;
	e->round_cwnd = e->W;
	e->used_max = 0;
	e->drain_rounds++;
	if (q == NONE)
		return 0;
	if (e->drain_rounds > 6)
		e->plateau = least(e->plateau, q);
	if (e->phase != STEADY || began < e->drain_ended)
		return 0;
	if (limited)
		e->U = times_share(used, ratio(s->T, s->T + q, SHARE_BITS));
	if (e->delta >= (s64)SHARE(0.02) || e->cubic.on)
		e->conceded_q = NONE;
	else
		concede(e, s, began, q);
	return 0;
}

/* Section 7. One packet, or several that share a time of sending. */
struct arrival {
	u64 bytes;
	u64 sent;
	u64 at;
	u64 limit;
	/* What these bytes weigh in a forecast that rises, and in one that falls. */
	u64 rise, fall;
	bool begins;
	/* Arrivals change the margin: nothing but the path limits the flow. */
	bool margin;
	bool outage;
};

STAGE int arrive(struct controller *e GIVEN, const struct step *s GIVEN, const struct arrival *a GIVEN)
{
	u64 T = most(s->T, 1);
	u64 unqueued = a->sent + T;
	u64 last = e->last_arrival == NONE ? unqueued : e->last_arrival;
	u64 span = less(a->at, last);
	u64 q = less(a->at, unqueued);
	u64 idle = q > T / 5 ? 0 : least(less(unqueued, last), span);
	u64 busy = span - idle;
	u64 served, unused;

	if (busy) {
		u64 age = times(least(ratio(busy, T, SHARE_BITS), 100 * ONE_SHARE), Q32(1 / 0.35));

		e->recent -= times_share(e->recent, fading(age));
	}
	served = times(e->recent + a->bytes / 2, Q32(1 / 0.35));
	e->recent = least(e->recent + a->bytes, VOLUME(MOST_BYTES));
	e->last_arrival = most(a->at, last);
	unused = batches(e, a->bytes, a->begins, idle > 0);
	e->least_q = least(e->least_q, q);
	if (e->phase != DRAIN &&
	    !(e->drain_began <= a->sent && a->sent < e->drain_ended)) {
		u64 x = least(served, a->limit);

		if (!e->M)
			e->M = x;
		if (x > e->M)
			e->M += times_share(x - e->M, a->rise);
		else
			e->M -= times_share(e->M - x, a->fall);
	}
	if (e->phase == STARTUP)
		e->stretch = !idle && q > most(T / 8, NS_PER_MS) ? e->stretch + a->bytes : 0;
	if (e->phase == STEADY && a->margin && a->sent >= e->drain_ended) {
		if (!a->outage && least(round_met(e), e->standing) <= T / 10)
			unused += least(times_share(e->M, ratio(idle, T, SHARE_BITS)), e->W);
		margin_arrival(e, a->bytes, unused);
	}
	return 0;
}

STAGE int arrivals(struct controller *e GIVEN, const struct step *s GIVEN, const struct ack *ack GIVEN)
{
	bool app_limited = !ack->sampled || ack->app_limited;
	u32 pieces = least(ack->packets, PIECES);
	struct arrival a = {
		.begins = s->now > e->last_ack,
		.margin = !app_limited,
		.outage = e->latest > 2 * s->T,
		.limit = MOST_WINDOW,
	};
	u64 whole, left = ack->packets;

	if (e->best_rate.filled) {
		u64 growth = e->delta < (s64)SHARE(0.05) ? Q32(1.25) : Q32(2.5);
		u64 losses = most(less(ONE_SHARE, 2 * e->loss) >> 16, Q32(0.3));
		u64 best = least(moved(e->best_rate.best.value, s->T), MOST_WINDOW);

		a.limit = least(times(best, times(growth, losses)), MOST_WINDOW);
	}
	if (app_limited)
		a.limit = most(a.limit, e->M);
	if (!pieces)
		return 0;
	whole = ack->packets / pieces;
	/* The newest packet has brought the acknowledgment; those before it came as they were sent. */
	for (u32 piece = 0; piece < PIECES; piece++) {
		u64 earlier, bytes;

		if (piece >= pieces)
			break;
		bytes = VOLUME((piece + 1 == pieces ? left : whole) * e->P);
		if (bytes != a.bytes) {
			a.bytes = bytes;
			a.rise = weight(bytes, e->W / 2);
			a.fall = weight(bytes, e->W);
		}
		left -= whole;
		earlier = ack->spread * (pieces - 1 - piece) / pieces;
		earlier -= earlier % NS_PER_US;
		a.sent = less(ack->newest, earlier);
		a.at = least(most(less(s->now, earlier), e->last_ack), s->now);
		arrive(e, s, &a);
		a.begins = false;
	}
	return 0;
}

/* Events (host.h). */

INLINE void controller_init(struct controller *e, u64 mss, u64 window, u64 now)
{
	e->P = most(mss, 1);
	e->W = least(most(VOLUME(window), floor_of(e)), MOST_WINDOW);
	e->before_timeout = NONE;
	e->forecast_rtt = NONE;
	e->minimum.current = e->minimum.previous = NONE;
	e->mean.current = e->mean.previous = NONE;
	e->least_q = NONE;
	e->last_arrival = NONE;
	e->U = NONE;
	e->drain_began = NONE;
	e->plateau = NONE;
	e->conceded_q = e->conceded_limit = NONE;
	e->overflow_at = NONE;
	e->lost_at = NONE;
	e->phase = STARTUP;
}

INLINE bool knows_rtt(const struct controller *e)
{
	return minimum_of(&e->minimum) != NONE;
}

INLINE void controller_mtu(struct controller *e, u64 mss)
{
	cubic_mtu(&e->cubic, e->P, mss);
	e->P = most(mss, 1);
	e->W = most(e->W, floor_of(e));
}

STAGE int controller_lost(struct controller *e GIVEN, const struct loss *loss GIVEN)
{
	u64 bytes = VOLUME(least(loss->bytes, MOST_BYTES - 1));
	bool queued;
	u64 T;

	e->lost_bytes = e->lost_at == loss->now ? least(e->lost_bytes + bytes, MOST_WINDOW) : bytes;
	e->lost_at = loss->now;
	if (!knows_rtt(e))
		return 0;
	T = min_rtt(e);
	queued = e->latest > T * 9 / 8;
	e->last_lost = loss->now;
	if (queued)
		e->overflow_at = loss->now;
	cubic_lost(&e->cubic, loss);
	margin_lost(e, bytes, queued);
	if (e->phase == STARTUP && (queued || e->loss > SHARE(0.07)))
		begin_drain(e, loss->now, T, loss->next);
	return 0;
}

INLINE void controller_marked(struct controller *e, u64 now, u64 next)
{
	margin_lost(e, VOLUME(e->P), true);
	e->last_lost = now;
	e->overflow_at = now;
	cubic_marked(&e->cubic, now, next);
	if (e->phase == STARTUP && knows_rtt(e))
		begin_drain(e, now, min_rtt(e), next);
}

INLINE void controller_timeout(struct controller *e, u64 now, u64 next)
{
	cubic_timeout(&e->cubic, now);
	if (e->before_timeout == NONE)
		e->before_timeout = e->W;
	e->W = floor_of(e);
}

INLINE void controller_undo(struct controller *e, u64 now)
{
	cubic_undo(&e->cubic);
	if (e->before_timeout != NONE)
		e->W = most(e->W, e->before_timeout);
	e->before_timeout = NONE;
}

INLINE void controller_restart(struct controller *e, u64 now, bool app_limited)
{
}

/* M and U for another T. */
STAGE int rescale(struct controller *e GIVEN, u64 T)
{
	u64 before = e->forecast_rtt;
	u64 change;

	e->forecast_rtt = T;
	if (before == NONE || before == T)
		return 0;
	change = ratio(distance(T, before), before, SHARE_BITS);
	if (T > before) {
		e->M = least(e->M + times_share(e->M, change), MOST_WINDOW);
		if (e->U != NONE)
			e->U = least(e->U + times_share(e->U, change), MOST_WINDOW);
	} else {
		e->M -= times_share(e->M, change);
		if (e->U != NONE)
			e->U -= times_share(e->U, change);
	}
	return 0;
}

/* Section 4. */
STAGE int controller_acked(struct controller *e GIVEN, const struct ack *ack GIVEN)
{
	struct step s = {
		.now = ack->now,
		.bytes = VOLUME(ack->bytes),
	};
	u64 lost, spurious;

	e->before_timeout = NONE;
	path_sample(e, s.now, less(s.now, ack->newest));
	e->used_max = most(e->used_max, VOLUME(ack->prior));
	s.ends = ack->number >= e->round_ends_at;
	if (s.ends) {
		e->rounds++;
		e->round_ends_at = ack->next;
		path_end_round(e);
	}
	s.T = min_rtt(e);
	if (ack->sampled && (!ack->app_limited || !e->best_rate.filled ||
			     ack->rate >= e->best_rate.best.value))
		windowed_update(&e->best_rate, RATE_ROUNDS, e->rounds, ack->rate, true);
	rescale(e, s.T);
	margin_delivered(e, s.bytes);
	/* What arrives without having been in flight had been given up for lost. */
	lost = e->lost_at == s.now ? e->lost_bytes : 0;
	e->lost_at = NONE;
	/* An undone timeout puts all of it back into flight. */
	spurious = less(s.bytes + lost + VOLUME(ack->inflight), VOLUME(ack->prior));
	if (spurious)
		margin_spurious(e, spurious);
	cubic_acked(&e->cubic, ack, e->P);
	arrivals(e, &s, ack);
	e->last_ack = s.now;
	steer(e, &s, ack->next);
	if (s.ends)
		end_round(e, &s);
	return 0;
}

INLINE u64 controller_window(const struct controller *e)
{
	return e->W >> VOLUME_BITS;
}

/* Its draining ends after two rounds at the latest. */
INLINE bool controller_empties(const struct controller *e)
{
	return false;
}

/* Section 12. */
STAGE u64 controller_rate(const struct controller *e GIVEN)
{
	u64 T = NOMINAL_RTT, gain = 3 * ONE_Q32;

	if (e->cubic.on)
		T = e->latest;
	else if (knows_rtt(e))
		T = min_rtt(e);
	if (e->phase != STARTUP) {
		u64 batch = ratio(least(bunch(e), e->W), most(e->M, VOLUME(1)), 32);

		gain = 2 * ONE_Q32 - times(calm(e, CALM_01), Q32(0.75));
		batch = least(batch, ONE_Q32 << 20);
		gain = ratio(gain, ONE_Q32 + batch + batch / 4, 32);
	}
	return most(times(rate_of(controller_window(e), T), gain), 1);
}

INLINE void controller_show(const struct controller *e, struct shown *shown)
{
	shown->phase = e->phase == STEADY && e->cubic.on ? COMPETE : e->phase;
	shown->min_rtt = e->forecast_rtt;
	shown->bandwidth = rate_of(e->M >> VOLUME_BITS, least(e->forecast_rtt, 1ULL << 50));
}

#endif
