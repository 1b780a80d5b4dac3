"""Options: their types, and what says at run time which there are and what they are."""

from __future__ import annotations

import inspect
import os
import textwrap
from datetime import timedelta
from typing import Any, Callable, Literal, Mapping, Sequence, TypedDict, TypeVar, Union

from . import _lowtide
from ._lowtide import Trace
from ._sections import Flow, Link, Path

File = Union[str, "os.PathLike[str]"]
Time = Union[str, timedelta]


class Options(TypedDict, total=False):
    """What is simulated: short names as on the command line, whole sections, or both."""

    # Sections.
    link: Link | Mapping[str, Any]
    reverse: Link | Mapping[str, Any]
    path: Path | Mapping[str, Any]
    run: Mapping[str, Any]
    trigger: Mapping[str, Any]
    measures: Mapping[str, Any]
    # The link.
    scenario: str
    trace: File | Trace | Sequence[File | Trace]
    traces: File
    opportunity: str
    rate: str
    burst: str
    schedule: str
    queue: str
    buffer: str
    policer: str
    cross: str | Sequence[str]
    reverse_trace: File | Trace
    reverse_rate: str
    reverse_queue: str
    reverse_buffer: str
    reverse_cross: str | Sequence[str]
    # The path.
    rtt: Time
    rtt_steps: str
    delay_trace: File
    mangle_ecn: str
    loss: str | float
    burst_loss: str
    ack_loss: str | float
    jitter: Time
    reorder: bool
    ack_aggregation: Time
    packet_size: str
    # The flows: how many, or groups of them.
    flows: int | Sequence[Flow | Mapping[str, Any]]
    stagger: Time
    reverse_cc: str
    reverse_flows: int
    transport: Literal["quic", "tcp"]
    ack_every: int
    timestamps: bool
    ecn: Literal["off", "classic", "accurate"]
    pacing: Literal["rate", "off", "ack-credit"]
    source: str
    access_rate: str
    # The run.
    duration: Time
    seeds: int
    seed: int
    host: Literal["model", "quic", "noq", "quinn"]
    measure_from: Time


INTRODUCTION = """\
Options may all be left out. Values are texts with their unit, as on the command line (``"20mbit"``, ``"40ms"``, ``"0.1%"``);
times may be ``datetime.timedelta``.
"""

Function = TypeVar("Function", bound=Callable[..., Any])


def _kind(name: str) -> str:
    """An option's type as it is written above."""
    hint = Options.__annotations__[name]
    return str(getattr(hint, "__forward_arg__", hint))


def _described(name: str) -> str:
    text = textwrap.fill(_lowtide.OPTIONS[name], 100, initial_indent="    ", subsequent_indent="    ")
    return f"{name} : {_kind(name)}\n{text}"


def with_options(function: Function) -> Function:
    """Puts every option into the signature and the documentation of a function that takes them as ``**options``."""
    signature = inspect.signature(function)
    own = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    names = [name for name in Options.__annotations__ if name not in signature.parameters]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]
    function.__signature__ = inspect.Signature(own + options)  # type: ignore[attr-defined]
    # `python -OO` keeps no documentation.
    if function.__doc__:
        parts = [inspect.cleandoc(function.__doc__), INTRODUCTION.strip(), *map(_described, names)]
        function.__doc__ = "\n\n".join(parts)
    return function
