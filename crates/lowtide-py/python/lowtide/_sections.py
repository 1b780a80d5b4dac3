"""What a simulation is made of: the sections of a scenario file as classes.

Values are texts with their unit, as on the command line (``"20mbit"``, ``"40ms"``, ``"0.1%"``), numbers where a
file has numbers, ``datetime.timedelta`` for times, and a :class:`lowtide.Trace` or a path for a trace. What is not
said has a default; ``docs/scenario-files.md`` has every key and its default.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, ClassVar, Mapping, Sequence, Union

from . import _lowtide
from ._lowtide import Trace

Text = str
Time = Union[str, timedelta]
Source = Union[str, "os.PathLike[str]"]


class _Section:
    """What says keys and values."""

    _name: ClassVar[str]

    def __post_init__(self) -> None:
        _lowtide.check_section(self._name, self._said())

    def _said(self) -> dict[str, Any]:
        own = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return {name: value for name, value in own if value is not None}

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self._said().items())
        return f"{type(self).__name__}({said})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Link(_Section):
    """The bottleneck: exactly one of ``rate``, ``schedule``, ``trace`` and ``model``, and its queue."""

    _name = "link"

    name: str | None = None
    rate: Text | None = None
    burst: Text | None = None
    schedule: Text | None = None
    trace: Source | Trace | None = None
    model: str | None = None
    mean: Text | None = None
    seed: int | None = None
    opportunity: Text | None = None
    queue: Text | None = None
    buffer: Text | None = None
    cross: Sequence[Text] | None = None
    policer: Text | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Path(_Section):
    """The path around the bottleneck: its delay, and what it does to packets."""

    _name = "path"

    rtt: Time | None = None
    rtt_steps: Text | None = None
    rtt_drift: Text | None = None
    delay_trace: Source | None = None
    ecn: Text | None = None
    loss: Text | float | None = None
    burst_loss: Text | None = None
    scripted_loss: Text | None = None
    ack_scripted_loss: Text | None = None
    held_back: Text | None = None
    ack_loss: Text | float | None = None
    jitter: Time | None = None
    wifi_jitter: Text | None = None
    reorder: bool | None = None
    ack_aggregation: Time | None = None
    ack_aggregation_from: Time | None = None
    packet_size: Text | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Flow(_Section):
    """Flows that are alike. In ``compare`` the controllers that are compared take the place of ``controller``."""

    _name = "flows"

    controller: str | None = None
    parameters: Mapping[str, bool | int | float | str] | None = None
    direction: str | None = None
    count: int | None = None
    start: Time | None = None
    every: Time | None = None
    poisson: bool | None = None
    stop: Time | None = None
    source: Text | None = None
    transport: str | None = None
    ack_every: int | None = None
    timestamps: bool | None = None
    ecn: str | None = None
    min_rto: Time | None = None
    sack: bool | None = None
    lie: str | None = None
    pacing: str | None = None
    access: Mapping[str, Text | timedelta] | None = None


# The schema says what keys are; `python -OO` keeps no documentation.
for _section in (Link, Path, Flow):
    if _section.__doc__:
        _keys = _lowtide.KEYS[_section._name]
        _section.__doc__ += "\n\n" + "\n".join(f"{_field.name}: {_keys[_field.name]}" for _field in fields(_section))
