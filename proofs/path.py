"""CCAC's path (Arun et al., SIGCOMM 2021) at chosen moments, which may be variables.

A, S: bytes that have reached the bottleneck and left the path; W: bytes that the link could have served while there
was nothing to serve. The link has served up to its line C t - W; S may lag the line by the jitter D.
"""
from z3 import And, If, Implies, Or, Real, is_expr


def implies(premise, conclusion):
    """Decided here where the premise is a number's."""
    return Implies(premise, conclusion) if is_expr(premise) else conclusion if premise else True


class Point:
    def __init__(self, path, t, name):
        self.t = t
        self.A, self.S, self.W = (Real(f"{kind}_{name}") for kind in "ASW")
        self.L = Real(f"L_{name}") if path.buffer is not None else 0
        self.line = path.rate * t - self.W
        self.queue = self.A - self.L - self.line  # negative: what the line has in hand


class Path:
    """A link of `rate` with jitter up to `jitter`, and a drop-tail `buffer` (None: infinite)."""

    def __init__(self, solver, rate, jitter, buffer=None):
        self.solver, self.rate, self.jitter, self.buffer = solver, rate, jitter, buffer
        self.points = []

    def at(self, t, name=None):
        point = Point(self, t, name or f"{len(self.points)}")
        self.points.append(point)
        return point

    def grid(self, step, count, start=0):
        """Moments `step` apart."""
        return [self.at(start + step * i) for i in range(count)]

    def close(self):
        """States the path's laws between every two moments. To be called once, after the last `at`."""
        for p in self.points:
            self.solver.add(p.S <= p.A - p.L, p.S <= p.line)
            if self.buffer is not None:
                self.solver.add(p.L >= 0, p.queue <= self.buffer)
        if any(is_expr(p.t) for p in self.points):
            pairs = [(p, q) for p in self.points for q in self.points if p is not q]
            late = pairs
        else:  # of known moments neighbours are enough: the rest follows
            in_time = sorted(self.points, key=lambda p: p.t)
            pairs = list(zip(in_time, in_time[1:]))
            due = [(p, [q for q in in_time if q.t >= p.t + self.jitter]) for p in in_time]
            late = [(p, later[0]) for p, later in due if later]
        for p, q in pairs:
            self.solver.add(implies(p.t <= q.t, And(self._between(p, q))))
        for p, q in late:
            self.solver.add(implies(p.t + self.jitter <= q.t, q.S >= p.line))

    def _between(self, p, q):
        laws = [p.A <= q.A, p.S <= q.S, p.W <= q.W, q.W - p.W <= self.rate * (q.t - p.t)]
        # The last byte is wasted at some moment between, when all that had come was served.
        laws.append(Or(q.W == p.W, p.A - p.L <= q.line))
        if self.buffer is not None:
            # The last loss is at some moment between, when the buffer is full.
            laws += [p.L <= q.L, Or(q.L == p.L, q.A - q.L >= p.line + self.buffer), q.L - p.L <= q.A - p.A]
        return laws

    def paced(self, p, q, rate):
        """Between p and q bytes come at exactly `rate`, so that the line is known better where something was wasted."""
        span = q.t - p.t
        least = If(rate < self.rate, rate, self.rate) if is_expr(rate) else min(rate, self.rate)
        self.solver.add(q.A == p.A + rate * span, Or(q.W == p.W, q.line >= p.A + least * span))
