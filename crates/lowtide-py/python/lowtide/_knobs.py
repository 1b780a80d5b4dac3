"""Options and sections as classes; made of the lab's own list, see `crates/lowtide/tests/cli/knobs_in_python.rs`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Mapping, Sequence, TypedDict

from ._lowtide import Trace
from ._sections import File, Section, Time


@dataclass(frozen=True, kw_only=True, repr=False)
class Link(Section):
    """The bottleneck: exactly one of ``rate``, ``schedule``, ``trace`` and ``model``, and its queue."""

    _name = "link"

    buffer: str | None = None
    burst: str | None = None
    cross: str | Sequence[str] | None = None
    mean: str | None = None
    model: str | None = None
    name: str | None = None
    opportunity: str | None = None
    policer: str | None = None
    queue: str | None = None
    rate: str | None = None
    schedule: str | None = None
    seed: int | None = None
    trace: File | Trace | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Path(Section):
    """The path around the bottleneck: its delay, and what it does to packets."""

    _name = "path"

    ack_aggregation: Time | None = None
    ack_aggregation_from: Time | None = None
    ack_loss: str | float | None = None
    ack_scripted_loss: str | None = None
    burst_loss: str | None = None
    delay_trace: File | None = None
    ecn: str | None = None
    held_back: str | None = None
    jitter: Time | None = None
    loss: str | float | None = None
    packet_size: str | None = None
    reorder: bool | None = None
    rtt: Time | None = None
    rtt_drift: str | None = None
    rtt_steps: str | None = None
    scripted_loss: str | None = None
    wifi_jitter: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Flow(Section):
    """Flows that are alike. In ``compare`` the controllers that are compared take the place of ``controller``."""

    _name = "flows"

    access: Mapping[str, str | timedelta] | None = None
    ack_every: int | None = None
    controller: str | None = None
    count: int | None = None
    direction: Literal["forward", "reverse"] | None = None
    ecn: Literal["off", "classic", "accurate"] | None = None
    every: Time | None = None
    lie: Literal["losses", "marks", "timestamps"] | None = None
    min_rto: Time | None = None
    pacing: Literal["rate", "off", "ack-credit"] | None = None
    parameters: Mapping[str, bool | int | float | str] | None = None
    poisson: bool | None = None
    sack: bool | None = None
    source: str | None = None
    start: Time | None = None
    stop: Time | None = None
    timestamps: bool | None = None
    transport: Literal["quic", "tcp"] | None = None


class Options(TypedDict, total=False):
    """What is simulated: short names as on the command line, whole sections, or both."""

    link: Link | Mapping[str, Any]
    reverse: Link | Mapping[str, Any]
    path: Path | Mapping[str, Any]
    run: Mapping[str, Any]
    trigger: Mapping[str, Any]
    measures: Mapping[str, Any]
    scenario: str
    trace: File | Trace | Sequence[File | Trace]
    traces: File
    reverse_cc: str
    reverse_flows: int
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
    rtt: Time
    rtt_steps: str
    delay_trace: File
    mangle_ecn: str
    loss: str | float
    burst_loss: str
    scripted_loss: str
    ack_loss: str | float
    jitter: Time
    reorder: bool
    ack_aggregation: Time
    packet_size: str
    flows: int | Sequence[Flow | Mapping[str, Any]]
    stagger: Time
    transport: Literal["quic", "tcp"]
    ack_every: int
    timestamps: bool
    ecn: Literal["off", "classic", "accurate"]
    pacing: Literal["rate", "off", "ack-credit"]
    source: str
    access_rate: str
    duration: Time
    seeds: int
    seed: int
    host: Literal["model", "quic", "noq", "quinn"]
    measure_from: Time
