"""A statement about a model: what makes it false, and what makes a stronger one false."""
import time
from dataclasses import dataclass
from typing import Callable

from z3 import Real, Solver, SolverFor, sat, unsat

TIMEOUT_MS = 120_000
D = Real("D")  # the jitter, where a statement holds for every one


def every(made, *ranges):
    """Whatever the jitter is, and what else is variable, within `ranges`."""
    made.add(D >= 0, *ranges)
    return made


@dataclass
class Statement:
    key: str
    says: str
    bound: str
    # Each makes a solver with the negation: of the statement, and of one that is a little stronger.
    inside: Callable[[], Solver]
    outside: Callable[[], Solver] | None = None


def solver(nonlinear=False):
    made = SolverFor("QF_NRA") if nonlinear else Solver()
    made.set("timeout", TIMEOUT_MS)
    return made


def judge(problem):
    """What z3 says of a negated statement, the seconds it took, and a counterexample."""
    if problem is None:
        return "none", 0.0, None
    began = time.monotonic()
    made = problem()
    answer = made.check()
    verdict = "refuted" if answer == sat else "proved" if answer == unsat else "unknown"
    model = made.model() if answer == sat else None
    return verdict, time.monotonic() - began, model
