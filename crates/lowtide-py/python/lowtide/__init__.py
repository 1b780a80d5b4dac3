"""Low-latency congestion control on links whose capacity changes, and the lab that proves it.

>>> import lowtide
>>> result = lowtide.compare(["ebb", "cubic"], rate="20mbit", rtt="40ms", duration="5s")
>>> result.to_pandas()[["controller", "throughput_mbps", "rtt_ms_p95"]]  # doctest: +SKIP
"""

from ._calls import attack, compare, controllers, frontier, queues, run, score, simulate, steps
from ._errors import Error, InputError, RunError
from ._knobs import Flow, Link, Path
from ._lowtide import (
    Ack,
    Batch,
    BatchController,
    Bbr,
    Cells,
    Comparison,
    Config,
    Controller,
    Findings,
    Frontier,
    Loss,
    Model,
    PacketSent,
    RateSample,
    Result,
    Run,
    RunFlow,
    Scores,
    Sweep,
    Table,
    Timeout,
    Trace,
    __version__,
)
from ._sweep import sweep
from .parts import BandwidthEstimator, Policy

__all__ = [
    "Ack",
    "BandwidthEstimator",
    "Batch",
    "BatchController",
    "Bbr",
    "Cells",
    "Comparison",
    "Config",
    "Controller",
    "Error",
    "Findings",
    "Flow",
    "Frontier",
    "InputError",
    "Link",
    "Loss",
    "Model",
    "PacketSent",
    "Path",
    "Policy",
    "RateSample",
    "Result",
    "Run",
    "RunError",
    "RunFlow",
    "Scores",
    "Sweep",
    "Table",
    "Timeout",
    "Trace",
    "__version__",
    "attack",
    "compare",
    "controllers",
    "frontier",
    "queues",
    "run",
    "score",
    "simulate",
    "steps",
    "sweep",
]
