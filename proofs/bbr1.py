"""BBR v1 in ProbeBW on CCAC's path: the estimate b as a share of C, paced in phases of R, window 2 b R.

C = R = 1. A sample is what was in flight when its packet left, over its RTT or that of the newest packet acknowledged then.
"""
from fractions import Fraction as F

from z3 import And, If, Implies, Or, Real, Reals

from path import Path
from statement import D, Statement, every, solver

PROBE, DRAIN = F(5, 4), F(3, 4)


def after_probe(jitter, stronger=F(1)):
    """From any state without a standing queue: the probe's last packet shows min(1.25 b, C) / (1 + D/R) at least."""
    s = solver()
    b, left, before = Reals("b left before")  # when the last packet leaves the path; the delay of the one before
    path = Path(s, F(1), jitter)
    s.add(b > 0, b <= 1, left >= 1, before >= 0, before <= jitter)
    early, sent, start, end, due, out = (path.at(t, name) for t, name in (
        (-jitter, "early"), (-before, "sent"), (0, "start"), (1, "end"), (left - jitter, "due"), (left, "out")))
    path.close()
    s.add(early.queue <= 0, start.queue <= 0, sent.A == start.S)
    for p, q, gain in ((early, sent, 1), (sent, start, 1), (early, start, 1), (start, end, PROBE)):
        path.paced(p, q, gain * b)
    served = If(PROBE * b < 1, PROBE * b, 1)
    s.add(Implies(due.t <= 1, due.A == start.A + PROBE * b * due.t))
    s.add(Implies(And(due.t <= 1, due.t >= 0), Or(due.W == start.W, due.line >= start.A + served * due.t)))
    s.add(out.S < end.A)  # until `left` it has not gone
    s.add((end.A - start.S) * (1 + jitter) < stronger * served * left)
    return s


def stall(probe):
    """A cycle on a link ten times as fast, after which all is as before, and no sample is above the estimate."""
    s, step = solver(), F(1, 4)
    path = Path(s, F(10), step)
    points = path.grid(step, 37, -1)
    path.close()
    gains = [F(1)] * 4 + [g for phase in [probe, 2 - probe] + [F(1)] * 6 for g in [phase] * 4]
    for p, q, gain in zip(points, points[1:], gains):
        path.paced(p, q, gain)
    s.add(*[q.S - p.S <= q.t - p.t for i, p in enumerate(points) for q in points[i + 4:]])  # every span of R and more
    s.add(*[law for p, q in zip(points[:5], points[32:]) for law in (q.S == p.S + 8, q.line == p.line + 8)])
    return s


def queue(jitter, bound):
    """The estimate is C (1 + D/R) at most, since C (t + D) arrives in t; the queue at any moment is `bound` at most."""
    s, b = solver(), 1 + jitter
    e, filled = Reals("e filled")  # beyond 2 BDP; the last moment at which the link wasted
    path = Path(s, F(1), jitter)
    ago, last, now = path.at(-1, "ago"), path.at(filled, "last"), path.at(0, "now")
    path.close()
    s.add(e >= 0, filled >= -1, filled <= 0, now.W == last.W, Or(filled == -1, last.queue <= 0))
    s.add(now.A - ago.S <= 2 * b + e, now.A - last.A <= PROBE * b * (now.t - last.t) + e)
    s.add(now.queue > bound + e)
    return s


def sample(jitter, more):
    """What arrives in a span of R or more is C (span + `more`) at most."""
    s, span = solver(), Real("span")
    path = Path(s, F(1), jitter)
    _, begin, end = path.at(-jitter, "early"), path.at(0, "begin"), path.at(span, "end")
    path.close()
    s.add(span >= 1, end.S - begin.S > span + more)
    return s


def fill(jitter, reached, buffer=None):
    """A trace from an estimate of C: one probe, jitter that ends, then the window fills, or the buffer. e = 0."""
    s, step = solver(), F(1, 4)
    path = Path(s, F(1), jitter, buffer)
    points = path.grid(step, 41, -1)
    path.close()
    for i in range(4, 40):
        b = 1 if i < 12 else 1 + jitter  # what arrived in [0, 1] is known at 2
        gain = (PROBE, DRAIN, 1, 1, 1, 1, 1, 1, PROBE)[i // 4 - 1]
        paced, window = points[i].A + gain * b * step, points[i - 3].S + 2 * b
        s.add(points[i + 1].A == If(paced < window, paced, window))
    s.add(points[4].A - points[4].S <= jitter, points[4].queue <= 0, points[8].S - points[4].S >= 1 + jitter)
    s.add(Or([p.queue >= reached for p in points[8:]]) if buffer is None else And(points[4].L == 0, points[-1].L > 0))
    return s


STATEMENTS = [
    Statement("bbr-grow", "BBR v1: a probe shows min(1.25 b, C)/(1 + D/R) at least: while D < R/4 the use grows to R/(R + D)",
              "every D < R; outside 1 % more", lambda: every(after_probe(D), D < 1),
              lambda: every(after_probe(D, F(101, 100)), D < 1)),
    Statement("bbr-stall", "BBR v1: from D = R/4 on its estimate need never grow, here from a tenth of C",
              "D = R/4: none at gain 1.26, a loop at 1.25", lambda: stall(F(126, 100)), lambda: stall(PROBE)),
    Statement("bbr-sample", "BBR v1: its estimate is C (1 + D/R) at most", "every D; outside 0.99 D",
              lambda: every(sample(D, D)), lambda: every(sample(D, F(99, 100) * D))),
    Statement("bbr-queue", "BBR v1: queue <= C (R + 2 D) + e", "every D; outside 0.99 of it at D = R/4",
              lambda: every(queue(D, 1 + 2 * D)), lambda: fill(F(1, 4), F(149, 100))),
    Statement("bbr-buffer", "BBR v1: ten rounds of that trace lose nothing in a buffer above the bound",
              "1.76 CR; outside 1.49", lambda: fill(F(1, 4), 0, F(176, 100)), lambda: fill(F(1, 4), 0, F(149, 100))),
]
