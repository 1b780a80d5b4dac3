/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fixed-point arithmetic: there are no floating-point numbers in the kernel.
 *
 *	Q32	a real number times 2^32, for gains and degrees
 *	share	a real number times 2^48, for what is added up over many acknowledgments
 *	volume	bytes times 2^24, below 2^34 bytes
 *
 * Times are nanoseconds below 2^50 (13 days). All are unsigned 64-bit integers. No operation fails or
 * overflows in these ranges. Results are rounded towards zero: `ratio` errs by less than one unit in its
 * last place, products by two.
 */
#ifndef LOWTIDE_FIXED_H
#define LOWTIDE_FIXED_H

#include "kernel.h"

#define ONE_Q32 (1ULL << 32)
#define ONE_SHARE (1ULL << 48)
#define SHARE_BITS 48
#define VOLUME_BITS 24
/* No value: not known yet, or without a bound. */
#define NONE (~0ULL)
#define MOST_BYTES (1ULL << 34)
#define MOST_RATE ((1ULL << 36) - 1)
#define LOW32 0xffffffffULL

#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_SECOND 1000000000ULL

/* Constants; the compiler computes them. */
#define Q32(x) ((u64)((x) * 4294967296.0 + 0.5))
#define SHARE(x) ((u64)((x) * 281474976710656.0 + 0.5))
#define VOLUME(bytes) ((u64)(bytes) << VOLUME_BITS)

INLINE u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

INLINE u64 most(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* a - b, not below zero. */
INLINE u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

INLINE u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* x times a Q32. */
INLINE u64 times(u64 x, u64 q32)
{
	u64 low = q32 & LOW32;

	return x * (q32 >> 32) + (x >> 32) * low + (((x & LOW32) * low) >> 32);
}

/* x times a share. */
INLINE u64 times_share(u64 x, u64 share)
{
	return times(x, share >> 16) + (times(x, (share & 0xffff) << 16) >> 32);
}

/* Zeros above the highest bit of x, which is not 0. */
INLINE u32 leading_zeros(u64 x)
{
	/* All bits below the highest, then how many there are. Not __builtin_clzll: clang 14 dies of it. */
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	x |= x >> 32;
	x -= (x >> 1) & 0x5555555555555555ULL;
	x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return 64 - ((x * 0x0101010101010101ULL) >> 56);
}

/* The next 32 bits of a quotient, and the rest. `rest` is below the denominator, whose highest bit is set. */
INLINE u64 next_digit(u64 *rest, u64 next, u64 denominator)
{
	u64 high = denominator >> 32, low = denominator & LOW32;
	u64 digit = *rest / high;
	u64 left = *rest - digit * high;

	/* What the denominator's lower half takes makes it less, by two at most. */
	if (digit > LOW32 || digit * low > (left << 32 | next)) {
		digit--;
		left += high;
		if (left <= LOW32 && (digit > LOW32 || digit * low > (left << 32 | next)))
			digit--;
	}
	*rest = (*rest << 32 | next) - digit * denominator;
	return digit;
}

/*
 * numerator / denominator with this many fractional bits, 1 to 63, at most 2^63; that, too, where the
 * denominator is 0 and the numerator is not.
 */
STAGE u64 ratio(u64 numerator, u64 denominator, u32 fraction)
{
	u64 rest, lower, quotient;
	u32 up;

	if (!numerator)
		return 0;
	rest = numerator >> ((64 - fraction) & 63);
	lower = numerator << (fraction & 63);
	if (rest >= denominator)
		return 1ULL << 63;
	up = leading_zeros(denominator) & 63;
	denominator <<= up;
	rest = rest << up | lower >> 1 >> (63 - up);
	lower <<= up;
	quotient = next_digit(&rest, lower >> 32, denominator) << 32;
	quotient |= next_digit(&rest, lower & LOW32, denominator);
	return least(quotient, 1ULL << 63);
}

/* The share that a volume b has in b + memory. */
INLINE u64 weight(u64 b, u64 memory)
{
	return ratio(b, b + memory, SHARE_BITS);
}

/* 1 - e^-x, a share, of a share x. The error is below 2^-30. */
STAGE u64 fading(u64 x)
{
	u64 t, y, rest;

	if (x < ONE_SHARE / 8) {
		/* Taylor's series; the next term is below 2^-34 of the result. */
		t = x >> 16;
		rest = ONE_Q32;
		if (x >= ONE_SHARE / 256) {
			rest = ONE_Q32 - times(t, Q32(1.0 / 7));
			rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 6));
			rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 5));
		}
		rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 4));
		rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 3));
		rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 2));
		return times(x, rest);
	}
	if (x >= 33 * ONE_SHARE)
		return ONE_SHARE;
	/* e^-x = 2^-y; the fraction of y by the series, the rest by a shift. */
	y = times(x >> 16, Q32(1.4426950408889634));
	t = times(y & LOW32, Q32(0.6931471805599453));
	rest = ONE_Q32 - times(t, Q32(1.0 / 12));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 11));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 10));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 9));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 8));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 7));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 6));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 5));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 4));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 3));
	rest = ONE_Q32 - times(times(t, rest), Q32(1.0 / 2));
	rest = ONE_Q32 - times(t, rest);
	return ONE_SHARE - ((rest << 16) >> ((y >> 32) & 63));
}

/* The square root of a Q32 below 2^31, with 24 fractional bits. */
STAGE u64 root(u64 x)
{
	u64 guess;
	u32 up;

	if (!x)
		return 0;
	/* An even number of bits, so that the root has 32. */
	up = leading_zeros(x) & 62;
	x <<= up;
	/* At most twice the root; Newton's steps come from above. */
	guess = ONE_Q32;
	guess = (guess + x / guess) / 2;
	guess = (guess + x / guess) / 2;
	guess = (guess + x / guess) / 2;
	guess = (guess + x / guess) / 2;
	guess = (guess + x / guess) / 2;
	return (guess << 8) >> (up / 2);
}

/* The cube root of a Q32 below 2^31, a Q32. */
STAGE u64 cube_root(u64 x)
{
	u64 guess;

	if (!x)
		return 0;
	guess = 1ULL << ((64 - leading_zeros(x) + 2 + 64) / 3);
	for (int step = 0; step < 7; step++)
		guess = (2 * guess + ratio(x, times(guess, guess), 32)) / 3;
	return guess;
}

/* A span in seconds, a share; 18 hours, 65,535 s, at most: what a share can hold. */
INLINE u64 seconds(u64 ns)
{
	return times(least(ns, 65535 * NS_PER_SECOND), Q32(281474.976710656));
}

/* The volume that moves at a rate up to MOST_RATE in a span below 15 s; what is more counts as this. */
INLINE u64 moved(u64 rate, u64 ns)
{
	u64 volume = VOLUME(least(rate, MOST_RATE));

	return least(times_share(volume, seconds(least(ns, 15 * NS_PER_SECOND))),
		     VOLUME(MOST_BYTES - 1));
}

/* Whole bytes a second: a volume below 2^34 bytes in a span. */
INLINE u64 rate_of(u64 bytes, u64 ns)
{
	return least(bytes, MOST_BYTES) * NS_PER_SECOND / most(ns, 1);
}

#endif
