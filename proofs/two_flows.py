"""Two flows of one law round by round: W = M + e, M what arrived in an R. C = R = 1; volumes in CR.

The queue Q, in R, is what makes both rates fill the link. Each round an adversary gives each flow its own jitter.
"""
from fractions import Fraction as F

from z3 import Implies, Reals

from statement import D, Statement, every, solver


def worst_share(jitter, e=None, root=None):
    """The smaller share where one flow's packets all wait `jitter` and the other's do not: rates e/(Q + j)."""
    low, high = 0.0, 1e6
    for _ in range(200):
        wait = (low + high) / 2
        rates = [e / w if root is None else (root / w) ** 2 for w in (wait, wait + jitter)]
        low, high = (wait, high) if sum(rates) > 1 else (low, wait)
    return rates[1]


def round_of(s, e, root, jitter):
    """One round: M and M', and the queue."""
    m1, m2, x1, x2, e1, e2, q, j1, j2 = Reals("M1 M2 x1 x2 e1 e2 Q j1 j2")
    s.add(m1 >= 0, m2 > 0, m1 + m2 <= 1, q >= 0, x1 >= 0, x2 >= 0)
    for j in (j1, j2):
        s.add(j >= 0, j <= jitter)
    for m, x, own, j in ((m1, x1, e1, j1), (m2, x2, e2, j2)):
        s.add(own == e if root is None else own * own == root * root * m, own >= 0)
        s.add(x * (1 + q + j) == m + own)
    s.add(x1 + x2 <= 1, Implies(q > 0, x1 + x2 == 1))
    return m1, m2, x1, x2


def keeps(jitter, least, e=None, root=None):
    """Who has `least` keeps it."""
    s = solver(nonlinear=True)
    _, m2, _, x2 = round_of(s, e, root, jitter)
    s.add(m2 >= least, x2 < least)
    return s


def rests(jitter, most, e=None, root=None):
    """A state that repeats itself, in which one flow has `most` or less."""
    s = solver(nonlinear=True)
    m1, m2, x1, x2 = round_of(s, e, root, jitter)
    s.add(x1 == m1, x2 == m2, m2 <= most, m1 + m2 == 1)
    return s


def any_share(problem, factor):
    """The same for every D and e, the share being a variable: rates e/wait and e/(wait + D) fill the link."""
    e, wait, least = Reals("e wait least")
    return every(problem(D, factor * least, e=e), e > 0, wait > 0, least > 0, least * (wait + D) == e, (1 - least) * wait == e)


def share(jitter, law, **e):
    bound = worst_share(float(jitter), **{k: float(v) for k, v in e.items()})
    below, above = (F(round(bound * f, 5)).limit_denominator(100_000) for f in (0.99, 1.01))
    return Statement(f"share-{'-'.join(e)}-{jitter.denominator}", f"two flows, {law}: who has this share keeps it",
                     f"{bound:.3f} at D = R/{jitter.denominator}; outside 1 % more",
                     lambda: keeps(jitter, below, **e), lambda: rests(jitter, above, **e))


# In CR and R, of 20 Mbit/s at 40 ms with packets of 1500 bytes: two packets, and sqrt(30 ms P/C).
TWO, ROOT = F(3, 100), F(106, 1000)
JITTERS = [F(1, 40), F(1, 8), F(1, 4), F(1, 2)]
STATEMENTS = [
    Statement("share-any", "two flows, W = M + e: who has the share e/(q + D) keeps it, where e/q + e/(q + D) = C",
              "every D and e; outside 1 % more", lambda: any_share(keeps, 1), lambda: any_share(rests, F(101, 100))),
    *[share(j, "W = M + two packets", e=TWO) for j in JITTERS],
    *[share(j, "ebb's e = sqrt(30 ms r)", root=ROOT) for j in JITTERS],
]
