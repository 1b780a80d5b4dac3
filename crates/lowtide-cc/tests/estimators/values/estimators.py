"""Reference values for the estimators of lowtide_cc::filter.

Written from the equations, in 60 digits (mpmath) or exact fractions, without looking at the Rust
code. Needs mpmath; writes the .tsv files beside itself:

    pip install mpmath && python crates/lowtide-cc/tests/estimators/values/estimators.py

All inputs are doubles, printed so that reading them gives the same double; results are rounded to
doubles once, at the end.
"""

import random
from fractions import Fraction
from pathlib import Path

from mpmath import erfc, exp, inf, mp, mpf, pi, sqrt

mp.dps = 60
HERE = Path(__file__).parent


def write(name, header, rows):
    with open(HERE / name, "w", encoding="ascii") as out:
        out.write("# " + "\t".join(header) + "\n")
        for row in rows:
            out.write("\t".join(v if isinstance(v, str) else number(v) for v in row) + "\n")


def number(value):
    if isinstance(value, int):
        return str(value)
    return repr(float(value))


# ---------------------------------------------------------------- standard normal distribution


def pdf(eta):
    return exp(-eta * eta / 2) / sqrt(2 * pi)


def cdf(eta):
    return erfc(-eta / sqrt(mpf(2))) / 2


def tobit_terms(eta):
    """P, lambda, eth, 1 - eth; BBR-S Eqs. 12, 13."""
    if eta == inf:
        return mpf(1), mpf(0), mpf(0), mpf(1)
    p = cdf(eta)
    lam = -pdf(eta) / p
    eth = lam * (lam - eta)
    return p, lam, eth, 1 - eth


def normal():
    rng = random.Random(1)
    etas = [n / 4 for n in range(-160, 161)]
    etas += [n / 128 for n in range(-64, 65)]
    etas += [-5.0 + n * 2.0**-20 for n in (-2, -1, 0, 1, 2)]
    etas += [rng.uniform(-40, 40) for _ in range(150)]
    for eta in sorted(set(etas)):
        e = mpf(eta)
        p, *_, factor = tobit_terms(e)
        yield eta, pdf(e), p, pdf(e) - e * cdf(-e), factor


# -------------------------------------------------------------------- adaptive Kalman filter


def adaptive_kalman():
    """RBBR Table 1 with Eq. 7 corrected, Eqs. 8 and 9."""
    rng = random.Random(2)
    walk, level = [], 1.5e6
    for _ in range(150):
        level = max(1e5, level + rng.gauss(0, 8e4))
        walk.append(level + rng.gauss(0, 2e5))
    step = [10 + rng.gauss(0, 1) if n < 60 else 3 + rng.gauss(0, 1) for n in range(120)]
    cases = [
        (10.0, 1.0, 0.1, 1.0, 0.6, step),
        (10.0, 1.0, 0.1, 1.0, 0.95, step),
        (10.0, 1.0, 0.1, 1.0, 1.0, step),
        (10.0, 1.0, 0.1, 1.0, 0.0, step[:30]),
        (walk[0], 1e12, 1e10, 1e10, 0.6, walk),
        # Certain of itself, and wrong.
        (-5.0, 1e-12, 1e-12, 1e6, 0.6, [rng.gauss(5, 0.1) for _ in range(60)]),
    ]
    for x, p, q, r, alpha, measurements in cases:
        yield "new", x, p, q, r, alpha
        x, p, q, r, alpha = map(mpf, (x, p, q, r, alpha))
        for y in measurements:
            prior = p + q
            d = mpf(y) - x
            k = prior / (prior + r)
            x = x + k * d
            p = (1 - k) * prior
            residual = mpf(y) - x
            r = alpha * r + (1 - alpha) * (residual**2 + prior)
            q = alpha * q + (1 - alpha) * (k * d) ** 2
            floor = (mpf(1e-9) * x) ** 2
            p, q, r = max(p, floor), max(q, floor), max(r, floor)
            yield "y", y, x, k, d, p, q, r


# ----------------------------------------------------------------- adaptive Tobit Kalman filter


class Atkf:
    """BBR-S Eqs. 11-25 and 40-44, corrected and bounded as docs/estimators.md says."""

    def __init__(self, x, psi, q, r, gamma=None, n=None, bounds=None):
        self.x, self.psi, self.q, self.r = map(mpf, (x, psi, q, r))
        self.gamma = None if gamma is None else mpf(gamma)
        self.n, self.bounds = n, bounds
        self.t, self.window = 0, []
        self.k = self.c_tilde = mpf(0)
        self.bound()
        self.r_cc = self.psi + self.q + self.r

    def bound(self):
        if self.gamma is None:
            return
        scale = max(abs(self.x), mpf(1e-9))
        q_low, q_high, r_low, r_high = ((mpf(b) * scale) ** 2 for b in self.bounds)
        self.q = max(q_low, min(q_high, self.q))
        self.r = max(r_low, min(r_high, self.r))
        self.psi = min(self.psi, scale**2)

    def update(self, c, s):
        c, s = mpf(c), mpf(s)
        before = self.psi
        prior = self.psi + self.q
        sigma = sqrt(self.r)
        eta = (s - self.x) / sigma
        p, lam, _, factor = tobit_terms(eta)
        mean = p * (self.x + sigma * lam) + ((1 - p) * s if s != inf else 0)
        v = self.r * factor
        self.c_tilde = c - mean
        r_xc = p * prior
        self.r_cc = p**2 * prior + v
        self.k = min(mpf(1), r_xc / self.r_cc)
        self.x = self.x + self.k * self.c_tilde
        self.psi = (1 - p * self.k) * prior
        if self.gamma is not None:
            self.t += 1
            self.window = (self.window + [self.c_tilde**2])[-self.n :]
            xi = sum(self.window) / len(self.window)
            if self.gamma == 1:
                share = mpf(1) / self.t
            else:
                share = (1 - self.gamma) / (1 - self.gamma**self.t)
            self.q = (1 - share) * self.q + share * (self.k**2 * xi + self.psi - before)
            v_hat = (1 - self.k) * (xi * (1 - self.k) + r_xc)
            self.r = (1 - share) * self.r + share * v_hat / factor
        self.bound()

    def predict(self):
        self.psi += self.q
        self.bound()

    def reset(self, x):
        self.x, self.window = mpf(x), []
        self.bound()
        self.psi = self.r
        self.bound()

    def columns(self):
        spread = sqrt(self.psi + self.q + self.q + self.r)
        return (self.x, self.psi, self.q, self.r, self.k, self.c_tilde, self.r_cc, spread)


def atkf_cases():
    """(first row, filter, operations)"""
    rng = random.Random(3)
    # One step from every depth of censoring, at several scales and uncertainties.
    for n in range(-40, 41):
        for censored in (True, False):
            scale = rng.choice([1.0, 30.0, 2e6])
            x = scale * rng.uniform(5, 20)
            r = (scale * rng.uniform(0.2, 2)) ** 2
            psi = r * 10 ** rng.uniform(-3, 2)
            s = x + (n + rng.uniform(-0.5, 0.5)) * r**0.5
            c = s if censored else min(s, x) - rng.expovariate(1) * r**0.5
            known = (x, psi, r * 0.01, r)
            yield ("known", *known), Atkf(*known), [("update", c, s)]

    def clipped(s, steps, sigma=1.0):
        return [("update", min(s, 10 + rng.gauss(0, sigma)), s) for _ in range(steps)]

    known = (10.0, 1.0, 0.01, 1.0)
    default = (0.01, 0.02, 0.03, 1.0)
    wide = (1e-6, 1e3, 1e-6, 1e3)
    for s in (1e9, 12.5, 10.0, 9.0):
        operations = clipped(s, 50)
        yield ("known", *known), Atkf(*known), operations
        for gamma, n in ((0.95, 10), (1.0, 3)):
            row = ("learn", *known, gamma, n, *default)
            yield row, Atkf(*known, gamma, n, default), operations
    for s in (inf, 14.0):
        row = ("learn", *known, 0.95, 10, *wide)
        yield row, Atkf(*known, 0.95, 10, wide), clipped(s, 80)

    # Bytes a second, a ceiling that follows a pacing cycle, gaps, outages and resets.
    start = (1.2e6, 1e11, 1e8, 1e10)
    row = ("learn", *start, 0.9, 10, *default)
    operations, capacity = [], 1.2e6
    for n in range(180):
        capacity = max(2e5, capacity * (1 + rng.gauss(0, 0.04)))
        ceiling = 1.2e6 * (1.25, 0.75, 1, 1, 1, 1, 1, 1)[n // 5 % 8]
        if n % 37 == 36:
            operations.append(("predict", 0.0, 0.0))
        elif n == 90:
            operations.append(("reset", 5e4, 0.0))
        elif n in (100, 150):
            operations.append(("reset", capacity, 0.0))
        else:
            operations.append(("update", min(ceiling, capacity + rng.gauss(0, 1e5)), ceiling))
    yield row, Atkf(*start, 0.9, 10, default), operations


def atkf():
    for row, kalman, operations in atkf_cases():
        yield row
        for name, a, b in operations:
            {"update": kalman.update, "predict": lambda *_: kalman.predict(),
             "reset": lambda x, _: kalman.reset(x)}[name](a, b)
            yield (name, a, b, *kalman.columns())


# -------------------------------------------------------------------------------------- slope


def slope():
    rng = random.Random(4)
    for base, count, spacing, lengths in (
        (0, 2, 1, (1200,)),
        (0, 10, 1_000_000, (1200,)),
        (10**12, 50, 200_000, (1200,)),
        (10**18, 30, 333_333, (1200, 60, 9000)),
        (2**63, 100, 17, (1500, 40)),
    ):
        t, rows = base, []
        for n in range(count):
            tau = 40_000_000 + rng.randrange(2_000_000) + n * spacing // rng.randrange(2, 9)
            rows.append((t, tau, rng.choice(lengths)))
            t += rng.randrange(1, 2 * spacing) if spacing > 1 else 1
        weight = sum(w for *_, w in rows)
        mean_t = Fraction(sum(t * w for t, _, w in rows), weight)
        mean_tau = Fraction(sum(tau * w for _, tau, w in rows), weight)
        s_tt = sum(w * (t - mean_t) ** 2 for t, _, w in rows)
        s_ttau = sum(w * (t - mean_t) * (tau - mean_tau) for t, tau, w in rows)
        yield ("new",)
        # Acknowledgments come in any order.
        rng.shuffle(rows)
        for row in rows:
            yield ("push", *row)
        yield "fit", s_ttau / s_tt


if __name__ == "__main__":
    write("normal.tsv", ["eta", "pdf", "cdf", "loss", "1-eth"], normal())
    write(
        "kalman.tsv",
        ["y", "measurement", "state", "gain", "innovation", "variance", "process", "measurement"],
        adaptive_kalman(),
    )
    write(
        "tobit.tsv",
        ["operation", "a", "b", "state", "variance", "process", "measurement", "gain",
         "innovation", "innovation_variance", "spread"],
        atkf(),
    )
    write("slope.tsv", ["fit", "slope"], slope())
