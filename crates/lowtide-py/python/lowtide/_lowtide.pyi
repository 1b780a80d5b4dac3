"""Rust's side of the package."""

import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Unpack

from ._sections import Flow, Link, Path
from .parts import BandwidthEstimator, Policy

__version__: str
OPTIONS: list[str]

_Path = str | os.PathLike[str]
_Time = str | timedelta
_Progress = bool | Callable[[int, int], object] | None
_Controller = str | type[Controller] | Bbr
_Names = _Controller | Sequence[_Controller] | None

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
    trace: _Path | Trace | Sequence[_Path | Trace]
    traces: _Path
    opportunity: str
    rate: str
    burst: str
    schedule: str
    queue: str
    buffer: str
    policer: str
    cross: str | Sequence[str]
    reverse_trace: _Path | Trace
    reverse_rate: str
    reverse_queue: str
    reverse_buffer: str
    reverse_cross: str | Sequence[str]
    # The path.
    rtt: _Time
    rtt_steps: str
    delay_trace: _Path
    mangle_ecn: str
    loss: str | float
    burst_loss: str
    ack_loss: str | float
    jitter: _Time
    reorder: bool
    ack_aggregation: _Time
    packet_size: str
    # The flows: how many, or groups of them.
    flows: int | Sequence[Flow | Mapping[str, Any]]
    stagger: _Time
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
    duration: _Time
    seeds: int
    seed: int
    host: Literal["model", "quic", "noq", "quinn"]
    measure_from: _Time

class Table:
    """A table of results; numbers that do not exist are null in Arrow and NaN in NumPy."""

    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def __getitem__(self, name: str) -> Any:
        """A column: a NumPy array of numbers, or a list of texts."""
    def to_dict(self) -> dict[str, Any]: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def _repr_html_(self) -> str: ...

class Result:
    """A result that is a table besides; what its rows are is said with each kind."""

    @property
    def table(self) -> Table: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def __getitem__(self, name: str) -> Any: ...

class Comparison(Result):
    """Controllers side by side on one link, or on several: means over the seeds, a row for each controller."""

    @property
    def flows(self) -> Table:
        """A row for each flow of each controller, mean over the seeds."""
    @property
    def seeds(self) -> Table:
        """A row for each seed of each controller."""
    @property
    def ci95(self) -> Table:
        """Half the 95 % intervals of the means, where there are several seeds."""
    @property
    def links(self) -> list[str]: ...
    @property
    def simulated_packets(self) -> int: ...
    @property
    def failed(self) -> list[tuple[str, int, str]]:
        """Runs that are missing: who, with which seed, why."""
    def json(self) -> str:
        """What ``lowtide compare --json --no-timing`` prints."""
    def report(self, folder: _Path) -> Any:
        """Writes the report, ``index.html``, into a folder; its path."""
    def figures(self, folder: _Path) -> None:
        """Writes the report's plots as SVG and PNG into a folder."""
    def qlog(self, folder: _Path, *, version: Literal["draft-14", "0.3"] = "draft-14") -> list[Any]:
        """Writes a qlog of each controller's flow into a folder, first seed; their paths."""
    def _repr_html_(self) -> str: ...

class Cells(Result):
    """The cells of a scenario, each run with all its seeds: a row for each run of each cell."""

    @property
    def means(self) -> Table:
        """Means over the seeds, a row for each cell, with half the 95 % intervals as ``…_ci95``."""
    @property
    def failed(self) -> list[tuple[str, int, str]]:
        """Runs that are missing: in which cell, with which seed, why."""
    def json(self) -> str:
        """What ``lowtide run --json --no-timing`` prints."""
    def report(self, folder: _Path) -> Any: ...
    def figures(self, folder: _Path) -> None: ...
    def _repr_html_(self) -> str: ...

class Frontier(Result):
    """Throughput and delay of controllers over links, against a base: a row for each controller in each place."""

    @property
    def links(self) -> Table:
        """A row for each link."""
    @property
    def at(self) -> Table:
        """The delay of each swept controller where it reaches given throughputs."""
    def json(self) -> str:
        """What ``lowtide frontier --json --no-timing`` prints."""
    def report(self, folder: _Path) -> Any: ...
    def figures(self, folder: _Path) -> None: ...
    def _repr_html_(self) -> str: ...

class Scores(Result):
    """Scorecards: suites of cases with limits, held against controllers: a row for each case of each controller."""

    @property
    def counts(self) -> Table:
        """How many cases came out how, by suite and controller: passed, failed, undecided, not run, not applicable."""
    @property
    def explanations(self) -> list[tuple[str, str, str]]:
        """What happened in each case that fails: controller, case, text."""
    def json(self) -> str:
        """What ``lowtide score --json`` prints."""
    def junit(self) -> str: ...
    def document(self) -> str: ...
    def report(self, folder: _Path) -> Any: ...
    def _repr_html_(self) -> str: ...

class Run:
    """One run over time."""

    @property
    def metrics(self) -> dict[str, float]:
        """What was measured of all flows together, by the metrics' names."""
    @property
    def seed(self) -> int: ...
    @property
    def link_name(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def simulated_packets(self) -> int: ...
    @property
    def bin_s(self) -> float:
        """Width of a bin of the series."""
    @property
    def link(self) -> Table:
        """The bottleneck over time."""
    @property
    def total(self) -> Table:
        """All flows together over time."""
    @property
    def flows(self) -> list[RunFlow]:
        """The first flows, at most sixteen."""
    @property
    def rtt_cdf(self) -> list[tuple[float, float]]:
        """RTTs as a distribution: milliseconds, share up to there."""

class RunFlow:
    """A flow of a run."""

    @property
    def name(self) -> str: ...
    @property
    def start_s(self) -> float: ...
    @property
    def end_s(self) -> float | None: ...
    @property
    def metrics(self) -> dict[str, float]: ...
    @property
    def series(self) -> Table:
        """It over time."""
    @property
    def phases(self) -> list[tuple[float, str]]:
        """When which phase of the controller began, seconds."""
    @property
    def modes(self) -> list[tuple[float, str]]:
        """When which mode of its bandwidth filter began, seconds."""

class Trace:
    """A link over time."""

    @staticmethod
    def read(
        path: _Path,
        *,
        format: str | None = None,
        uplink: bool = False,
        run: int | None = None,
        receiver: str | None = None,
        opportunity: str | None = None,
    ) -> Trace:
        """Reads a file: mahimahi's opportunities, a rate series where its name ends in ``.csv``, or what
        ``format`` says, by the names of ``lowtide trace convert --from``."""
    @staticmethod
    def generate(
        model: str = "lte", *, mean: str | None = None, duration: _Time | None = None, seed: int = 1
    ) -> Trace:
        """A link that cannot be had; :meth:`models` names the models. Its duration is a minute unless said."""
    @staticmethod
    def models() -> list[tuple[str, str]]:
        """The names of the models, and what they are."""
    @staticmethod
    def from_arrays(
        time_s: ArrayLike | None = None,
        rate_mbps: ArrayLike | None = None,
        *,
        opportunities_ms: ArrayLike | None = None,
        opportunity: str | None = None,
        name: str = "arrays",
    ) -> Trace:
        """Rates from each time on, or the milliseconds of opportunities as in mahimahi's files. It repeats."""
    @property
    def name(self) -> str: ...
    @property
    def length_s(self) -> float: ...
    @property
    def mean_mbps(self) -> float: ...
    def info(self) -> dict[str, Any]:
        """What ``lowtide trace info --json`` says."""
    def rates(self, interval: _Time | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean rate of each interval (10 ms unless said): its begin in seconds, and Mbit/s."""
    def save(
        self,
        path: _Path,
        *,
        format: Literal["mahimahi", "csv"] | None = None,
        interval: _Time | None = None,
        opportunity: str | None = None,
    ) -> None:
        """Writes it: a rate series where the name ends in ``.csv`` or ``format`` says so, else mahimahi's."""

def compare(
    controllers: _Names = None,
    /,
    *,
    jobs: int = 0,
    progress: _Progress = None,
    over_time: bool = True,
    **options: Unpack[Options],
) -> Comparison:
    """Runs controllers over one link, or several, beside the physical limit and the best constant window.

    Without ``controllers`` all of the host's take part. ``over_time=False`` keeps no series, and so draws no report.
    Raises :class:`lowtide.InputError` for bad input, and :class:`lowtide.RunError` where runs failed; its ``result``
    has the others.
    """

def simulate(controller: _Controller | None = None, /, *, progress: _Progress = None, **options: Unpack[Options]) -> Run:
    """Runs once, and keeps what happened over time. ``controller`` sends all flows; or each group of
    ``flows=[Flow(controller=…)]`` has its own."""

def run(
    scenario: _Path | Mapping[str, Any],
    /,
    *,
    vary: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    host: str | None = None,
    jobs: int = 0,
    progress: _Progress = None,
    over_time: bool = True,
) -> Cells:
    """Runs a scenario file, or a dict of what one holds, with each value of its cases and its sweep.

    ``vary`` tries values for keys, as in ``{"link.buffer": ["1bdp", "2bdp"]}``.
    """

def frontier(
    controllers: _Names = None,
    /,
    *,
    base: str = "bbr",
    at: Sequence[float] | None = None,
    rtt: _Time | Sequence[_Time] | None = None,
    buffer: str | Sequence[str] | None = None,
    jobs: int = 0,
    progress: _Progress = None,
    **options: Any,
) -> Frontier:
    """Throughput and delay of controllers over links, their parameters swept as in ``ebb:idle=0.01/0.05``, behind
    each RTT and buffer, against ``base``. Options are those of :func:`compare`."""

def score(
    controllers: _Names = None,
    /,
    *,
    suites: _Path | Sequence[_Path] | None = None,
    cases: str | Sequence[str] | None = None,
    traces: _Path | None = None,
    seeds: int | None = None,
    host: str | None = None,
    jobs: int = 0,
    progress: _Progress = None,
) -> Scores:
    """Holds controllers against suites of cases with limits; a case that fails is no error but a verdict: ``pass``,
    ``fail``, ``undecided`` (the interval covers the limit), ``not_run`` or ``n/a``."""

class Sweep(Result):
    """The grid of a scenario: a row for each run that is kept, with the columns of :func:`run`, and the scenario."""

    @property
    def store(self) -> pathlib.Path:
        """The folder with the results."""
    @property
    def failed(self) -> list[str]:
        """Runs that are missing, each in a sentence."""
    @property
    def made(self) -> int:
        """How many runs were made; the others were in the store."""
    def _repr_html_(self) -> str: ...

class SweepPlan:
    """The driver's side of :func:`lowtide.sweep`."""

    def __init__(
        self,
        grid: _Path | Mapping[str, Any],
        store: _Path,
        vary: Mapping[str, Any],
        seeds: int | None,
        host: str | None,
    ) -> None: ...
    @property
    def total(self) -> int: ...
    @property
    def missing(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def kept(self) -> int: ...
    @property
    def store(self) -> pathlib.Path: ...
    def deal(self, count: int) -> list[tuple[int, int]]: ...
    def parcel(self) -> tuple[str, tuple[bytes, dict[pathlib.Path, bytes]]]: ...
    def keep(self, runs: list[tuple[int, int]], made: list[tuple[bool, str]]) -> None: ...
    def lose(self, run: tuple[int, int], reason: str) -> None: ...
    def run_here(self, jobs: int, progress: _Progress) -> None: ...
    def finish(self) -> Sweep: ...

class SweepWorker:
    """A worker's side of :func:`lowtide.sweep`."""

    def __init__(self, order: bytes, files: Mapping[pathlib.Path, bytes]) -> None: ...
    def run(self, runs: list[tuple[int, int]]) -> list[tuple[bool, str]]: ...

def controllers() -> list[dict[str, Any]]:
    """Controllers, bounds and what QUIC stacks bring along: name, summary, source, parameters."""

def queues() -> list[dict[str, Any]]:
    """Queue disciplines, likewise."""

def main(arguments: Sequence[str], start: _Path, code: _Path) -> int: ...
def check_section(name: str, said: Mapping[str, Any]) -> None: ...

# Controllers written in Python. Bytes, seconds, bytes a second.

class Config:
    def __init__(self, max_datagram: int = 1500, seed: int = 0, transport: Literal["quic", "tcp"] = "quic") -> None: ...
    @property
    def max_datagram(self) -> int: ...
    @property
    def initial_window(self) -> int: ...
    @property
    def now(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def transport(self) -> Literal["quic", "tcp"]: ...

class PacketSent:
    @property
    def now(self) -> float: ...
    @property
    def number(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def inflight(self) -> int: ...
    @property
    def app_limited(self) -> bool: ...

class RateSample:
    @property
    def delivery_rate(self) -> float: ...
    @property
    def delivered(self) -> int: ...
    @property
    def interval(self) -> float: ...
    @property
    def prior_delivered(self) -> int: ...
    @property
    def total_delivered(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def sent_inflight(self) -> int: ...
    @property
    def sent_at(self) -> float: ...
    @property
    def app_limited(self) -> bool: ...

class Ack:
    @property
    def now(self) -> float: ...
    @property
    def rtt(self) -> float | None: ...
    @property
    def bytes_acked(self) -> int: ...
    @property
    def bytes_lost(self) -> int: ...
    @property
    def prior_inflight(self) -> int: ...
    @property
    def inflight(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def delivery_rate(self) -> float | None: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def rate_sample(self) -> RateSample | None: ...
    @property
    def packets(self) -> list[tuple[int, int, float]]: ...

class Loss:
    @property
    def now(self) -> float: ...
    @property
    def bytes_lost(self) -> int: ...
    @property
    def inflight(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def packets(self) -> list[tuple[int, int, float]]: ...

class Timeout:
    @property
    def now(self) -> float: ...
    @property
    def kind(self) -> str: ...
    @property
    def inflight(self) -> int: ...

class Controller:
    ecn: ClassVar[str]
    phases: ClassVar[dict[str, str]]
    cwnd: float
    pacing_rate: float | None
    send_quantum: float | None
    next_wakeup: float | None
    phase: str
    bandwidth: float | None
    min_rtt: float | None
    ssthresh: float | None
    @property
    def config(self) -> Config: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def on_packet_sent(self, sent: PacketSent) -> None: ...
    def on_ack(self, ack: Ack) -> None: ...
    def on_loss(self, loss: Loss) -> None: ...
    def on_timeout(self, timeout: Timeout) -> None: ...
    def on_spurious_timeout(self, now: float) -> None: ...
    def on_ecn_ce(self, now: float, sent_at: float, marked: int) -> None: ...
    def on_mtu_change(self, max_datagram: int) -> None: ...
    def on_wakeup(self, now: float) -> None: ...

class Batch:
    @property
    def start(self) -> float: ...
    @property
    def now(self) -> float: ...
    @property
    def bytes_sent(self) -> int: ...
    @property
    def packets_sent(self) -> int: ...
    @property
    def bytes_acked(self) -> int: ...
    @property
    def bytes_lost(self) -> int: ...
    @property
    def marked(self) -> int: ...
    @property
    def timeouts(self) -> int: ...
    @property
    def inflight(self) -> int: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def ack_count(self) -> int: ...
    @property
    def acks(self) -> NDArray[np.void]: ...
    @property
    def losses(self) -> NDArray[np.void]: ...
    @property
    def min_rtt(self) -> float | None: ...
    @property
    def mean_rtt(self) -> float | None: ...
    @property
    def max_rtt(self) -> float | None: ...
    @property
    def last_rtt(self) -> float | None: ...
    @property
    def delivery_rate(self) -> float: ...

class BatchController(Controller):
    interval: float
    def on_interval(self, batch: Batch) -> None: ...

class Model:
    @property
    def phase(self) -> str: ...
    @property
    def bandwidth(self) -> float: ...
    @property
    def min_rtt(self) -> float: ...
    @property
    def rtt(self) -> float: ...
    @property
    def round_count(self) -> int: ...
    @property
    def round_starts(self) -> bool: ...
    @property
    def delivered(self) -> int: ...
    @property
    def full_pipe(self) -> bool: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def pacing_gain(self) -> float: ...
    @property
    def cwnd_gain(self) -> float: ...
    @property
    def pacing_rate(self) -> float: ...
    @property
    def max_datagram(self) -> int: ...
    @property
    def initial_window(self) -> int: ...
    @property
    def send_quantum(self) -> int: ...
    @property
    def probing(self) -> bool: ...
    @property
    def window_held(self) -> bool: ...
    @property
    def min_cwnd(self) -> int: ...
    def bdp(self, bandwidth: float, gain: float) -> int: ...
    def inflight_at(self, bandwidth: float, gain: float) -> int: ...

class Bbr:
    def __init__(
        self,
        estimator: BandwidthEstimator | Callable[[Config], BandwidthEstimator] | None = None,
        policy: Policy | Callable[[Config], Policy] | None = None,
        *,
        name: str | None = None,
        aggregation: bool = True,
        policer: bool = True,
        burst: int | None = None,
        ecn: bool = False,
    ) -> None: ...
    @property
    def name(self) -> str: ...

def steps(controller: Any = None, /, **options: Any) -> NDArray[np.void]: ...

class Episodes:
    features: ClassVar[int]
    measured: ClassVar[list[tuple[str, str]]]
    def __init__(
        self,
        links: list[dict[str, Any]],
        count: int,
        is_rate: bool,
        relative: bool,
        rates: tuple[float, float],
        windows: tuple[float, float],
        interval: float,
        history: int,
        threads: int,
    ) -> None: ...
    @property
    def links(self) -> int: ...
    def reset(
        self, episodes: Sequence[tuple[int, int] | None]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], list[bool]]: ...
    def step(
        self, actions: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], list[bool]]: ...
