"""Low-latency congestion control on links whose capacity changes, and the lab that proves it.

>>> import lowtide
>>> result = lowtide.compare(["ebb", "cubic"], rate="20mbit", rtt="40ms", duration="5s")
>>> result.to_pandas()[["controller", "throughput_mbps", "rtt_ms_p95"]]  # doctest: +SKIP
"""

from ._errors import Error, InputError, RunError
from ._lowtide import (
    Comparison,
    Run,
    RunFlow,
    Sweep,
    Table,
    Trace,
    __version__,
    compare,
    simulate,
)
from ._sections import Flow, Link, Path
from ._sweep import sweep

__all__ = [
    "Comparison",
    "Error",
    "Flow",
    "InputError",
    "Link",
    "Path",
    "Run",
    "RunError",
    "RunFlow",
    "Sweep",
    "Table",
    "Trace",
    "__version__",
    "compare",
    "simulate",
    "sweep",
]
