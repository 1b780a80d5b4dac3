"""Rust's side of the package."""

import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .parts import BandwidthEstimator, Policy

__version__: str
#: Every option, and what it is; the keys of sections likewise.
OPTIONS: dict[str, str]
KEYS: dict[str, dict[str, str]]

_Path = str | os.PathLike[str]
_Time = str | timedelta
_Progress = bool | Callable[[int, int], object] | None

# lowtide/_calls.py has their arguments.

def compare(*args: Any, **kwargs: Any) -> Comparison: ...
def simulate(*args: Any, **kwargs: Any) -> Run: ...
def run(*args: Any, **kwargs: Any) -> Cells: ...
def frontier(*args: Any, **kwargs: Any) -> Frontier: ...
def score(*args: Any, **kwargs: Any) -> Scores: ...
def attack(*args: Any, **kwargs: Any) -> Findings: ...
def steps(*args: Any, **kwargs: Any) -> NDArray[np.void]: ...
def controllers() -> list[dict[str, Any]]: ...
def queues() -> list[dict[str, Any]]: ...

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

class Result(Table):
    """A result that is a table besides; what its rows are is said with each kind."""

    @property
    def table(self) -> Table: ...

class Drawn(Result):
    """A result that can be drawn."""

    def json(self) -> str:
        """What the command line prints with ``--json --no-timing``."""
    def report(self, folder: _Path) -> Any:
        """Writes the report, ``index.html``, into a folder; its path."""
    def figures(
        self,
        folder: _Path,
        *,
        size: str | None = None,
        formats: Sequence[Literal["svg", "png", "pdf"]] | None = None,
        font: int | None = None,
    ) -> None:
        """Writes the report's plots into a folder, as SVG and PNG unless ``formats`` says otherwise."""
    def _repr_html_(self) -> str: ...

class Comparison(Drawn):
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
    def qlog(self, folder: _Path, *, version: Literal["draft-14", "0.3"] = "draft-14") -> list[Any]:
        """Writes a qlog of each controller's flow into a folder, first seed; their paths."""

class Cells(Drawn):
    """The cells of a scenario, each run with all its seeds: a row for each run of each cell."""

    @property
    def means(self) -> Table:
        """Means over the seeds, a row for each cell, with half the 95 % intervals as ``…_ci95``."""
    @property
    def failed(self) -> list[tuple[str, int, str]]:
        """Runs that are missing: in which cell, with which seed, why."""

class Frontier(Drawn):
    """Throughput and delay of controllers over links, against a base: a row for each controller in each place."""

    @property
    def links(self) -> Table:
        """A row for each link."""
    @property
    def at(self) -> Table:
        """The delay of each swept controller where it reaches given throughputs."""

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

class Findings(Result):
    """Networks on which controllers are bad, found by search and made small: a row for each."""

    @property
    def transfer(self) -> Table:
        """How bad each controller is on each finding: a row for each finding, a column ``value_…`` for each controller."""
    @property
    def searches(self) -> Table:
        """What came of each controller and goal, also where nothing was found."""
    def json(self) -> str:
        """What ``lowtide attack --json`` prints."""
    def save(self, folder: _Path) -> Any:
        """Writes each finding as a case into a folder, for ``lowtide.score(suites=folder)``; the folder."""
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

def main(arguments: Sequence[str], start: _Path, code: _Path) -> int: ...
def check_section(name: str, said: Mapping[str, Any]) -> None: ...

# Controllers written in Python. Bytes, seconds, bytes a second.

class Config:
    """What a controller is told when it is made."""

    def __init__(self, max_datagram: int = 1500, seed: int = 0, transport: Literal["quic", "tcp"] = "quic") -> None: ...
    @property
    def max_datagram(self) -> int:
        """Largest payload of a packet, bytes: the unit of "packets" in window rules."""
    @property
    def initial_window(self) -> int:
        """Window before any feedback, bytes."""
    @property
    def now(self) -> float:
        """When the flow starts, seconds."""
    @property
    def seed(self) -> int:
        """Seeds the controller's own randomness."""
    @property
    def transport(self) -> Literal["quic", "tcp"]:
        """The transport that carries the flow: "quic" or "tcp"."""

class PacketSent:
    """A packet has left."""

    @property
    def now(self) -> float:
        """When, seconds."""
    @property
    def number(self) -> int:
        """Its number; retransmissions get new ones."""
    @property
    def bytes(self) -> int:
        """Its size, bytes."""
    @property
    def inflight(self) -> int:
        """Bytes in flight with it."""
    @property
    def app_limited(self) -> bool:
        """The application, not window or rate, limited the flow when it left."""

class RateSample:
    """A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation)."""

    @property
    def delivery_rate(self) -> float:
        """The sample, bytes a second."""
    @property
    def delivered(self) -> int:
        """Data delivered over the interval, bytes."""
    @property
    def interval(self) -> float:
        """The longer of the send and the ACK interval, seconds."""
    @property
    def prior_delivered(self) -> int:
        """Data delivered when the sampled packet was sent, bytes: marks round trips."""
    @property
    def total_delivered(self) -> int:
        """Data delivered now, bytes."""
    @property
    def lost(self) -> int:
        """Data lost between the sending of the sampled packet and now, bytes."""
    @property
    def sent_inflight(self) -> int:
        """Bytes in flight when the sampled packet was sent."""
    @property
    def sent_at(self) -> float:
        """When it was sent, seconds."""
    @property
    def app_limited(self) -> bool:
        """The application limited the flow then: the rate may be too low."""

class Ack:
    """An acknowledgment that newly covers at least one packet."""

    @property
    def now(self) -> float:
        """When, seconds."""
    @property
    def rtt(self) -> float | None:
        """The newest RTT sample, seconds; `None` where the acknowledgment gives none."""
    @property
    def bytes_acked(self) -> int:
        """Bytes that it newly acknowledges."""
    @property
    def bytes_lost(self) -> int:
        """Bytes declared lost since the one before it."""
    @property
    def prior_inflight(self) -> int:
        """Bytes in flight just before it and its losses."""
    @property
    def inflight(self) -> int:
        """Bytes in flight after it and its losses."""
    @property
    def number(self) -> int:
        """The largest number that it newly acknowledges."""
    @property
    def delivery_rate(self) -> float | None:
        """The delivery rate that it samples, bytes a second; `None` where it gives no valid sample."""
    @property
    def app_limited(self) -> bool:
        """Whether the application limited the flow when the sampled packet was sent."""
    @property
    def rate_sample(self) -> RateSample | None:
        """All of the delivery-rate sample."""
    @property
    def packets(self) -> list[tuple[int, int, float]]:
        """The packets that it newly acknowledges: number, bytes, when sent (seconds)."""

class Loss:
    """Packets were declared lost."""

    @property
    def now(self) -> float:
        """When, seconds."""
    @property
    def bytes_lost(self) -> int:
        """Their bytes."""
    @property
    def inflight(self) -> int:
        """Bytes in flight without them."""
    @property
    def number(self) -> int:
        """The largest number among them."""
    @property
    def packets(self) -> list[tuple[int, int, float]]:
        """The packets: number, bytes, when sent (seconds)."""

class Timeout:
    """The whole flight is taken for lost."""

    @property
    def now(self) -> float:
        """When, seconds."""
    @property
    def kind(self) -> str:
        """`"rto"` (TCP) or `"persistent-congestion"` (QUIC)."""
    @property
    def inflight(self) -> int:
        """Bytes still counted in flight."""

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
    """What happened in an interval."""

    @property
    def start(self) -> float:
        """When it began, seconds."""
    @property
    def now(self) -> float:
        """Now, seconds: its end."""
    @property
    def bytes_sent(self) -> int:
        """Bytes sent in it."""
    @property
    def packets_sent(self) -> int:
        """Packets sent in it."""
    @property
    def bytes_acked(self) -> int:
        """Bytes acknowledged in it."""
    @property
    def bytes_lost(self) -> int:
        """Bytes declared lost in it."""
    @property
    def marked(self) -> int:
        """Packets reported marked in it."""
    @property
    def timeouts(self) -> int:
        """Timeouts in it."""
    @property
    def inflight(self) -> int:
        """Bytes in flight at its end."""
    @property
    def app_limited(self) -> bool:
        """Whether the application limited the flow when the last packet was sent."""
    @property
    def ack_count(self) -> int:
        """How many acknowledgments came."""
    @property
    def acks(self) -> NDArray[np.void]:
        """The acknowledgments as a structured array: `now`, `rtt` and `delivery_rate` (NaN where there is no
        sample), `sent_at` and `number` (of the newest packet), `bytes_acked`, `bytes_lost`, `inflight`,
        `app_limited`."""
    @property
    def losses(self) -> NDArray[np.void]:
        """The lost packets as a structured array: `now`, `sent_at`, `number`, `bytes`."""
    @property
    def min_rtt(self) -> float | None:
        """The smallest RTT, seconds; `None` without a sample, as the other three."""
    @property
    def mean_rtt(self) -> float | None:
        """The mean RTT, seconds."""
    @property
    def max_rtt(self) -> float | None:
        """The largest RTT, seconds."""
    @property
    def last_rtt(self) -> float | None:
        """The newest RTT, seconds."""
    @property
    def delivery_rate(self) -> float:
        """Bytes acknowledged a second."""

class BatchController(Controller):
    interval: float
    def on_interval(self, batch: Batch) -> None: ...

class Model:
    """What BBR believes of the path. It is BBR's: parts read it."""

    @property
    def phase(self) -> str:
        """"Startup", "Drain", "ProbeBW" or "ProbeRTT"."""
    @property
    def bandwidth(self) -> float:
        """Estimated bandwidth in use, bytes a second; zero before the first sample."""
    @property
    def min_rtt(self) -> float:
        """Windowed minimum RTT, seconds; infinite before the first sample."""
    @property
    def rtt(self) -> float:
        """Newest RTT sample, seconds; infinite before the first."""
    @property
    def round_count(self) -> int:
        """Packet-timed rounds so far."""
    @property
    def round_starts(self) -> bool:
        """Whether the current acknowledgment began a round."""
    @property
    def delivered(self) -> int:
        """Data delivered so far, bytes."""
    @property
    def full_pipe(self) -> bool:
        """Startup has filled the pipe."""
    @property
    def app_limited(self) -> bool:
        """The application limited the flow when the last packet was sent."""
    @property
    def pacing_gain(self) -> float:
        """Current pacing gain."""
    @property
    def cwnd_gain(self) -> float:
        """Current gain of the window."""
    @property
    def pacing_rate(self) -> float:
        """Current pacing rate, bytes a second."""
    @property
    def max_datagram(self) -> int:
        """Largest payload of a packet, bytes."""
    @property
    def initial_window(self) -> int:
        """Window before any feedback, bytes."""
    @property
    def send_quantum(self) -> int:
        """Burst at the current pacing rate, bytes."""
    @property
    def probing(self) -> bool:
        """ProbeBW is in its probing phase."""
    @property
    def window_held(self) -> bool:
        """The window, not the path, limits the sender: see BBR's `Model::window_held`."""
    @property
    def min_cwnd(self) -> int:
        """The smallest window, 4 packets, bytes."""
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
