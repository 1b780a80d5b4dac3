"""Parts of BBR that can be written in Python: where its estimate comes from, and what it makes of it.

Derive a class and override what is to differ; what is not overridden is BBR v1's own and costs nothing. Volumes
are bytes, times seconds, rates bytes a second.
"""

from __future__ import annotations

from typing import Any

__all__ = ["BandwidthEstimator", "Policy"]


class BandwidthEstimator:
    """Estimates the bottleneck's bandwidth. `bandwidth` must be overridden; it is asked after each event."""

    def on_packet_sent(self, sent, model) -> None:
        """A packet has left."""

    def on_ack(self, ack, model) -> None:
        """An acknowledgment arrived; rounds in `model` are up to date, the phase is not yet."""

    def on_phase(self, phase: str) -> None:
        """The phase changed."""

    def on_new_path(self) -> None:
        """Another path has taken over: what the old one has shown says nothing of it."""

    def on_wakeup(self, now: float, model) -> None:
        """`next_wakeup` is due."""

    def next_wakeup(self) -> float | None:
        """When to be called although nothing arrives, seconds; `None`: never. Asked after each event."""
        return None

    def bandwidth(self) -> float:
        """The estimate, bytes a second; zero before the first sample."""
        raise NotImplementedError


class Policy:
    """BBR's decisions; each is BBR v1's unless it is overridden."""

    def on_ack(self, ack, model) -> None:
        """An acknowledgment arrived; the model's RTT is its own."""

    def on_phase(self, phase: str) -> None:
        """The phase changed."""

    def ends_startup(self, ack, model) -> bool:
        """Startup: whether it should end although the pipe has not been found full. BBR v1: no."""

    def ends_probe(self, model) -> bool:
        """ProbeBW: whether the probing phase should end before its time. BBR v1: no."""

    def probe_gain(self, model) -> float:
        """ProbeBW: the pacing gain of the probing phase, above 1. BBR v1: 1.25."""

    def steady_gain(self, model) -> float:
        """ProbeBW: the pacing gain of the steady phases. BBR v1: 1."""

    def bandwidth(self, model) -> float:
        """The bandwidth that rate and window go by. BBR v1: the estimate, `model.bandwidth`."""

    def min_rtt_window(self) -> float:
        """How long a minimum RTT counts, seconds. BBR v1: 10."""

    def path_changes(self) -> bool:
        """Whether another path takes over now. BBR v1: no."""

    def probe_rtt_window(self, model) -> float:
        """ProbeRTT: the window, bytes. BBR v1: 4 packets, and never less."""

    def cwnd_gain(self, standard: float) -> float:
        """The gain of the window's target; `standard`: the phase's own."""

    def next_window(self, cwnd: int, target: int, ack, model) -> float:
        """The next window once the pipe has been full. BBR v1: `min(cwnd + ack.bytes_acked, target)`."""

    def on_recovery_start(self, cwnd: int, model) -> str | float:
        """Loss: "conserve" (BBR v1), "shrink", "only-lost", or a window in bytes."""

    def shrink(self, cwnd: int, model) -> float:
        """Loss: the next window in the first round of a recovery that began with "shrink"."""

    def loss_calls_for_probe_rtt(self, cwnd: int, ack, model) -> bool:
        """Loss: whether it calls for ProbeRTT. BBR v1: no."""

    def loss_probe_window(self, model) -> float | None:
        """Loss: the window of such a ProbeRTT; `None`: as any other."""


def _contents(maker: Any) -> str:
    """Names the code and the values of what makes a controller, so that a store tells one from another."""
    # Imported here: a program without a controller of its own starts sooner.
    import hashlib
    import secrets

    found: list[str] = []
    try:
        _collect(maker, found)
    except (OSError, TypeError):
        # Without its source nothing says whether it is the same: its results are used in this run only.
        found.append(secrets.token_hex(16))
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def _collect(thing: Any, found: list[str]) -> None:
    import functools
    import inspect

    if isinstance(thing, functools.partial):
        found.append(repr((thing.args, sorted(thing.keywords.items()))))
        thing = thing.func
    if hasattr(thing, "_parts"):
        found.append(repr(thing))
        for part in thing._parts:
            _collect(part, found)
        return
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        found.append(repr(sorted(vars(thing).items())))
        thing = type(thing)
    module = inspect.getmodule(thing)
    # Whatever else its module holds may be used by it.
    found.append(inspect.getsource(module) if module is not None else inspect.getsource(thing))
    found.append(thing.__qualname__)
    for ancestor in getattr(thing, "__mro__", ())[1:]:
        if not (ancestor.__module__ or "").startswith(("lowtide", "builtins")):
            found.append(inspect.getsource(ancestor))
