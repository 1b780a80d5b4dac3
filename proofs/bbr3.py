"""BBRv3's bandwidth filter: the maximum of this and the previous cycle. Times in seconds.

A cycle of the filter ends a round after UP, unless ProbeRTT comes first: 5 s after the last one, where a queue keeps
the RTT above the minimum; the samples that follow ProbeRTT are application-limited and end none. ProbeRTT begins the
wait anew. Each round may last another time, between two bounds; so may each wait, between 2 and 3 s.
"""
from fractions import Fraction as F

from z3 import And, If, Int, Not, Or, Real

from statement import Statement, solver

STOP, WAIT, REFILL, UP = range(4)  # STOP: the first round after UP, the beginning of the wait


def run(s, steps, shortest, longest):
    """Phases one after another: (phase at its beginning, seconds since ProbeRTT, seconds in all, cycles ended)."""
    phase, since, now, ended, round_, left = Int("p_0"), Real("s_0"), 0, 0, Real("r_0"), Real("w_0")
    s.add(phase >= STOP, phase <= UP, since >= 0, since <= 5, left >= 0, left <= 3)
    states = [(phase, since, now, ended)]
    for i in range(1, steps + 1):
        take, drawn, round_, stay = Real(f"t_{i}"), Real(f"w_{i}"), Real(f"r_{i}"), Real(f"d_{i}")
        s.add(round_ >= shortest, round_ <= longest, drawn >= 2, drawn <= 3)
        s.add(stay >= F(1, 4), stay <= F(6, 5))
        s.add(take == If(phase == STOP, round_, If(phase == WAIT, left, If(phase == REFILL, round_, 3 * round_))))
        cut = since + take > 5
        follows = If(phase == UP, STOP, phase + 1)
        left = If(cut, drawn, If(phase == STOP, If(drawn > round_, drawn - round_, 0), left))
        ended = ended + If(And(phase == STOP, Not(cut)), 1, 0)
        now, since = now + If(cut, 5 - since + stay, take), If(cut, 0, since + take)
        phase = If(cut, WAIT, follows)
        states.append((phase, since, now, ended))
    return states


def forgets(longest, within, steps=17):
    """From any state: two cycles have ended after `within` seconds. Rounds of 50 ms at least."""
    s = solver()
    for _, _, now, ended in run(s, steps, F(1, 20), longest)[1:]:
        s.add(Or(ended < 2, now > within))
    return s


def period(shortest):
    """From the end of a ProbeRTT, with rounds of `shortest` to 10 ms more."""
    s = solver()
    states = run(s, 4, shortest, shortest + F(1, 100))
    s.add(states[0][0] == WAIT, states[0][1] == 0, Real("w_0") >= 2)
    return s, states[1:]


def a_cycle_ends(shortest):
    s, states = period(shortest)
    s.add(Or([ended > 0 for _, _, _, ended in states]))
    return s


def none_ends(shortest):
    """All is as at the beginning after one ProbeRTT more."""
    s, states = period(shortest)
    s.add(Or([And(phase == WAIT, since == 0, ended == 0) for phase, since, _, ended in states]))
    return s


STATEMENTS = [
    Statement("bbr3-forgets", "BBRv3: rounds below 0.4 s: an overestimate is gone after two cycles", "19 s; outside 17 s",
              lambda: forgets(F(39, 100), 19), lambda: forgets(F(39, 100), 17)),
    Statement("bbr3-may-stay", "BBRv3: with rounds of 0.4 s and more ProbeRTT can cut each cycle short, for ever",
              "none at 0.38 s, a loop at 0.41 s", lambda: none_ends(F(38, 100)), lambda: none_ends(F(41, 100))),
    Statement("bbr3-stays", "BBRv3: with rounds of 0.6 s and more it does, whatever the wait that is drawn",
              "none ends at 0.61 s, one at 0.58 s", lambda: a_cycle_ends(F(61, 100)), lambda: a_cycle_ends(F(58, 100))),
]
