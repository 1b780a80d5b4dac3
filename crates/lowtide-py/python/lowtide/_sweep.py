"""Sweeps: the grid of a scenario on threads, a pool of processes, Dask or Ray.

Whatever makes the runs, they land in one store, as those of ``lowtide sweep`` do: what is there is not made again.
An engine is asked for chunks of runs, each of which takes about as long as scheduling costs little beside it. A
chunk is two numbers for each run. What the runs have in common, the scenario and the contents of its traces, is
a parcel, which a worker gets once. What comes back is the lines of the store.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import OrderedDict
from os import PathLike
from typing import Any, Callable, Iterable, Mapping, Sequence, Tuple

from . import _lowtide
from ._errors import InputError, RunError
from ._progress import told

__all__ = ["sweep"]

#: A run: the place of its cell in the grid, and its seed.
Run = Tuple[int, int]

#: What a task costs an engine's scheduler, in seconds: Dask takes 1.7 ms for an empty one, Ray 0.5 ms (docs/scale.md).
OVERHEAD = 2e-3

#: A chunk takes at least this long, in seconds.
SHORTEST = 0.25

#: Chunks that are under way for each slot of the engine: one that is made and one that waits for it.
DEPTH = 2

#: A run whose worker was lost so often is not made again.
LOSSES = 3


def sweep(
    grid: str | PathLike[str] | Mapping[str, Any],
    executor: Any = None,
    *,
    store: str | PathLike[str] = "lowtide-results",
    vary: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | None = None,
    host: str | None = None,
    jobs: int | None = None,
    progress: Any = None,
) -> "_lowtide.Sweep":
    """Runs the grid of a scenario, and keeps each result as soon as it is there.

    ``grid`` is a scenario file's path, or what one says as a dict. ``executor`` is ``None`` (threads of this process), a
    ``concurrent.futures.Executor``, a ``distributed.Client``, or ``"ray"``. ``store`` is a folder of results,
    which ``lowtide sweep`` and ``lowtide merge`` know, too: what is there is not made again, so that an interrupted sweep goes on
    where it stopped. ``vary`` has values to try for keys, as ``--vary`` has; ``seeds``, ``host`` and ``jobs`` (threads, without
    an executor) are the flags of the same names. ``progress``: see :func:`lowtide.compare`.

    Gives the results of the whole grid, a row for each run. Workers that are lost lose nothing: their runs are made again
    elsewhere. Raises :class:`lowtide.InputError` before anything runs, and :class:`lowtide.RunError` at the end where runs
    failed or results could not be kept, with what there is as its ``result``.
    """
    engine = None if executor is None else _engine(executor)
    plan = _lowtide.SweepPlan(grid, store, dict(vary or {}), seeds, host)
    if engine is None:
        plan.run_here(jobs or 0, progress)
    else:
        _drive(plan, engine, progress)
    return plan.finish()


# What workers do.

_workers: "OrderedDict[str, _lowtide.SweepWorker]" = OrderedDict()
_lock = threading.Lock()


def _work(key: str, parcel: Any, runs: list[Run]) -> tuple[float, list[tuple[bool, str]]] | None:
    """Makes runs: how long that took, and of each whether it came to its end, and its line or why not.

    ``parcel`` is the parcel, or gives it when called, or ``None``; ``None`` is given back where it is needed and
    not there.
    """
    with _lock:
        worker = _workers.get(key)
        if worker is None:
            if callable(parcel):
                parcel = parcel()
            if parcel is None:
                return None
            worker = _lowtide.SweepWorker(*parcel)
            _workers[key] = worker
            # Some sweeps may share the workers; old ones are not kept for ever.
            while len(_workers) > 4:
                _workers.popitem(last=False)
    begun = time.perf_counter()
    done = worker.run(runs)
    return time.perf_counter() - begun, done


# Engines: each has ``slots``, ``submit(runs, whole)``, which gives a future, ``results(futures)``, and says which errors mean that a
# worker was lost.


class _Pool:
    """``concurrent.futures``: processes or threads."""

    def __init__(self, executor: Any) -> None:
        import os
        from concurrent.futures import CancelledError

        self._executor = executor
        self.slots = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        self.lost: tuple[type[BaseException], ...] = (CancelledError,)

    def begin(self, key: str, parcel: tuple[bytes, dict[str, bytes]]) -> None:
        self._key, self._parcel = key, parcel
        # Threads, and processes that are forked from here, find it.
        with _lock:
            _workers[key] = _lowtide.SweepWorker(*parcel)

    def submit(self, runs: list[Run], with_parcel: bool) -> Any:
        # Nobody knows which process will take it: one that lacks the parcel says so.
        return self._executor.submit(_work, self._key, self._parcel if with_parcel else None, runs)

    def results(self, futures: list[Any]) -> list[Any]:
        return [_result(future) for future in futures]

    def cancel(self, futures: Iterable[Any]) -> None:
        for future in futures:
            future.cancel()

    def end(self) -> None:
        with _lock:
            _workers.pop(self._key, None)


class _Dask:
    """A ``distributed.Client``."""

    def __init__(self, client: Any) -> None:
        from distributed import CancelledError, KilledWorker
        from distributed.client import FutureCancelledError

        self._client = client
        self.lost = (KilledWorker, CancelledError, FutureCancelledError)

    @property
    def slots(self) -> int:
        return sum(self._client.nthreads().values())

    def begin(self, key: str, parcel: tuple[bytes, dict[str, bytes]]) -> None:
        self._key = key
        # A task and no scattered data: it can be made again where the worker that had it is lost.
        self._parcel = self._client.submit(_same, parcel, key=f"lowtide-{key}", pure=False)

    def submit(self, runs: list[Run], with_parcel: bool) -> Any:
        return self._client.submit(_work, self._key, self._parcel, runs, pure=False)

    def results(self, futures: list[Any]) -> list[Any]:
        try:
            return self._client.gather(futures)
        except Exception:
            return [_result(future) for future in futures]

    def cancel(self, futures: Iterable[Any]) -> None:
        self._client.cancel(list(futures))

    def end(self) -> None:
        self._parcel = None


class _Ray:
    """Ray, which is started here where nobody has."""

    def __init__(self) -> None:
        import ray

        self._ray = ray
        self.lost = (
            ray.exceptions.WorkerCrashedError,
            ray.exceptions.NodeDiedError,
            ray.exceptions.ObjectLostError,
            ray.exceptions.OutOfMemoryError,
        )

    @property
    def slots(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def begin(self, key: str, parcel: tuple[bytes, dict[str, bytes]]) -> None:
        if not self._ray.is_initialized():
            self._ray.init(log_to_driver=False)
        self._task = self._ray.remote(_work).options(num_cpus=1)
        self._key = key
        # Once to each node's memory; who has it does not ask for it again.
        self._parcel = _Stored(self._ray.put(parcel))

    def submit(self, runs: list[Run], with_parcel: bool) -> Any:
        return self._task.remote(self._key, self._parcel, runs).future()

    def results(self, futures: list[Any]) -> list[Any]:
        return [_result(future) for future in futures]

    def cancel(self, futures: Iterable[Any]) -> None:
        for future in futures:
            self._ray.cancel(future.object_ref)

    def end(self) -> None:
        self._parcel = None


class _Stored:
    """What Ray has in its memory, for those who ask."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def __call__(self) -> Any:
        import ray

        return ray.get(self._reference)


def _same(parcel: Any) -> Any:
    return parcel


def _result(future: Any) -> Any:
    try:
        return future.result()
    except Exception as error:
        return error


def _engine(executor: Any) -> Any:
    from concurrent.futures import Executor

    if isinstance(executor, Executor):
        return _Pool(executor)
    if isinstance(executor, str) and executor == "ray":
        return _Ray()
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "submit"):
        return _Dask(executor)
    raise InputError(
        "executor: must be None, a concurrent.futures.Executor, a distributed.Client, or 'ray'; "
        f"this is a {type(executor).__name__}"
    )


# The driver.


class _Chunk:
    """Runs that are made together, and how often their worker was lost."""

    def __init__(self, runs: list[Run], losses: int = 0) -> None:
        self.runs = runs
        self.losses = losses

    def halves(self) -> list["_Chunk"]:
        middle = (len(self.runs) + 1) // 2
        halves = self.runs[:middle], self.runs[middle:]
        return [_Chunk(runs, self.losses + 1) for runs in halves if runs]


class _Sizes:
    """How many runs a chunk has: as many as take so long that scheduling them costs little beside it."""

    def __init__(self) -> None:
        self._seconds: float | None = None

    def note(self, seconds: float, runs: int) -> None:
        each = seconds / max(runs, 1)
        # What is cheaper comes later: the newest counts.
        self._seconds = each if self._seconds is None else 0.5 * (self._seconds + each)

    def next(self, slots: int, left: int) -> int:
        if self._seconds is None:
            return 1
        # A scheduler that is half busy holds none of the slots up.
        goal = max(SHORTEST, 2 * slots * OVERHEAD)
        count = int(goal / max(self._seconds, 1e-6))
        # Towards the end all slots share what is left.
        return max(1, min(count, left // (DEPTH * slots)))


def _drive(plan: Any, engine: Any, progress: Any) -> None:
    tell: Callable[[int, int], object] | None = told(progress)
    total = plan.missing
    if total == 0:
        return
    key, parcel = plan.parcel()
    engine.begin(key, parcel)
    sizes, done = _Sizes(), 0
    slots, look_again = 1, 0.0
    ended: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
    under_way: dict[Any, _Chunk] = {}
    again: list[tuple[_Chunk, bool]] = []

    def submit(chunk: _Chunk, with_parcel: bool = False) -> None:
        future = engine.submit(chunk.runs, with_parcel)
        under_way[future] = chunk
        future.add_done_callback(ended.put)

    try:
        while True:
            if time.monotonic() > look_again:
                # Workers come and go; asking for them takes a message.
                slots, look_again = max(engine.slots, 1), time.monotonic() + 1.0
            while len(under_way) < DEPTH * slots:
                if again:
                    submit(*again.pop())
                elif runs := plan.deal(sizes.next(slots, plan.left)):
                    submit(_Chunk(runs))
                else:
                    break
            if not under_way:
                break
            futures = [ended.get()]
            while not ended.empty():
                futures.append(ended.get())
            for future, result in zip(futures, engine.results(futures)):
                chunk = under_way.pop(future)
                if result is None:
                    again.append((chunk, True))
                elif isinstance(result, engine.lost):
                    if len(chunk.runs) == 1 and chunk.losses + 1 >= LOSSES:
                        plan.lose(chunk.runs[0], f"its worker was lost {LOSSES} times: {result}")
                    else:
                        again.extend((half, False) for half in chunk.halves())
                elif isinstance(result, BaseException):
                    raise result
                else:
                    seconds, made = result
                    sizes.note(seconds, len(made))
                    plan.keep(chunk.runs, made)
                    done += len(made)
            if tell is not None:
                tell(done, total)
    except (InputError, RunError):
        engine.cancel(under_way)
        raise
    except Exception as error:
        engine.cancel(under_way)
        raise RunError(
            f"the executor failed ({type(error).__name__}: {error}); {plan.kept} of {plan.total} runs are in "
            f"{plan.store}, and the same call goes on from there"
        ) from error
    except BaseException:
        engine.cancel(under_way)
        raise
    finally:
        engine.end()
        if tell is not None and hasattr(tell, "close"):
            tell.close()
