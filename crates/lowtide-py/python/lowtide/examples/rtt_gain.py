"""RTT-gain BBR (Xiong 2020, section 3.2) as a policy of BBR, as the built-in `rtt-gain`."""

from __future__ import annotations

from lowtide import Bbr, Policy

#: rtt / min_rtt at which probing ends.
PROBE_ENDS_AT = 1.25


class RttGain(Policy):
    """ProbeBW's steady pacing gain is alpha * min_rtt / rtt."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def ends_probe(self, model):
        return rtt_ratio(model) >= PROBE_ENDS_AT

    def steady_gain(self, model):
        return self.alpha / rtt_ratio(model)


def rtt_ratio(model):
    """rtt / min_rtt, at least 1."""
    rtt = model.rtt
    return rtt / min(model.min_rtt, rtt)


#: As the built-in `rtt-gain`, which has no compensation of ACK aggregation.
RTT_GAIN = Bbr(policy=RttGain(), name="rtt-gain-py", aggregation=False)
