"""What the package does: calls of Rust's side, whose signatures name every option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, Type, Union

from . import _lowtide
from ._lowtide import Bbr, Cells, Comparison, Controller, Findings, Frontier, Run, Scores
from ._knobs import Options
from ._options import with_options
from ._sections import File, Time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

Progress = Union[bool, Callable[[int, int], object], None]
Sender = Union[str, Type[Controller], Bbr]
Senders = Union[Sender, Sequence[Sender], None]


@with_options
def compare(
    controllers: Senders = None,
    /,
    *,
    jobs: int = 0,
    progress: Progress = None,
    over_time: bool = True,
    **options: Unpack[Options],
) -> Comparison:
    """Runs controllers over one link, or several, beside the physical limit and the best constant window.

    >>> lowtide.compare(["ebb", "cubic"], rate="20mbit", rtt="40ms", duration="10s")  # doctest: +SKIP

    Without ``controllers`` all of the host's take part; :func:`controllers` lists them, and a class or an object of your own is
    one, too. ``jobs`` is the number of threads, one for each processor unless said. ``progress=True`` shows a bar, and a function
    is called with how many runs are done, of how many. ``over_time=False`` keeps no series, and so draws no report.

    Raises :class:`lowtide.InputError` for bad input, and :class:`lowtide.RunError` where runs failed; its ``result``
    has the others.
    """
    return _lowtide.compare(controllers, jobs=jobs, progress=progress, over_time=over_time, **options)


@with_options
def simulate(controller: Sender | None = None, /, *, progress: Progress = None, **options: Unpack[Options]) -> Run:
    """Runs once, and keeps what happened over time.

    ``controller`` sends all flows; or each group of ``flows=[Flow(controller=…)]`` has its own.
    """
    return _lowtide.simulate(controller, progress=progress, **options)


def run(
    scenario: File | Mapping[str, Any],
    /,
    *,
    vary: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    host: str | None = None,
    controllers: Sequence[type[Controller] | Bbr] | None = None,
    jobs: int = 0,
    progress: Progress = None,
    over_time: bool = True,
) -> Cells:
    """Runs a scenario file, or a dict of what one holds, with each value of its cases and its sweep.

    ``vary`` tries values for keys, as in ``{"link.buffer": ["1bdp", "2bdp"]}``. ``seeds`` and ``host`` take the place of the
    file's. ``controllers`` are those of your own that the file names. ``jobs``, ``progress`` and ``over_time`` are those of
    :func:`compare`.
    """
    return _lowtide.run(
        scenario,
        vary=vary,
        seeds=seeds,
        host=host,
        controllers=controllers,
        jobs=jobs,
        progress=progress,
        over_time=over_time,
    )


@with_options
def frontier(
    controllers: Senders = None,
    /,
    *,
    base: str = "bbr",
    at: Sequence[float] | None = None,
    rtt: Time | Sequence[Time] | None = None,
    buffer: str | Sequence[str] | None = None,
    jobs: int = 0,
    progress: Progress = None,
    **options: Any,
) -> Frontier:
    """Throughput and delay of controllers over links, against those of ``base``.

    Parameters are swept as in ``ebb:idle=0.01/0.05``. Several values of ``rtt`` (round-trip propagation delay) and ``buffer`` give
    a frontier each. ``at`` has the throughputs, over the base's, at which the delays are read off. ``jobs`` and ``progress`` are
    those of :func:`compare`.
    """
    return _lowtide.frontier(
        controllers, base=base, at=at, rtt=rtt, buffer=buffer, jobs=jobs, progress=progress, **options
    )


def score(
    controllers: Senders = None,
    /,
    *,
    suites: File | Sequence[File] | None = None,
    cases: str | Sequence[str] | None = None,
    traces: File | None = None,
    seeds: int | None = None,
    host: str | None = None,
    jobs: int = 0,
    progress: Progress = None,
) -> Scores:
    """Holds controllers against suites of cases with limits; a case that fails is no error but a verdict.

    Verdicts are ``pass``, ``fail``, ``undecided`` (the interval covers the limit), ``not_run`` and ``n/a``.
    ``suites`` are names (``"rfc9743"``, ``"link"``, …) or folders of your own; ``cases`` picks some of their cases by name.
    ``traces`` is the folder of recorded links that cases ask for. ``seeds`` and ``host`` take the place of the cases' own.
    ``jobs`` and ``progress`` are those of :func:`compare`.
    """
    return _lowtide.score(
        controllers, suites=suites, cases=cases, traces=traces, seeds=seeds, host=host, jobs=jobs, progress=progress
    )


def attack(
    controllers: Sender | Sequence[Sender],
    /,
    *,
    goal: str | Sequence[str] = ("throughput", "delay", "stall", "starvation", "harm"),
    world: str = "cellular",
    reference: str = "causal",
    host: str | None = None,
    budget: int | Time = 1000,
    method: str = "both",
    seed: int = 1,
    most: int = 3,
    output: File | None = None,
    jobs: int = 0,
    progress: Progress = None,
) -> Findings:
    """Searches the networks on which controllers are worst, makes them small, and tries each on all of the controllers.

    ``goal`` says what is bad: ``"throughput"``, ``"stall"``, ``"share:bbr"``, … or ``"all"``; ``docs/attack.md`` has them with their
    limits. ``world`` bounds what networks may be like, and ``reference`` is the built-in controller or bound that is done better.
    ``budget`` is a number of networks for each controller and goal, or a time for all, as in ``"10m"``. ``method`` chooses
    networks: ``"both"``, ``"elites"``, ``"cma"`` or ``"random"``. The same ``seed`` and number of networks give the same findings, ``most`` for
    each controller and goal at most. ``output`` is a folder that keeps what was tried, from which the same call goes on.
    ``host`` takes the place of the controller's own. ``jobs`` and ``progress`` are those of :func:`compare`; progress counts networks,
    or seconds where ``budget`` is a time.

    Raises :class:`lowtide.InputError` for bad input, and :class:`lowtide.RunError` where a controller of your own raised; its
    ``result`` has the findings.
    """
    return _lowtide.attack(
        controllers,
        goal=goal,
        world=world,
        reference=reference,
        host=host,
        budget=budget,
        method=method,
        seed=seed,
        most=most,
        output=output,
        jobs=jobs,
        progress=progress,
    )


@with_options
def steps(controller: Sender | None = None, /, **options: Unpack[Options]) -> NDArray[np.void]:
    """What a controller said after each acknowledgment of one run, as a structured array.

    Its fields are ``now``, ``rtt`` (NaN where there is no sample), ``pacing_rate`` (NaN where nothing is paced), ``cwnd``,
    ``inflight``, ``number`` and ``flow``. It takes 56 bytes for each acknowledgment.
    """
    return _lowtide.steps(controller, **options)


def controllers() -> list[dict[str, Any]]:
    """Lists controllers, bounds and what QUIC stacks bring along: name, summary, source, parameters."""
    return _lowtide.controllers()


def queues() -> list[dict[str, Any]]:
    """Lists queue disciplines: name, summary, source, parameters."""
    return _lowtide.queues()


for _function in (compare, simulate, run, frontier, score, attack, steps, controllers, queues):
    _function.__module__ = "lowtide"
del _function
