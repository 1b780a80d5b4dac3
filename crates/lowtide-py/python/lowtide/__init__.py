"""Low-latency congestion control on links whose capacity changes, and the lab that proves it.

>>> import lowtide
>>> result = lowtide.compare(["ebb", "cubic"], rate="20mbit", rtt="40ms", duration="5s")
>>> result.to_pandas()[["controller", "throughput_mbps", "rtt_ms_p95"]]  # doctest: +SKIP
"""

from ._errors import Error, InputError, RunError
from ._lowtide import (
    BatchController,
    Bbr,
    Cells,
    Comparison,
    Config,
    Controller,
    Frontier,
    Result,
    Run,
    RunFlow,
    Scores,
    Sweep,
    Table,
    Trace,
    __version__,
    compare,
    controllers,
    frontier,
    queues,
    run,
    score,
    simulate,
    steps,
)
from ._sections import Flow, Link, Path
from ._sweep import sweep
from .parts import BandwidthEstimator, Policy

__all__ = [
    "BandwidthEstimator",
    "BatchController",
    "Bbr",
    "Cells",
    "Comparison",
    "Config",
    "Controller",
    "Error",
    "Flow",
    "Frontier",
    "InputError",
    "Link",
    "Path",
    "Policy",
    "Result",
    "Run",
    "RunError",
    "RunFlow",
    "Scores",
    "Sweep",
    "Table",
    "Trace",
    "__version__",
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
