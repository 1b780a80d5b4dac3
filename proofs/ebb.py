"""ebb's core on CCAC's path: W = M (1 + delta) + e, always filled, T = R. C = R = 1; volumes in CR."""
from fractions import Fraction as F

from z3 import If, Or, Real

from path import Path
from statement import D, Statement, every, solver

E = F(1, 20)


def window_limited(path, parts, m):
    """M + e is always in flight. M and delta may grow meanwhile; M does not fall, as the maximum of these rounds."""
    points = path.points
    path.close()
    path.solver.add(m > 0, *[now.A >= ago.S + m + E for ago, now in zip(points, points[parts:])])
    return points[parts:]


def alone(rounds, parts, late, stronger=F(1)):
    """From any state, where no queue stands: `rounds` serve (M + e)/(1 + D/R) in an R on average, so one serves it."""
    s, m, jitter = solver(), Real("M"), F(late, parts)
    path = Path(s, F(50), jitter)
    s.add(*[p.queue <= 0 for p in path.grid(F(1, parts), (rounds + 1) * parts + 1, -1)])
    points = window_limited(path, parts, m)
    s.add((points[-1].S - points[0].S) * (1 + jitter) < stronger * rounds * (m + E))
    return s


def used(least):
    """From any state at all, 6 rounds, D = R/4: they serve `least` of min(M + e, C R) in an R on average."""
    s, m, rounds, parts = solver(), Real("M"), 6, 4
    path = Path(s, F(1), F(1, 4))
    path.grid(F(1, parts), (rounds + 1) * parts + 1, -1)
    points = window_limited(path, parts, m)
    s.add(points[-1].S - points[0].S < least * rounds * If(m + E < 1, m + E, 1))
    return s


def queue(jitter, delta, factor, bound):
    """M is at most `factor` times what arrives in an R: the queue, but for what idled in the last R."""
    s, e, m = solver(), Real("e"), Real("M")
    path = Path(s, F(1), jitter)
    begin, end = path.at(Real("then"), "then"), path.at(Real("then") + 1, "since")
    early, ago, now = path.at(begin.t - jitter, "early"), path.at(-1, "ago"), path.at(0, "now")
    path.close()
    s.add(e >= 0, end.t <= -1, m <= factor * (end.S - begin.S), early.t < 0)
    s.add(now.A - ago.S <= m * (1 + delta) + e)
    s.add(now.queue > bound + e + (now.W - ago.W))
    return s


def stand(jitter, reached):
    """A trace: jitter ends, M has seen C (R + D), the queue stands. delta = 0."""
    s, step = solver(), F(1, 4)
    path = Path(s, F(1), jitter)
    points = path.grid(step, 21, -1)
    path.close()
    m = 1 + jitter
    s.add(points[8].S - points[4].S == m)  # known from 2 on
    for ago, now in zip(points, points[4:]):
        s.add(now.A == ago.S + (m if now.t >= 2 else m - E) + E)
    s.add(Or([p.queue >= reached + E for p in points[12:]]))
    return s


def idle(jitter, overstated):
    """A packet that finds the path empty counts the time since the last left: by at most D more than was wasted."""
    s, gap = solver(), Real("gap")
    path = Path(s, F(1), jitter)
    last, sent = path.at(0, "last"), path.at(gap, "sent")
    path.at(gap - jitter, "early")
    path.close()
    s.add(gap > 0, sent.S == last.S, sent.A == last.S)
    s.add(sent.W - last.W < gap - overstated)
    return s


DELTA = Real("delta")
CAPPED = F(1, 4) + F(5, 4) * (D + DELTA * (1 + D))
STATEMENTS = [
    Statement("ebb-rate", "ebb, no queue standing: R/D + 1 rounds serve (M + e)/(1 + D/R) each on average: rate grows to e/D",
              "D = R/4; outside 1 % more", lambda: alone(5, 4, 1), lambda: alone(5, 4, 1, F(101, 100))),
    Statement("ebb-rate-half", "the same", "D = R/2; outside 1 % more", lambda: alone(3, 2, 1),
              lambda: alone(3, 2, 1, F(101, 100))),
    Statement("ebb-used", "ebb, any state: 6 rounds serve 0.57 of min(M + e, C R) in an R on average", "D = R/4; outside 0.59",
              lambda: used(F(57, 100)), lambda: used(F(59, 100))),
    Statement("ebb-queue", "ebb, M what arrives in an R at most: queue <= C (D + delta (R + D)) + e, and what idled in the last R",
              "every D, delta; outside 0.98 of it at D = R/4",
              lambda: every(queue(D, DELTA, 1, D + DELTA * (1 + D)), DELTA >= 0), lambda: stand(F(1, 4), F(245, 1000))),
    Statement("ebb-queue-cap", "ebb, any M within its limit of 1.25: queue <= C (R/4 + 5/4 (D + delta (R + D))) + e, and that",
              "every D, delta; outside 0.99 of it", lambda: every(queue(D, DELTA, F(5, 4), CAPPED), DELTA >= 0),
              lambda: every(queue(D, DELTA, F(5, 4), F(99, 100) * CAPPED), DELTA >= 0)),
    Statement("ebb-idle", "ebb: the idle time that it sees between two packets exceeds the link's by D at most",
              "every D; outside 0.99 D", lambda: every(idle(D, D)), lambda: every(idle(D, F(99, 100) * D))),
]
