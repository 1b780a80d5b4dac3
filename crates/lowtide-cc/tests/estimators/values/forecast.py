"""Reference values for lowtide_cc::estimators::ArrivalForecast.

Written from the description in NSDI 2013 and the constants of its authors' code, bin by bin and without a shortcut:
each starting bin's distribution is moved and normalised on its own, and Poisson's law is used as it stands.
Writes forecast.tsv beside itself: the counts of a tick (-1: excused), then the quantiles of the eight ticks.

    pip install numpy && python crates/lowtide-cc/tests/estimators/values/forecast.py
"""

from math import erf, exp, inf, lgamma, log, sqrt
from pathlib import Path

import numpy as np

BINS, WIDTH, TICK = 257, 1000 / 256, 0.02
DEVIATION = 200 * sqrt(TICK)
RATES = np.array([0.0] + [(b + 0.5) * WIDTH for b in range(1, BINS)])


def phi(x):
    return 0.5 * (1 + erf(x / DEVIATION / sqrt(2)))


def bin_of(rate):
    return min(max(int(rate / WIDTH), 0), BINS - 1)


def poisson(mean, count):
    if mean == 0:
        return 1.0 if count == 0 else 0.0
    return exp(count * log(mean) - mean - lgamma(count + 1))


MOTION = np.zeros((BINS, BINS))
for old in range(BINS):
    r = RATES[old]
    for new in range(bin_of(r - 5 * DEVIATION), bin_of(r + 5 * DEVIATION) + 1):
        low = -inf if new == 0 else new * WIDTH
        high = inf if new == BINS - 1 else (new + 1) * WIDTH
        weight = phi(high - r) - phi(low - r)
        if old == 0:
            weight *= exp(-TICK) if new == 0 else 1 - exp(-TICK)
        MOTION[old, new] = weight

EMIT = np.array([[poisson(r * TICK, k) for k in range(30)] for r in RATES])

# by[tick][bin]: distribution of the cumulative count.
by = [[None] * BINS for _ in range(8)]
for b in range(BINS):
    where = np.zeros(BINS)
    where[b] = 1.0
    total = np.array([1.0])
    for tick in range(8):
        total = np.convolve(total, where @ EMIT)
        by[tick][b] = total
        where = where @ MOTION
        where /= where.sum()
by = [np.array(rows) for rows in by]


def quantiles(belief, q):
    result = []
    for rows in by:
        cumulative = np.cumsum(belief @ rows)
        at_least = np.nonzero(cumulative >= q)[0]
        result.append(int(at_least[0]) if len(at_least) else rows.shape[1])
    return result


ticks = [8] * 25 + [7, 12, 3, 9, 0, 1, 14, 8] + [-1] * 3 + [8] * 3 + [0] * 20 + [5] * 5 + [25] * 12 + [60, 0, 0, 2]
belief = np.full(BINS, 1 / BINS)
with open(Path(__file__).parent / "forecast.tsv", "w", encoding="ascii") as out:
    out.write("# count\tmean\t5 %: 8 ticks\t25 %\t50 %\n")
    for count in ticks:
        belief = belief @ MOTION
        if count >= 0:
            belief = belief * [poisson(r * TICK, count) for r in RATES]
        belief /= belief.sum()
        row = [count, float(belief @ RATES)]
        for q in (0.05, 0.25, 0.5):
            row += quantiles(belief, q)
        out.write("\t".join(map(repr, row)) + "\n")
