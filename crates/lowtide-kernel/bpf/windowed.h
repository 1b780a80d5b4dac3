/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The best sample of the last `window` ticks in constant memory: the best, second and third best are kept
 * (Kathleen Nichols' algorithm; docs/ebb-spec.md section 13).
 */
#ifndef LOWTIDE_WINDOWED_H
#define LOWTIDE_WINDOWED_H

#include "fixed.h"

struct seen {
	u64 tick;
	u64 value;
};

struct windowed {
	struct seen best, second, third;
	bool filled;
};

INLINE bool windowed_as_good(u64 a, u64 b, bool largest)
{
	return largest ? a >= b : a <= b;
}

STAGE u64 windowed_update(struct windowed *w GIVEN, u64 window, u64 tick, u64 value, bool largest)
{
	struct seen new = { tick, value };
	u64 age;

	if (!w->filled || windowed_as_good(value, w->best.value, largest) ||
	    less(tick, w->third.tick) > window) {
		w->filled = true;
		w->best = w->second = w->third = new;
		return value;
	}
	if (windowed_as_good(value, w->second.value, largest))
		w->second = w->third = new;
	else if (windowed_as_good(value, w->third.value, largest))
		w->third = new;
	age = less(tick, w->best.tick);
	if (age > window) {
		w->best = w->second;
		w->second = w->third;
		w->third = new;
		if (less(tick, w->best.tick) > window) {
			w->best = w->second;
			w->second = w->third;
			w->third = new;
		}
	} else if (w->second.tick == w->best.tick && age > window / 4) {
		w->second = w->third = new;
	} else if (w->third.tick == w->second.tick && age > window / 2) {
		w->third = new;
	}
	return w->best.value;
}

#endif
