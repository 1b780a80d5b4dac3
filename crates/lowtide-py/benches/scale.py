"""What sweeps cost on each engine: efficiency, scheduling, bytes moved. The figures of docs/scale.md.

``python crates/lowtide-py/benches/scale.py [--engines threads,processes,dask,ray] [--runs 200] [--repeats 3]``

Efficiency is the processor time that the same runs take one after the other, divided by cores and by the wall time
of the engine. Each repeat measures all engines one after the other, so that a busy machine is as busy for all.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pickle
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import lowtide
from lowtide import _lowtide, _sweep

#: Empty tasks that are scheduled to see what one costs.
TASKS = 2000


def grid(folder: Path, runs: int, duration: float) -> Path:
    """Runs that cost about the same, on a recorded link."""
    (folder / "recorded.trace").write_text("".join(f"{ms}\n" for ms in range(1, 60001) if ms % 7))
    scenario = folder / "grid.toml"
    scenario.write_text(
        'link = { trace = "recorded.trace" }\n'
        f'run = {{ duration = "{duration:.3f}s", seeds = {runs // 4} }}\n'
        'flows = [{ controller = "bbr" }]\n[sweep]\n"path.rtt" = ["20ms", "40ms", "60ms", "80ms"]\n'
    )
    return scenario


def alone(scenario: Path) -> float:
    """Seconds for all runs, one after the other in this process."""
    with tempfile.TemporaryDirectory() as store:
        begun = time.perf_counter()
        lowtide.sweep(scenario, store=store, jobs=1)
        return time.perf_counter() - begun


def nothing(_: int) -> None:
    """A task that does nothing."""


@contextlib.contextmanager
def engine(name: str, cores: int) -> Iterator[tuple[Any, Callable[[], float]]]:
    """An executor for ``lowtide.sweep``, and what times its empty tasks."""
    def timed(schedule: Callable[[], Any]) -> float:
        begun = time.perf_counter()
        schedule()
        return (time.perf_counter() - begun) / TASKS

    if name == "threads":
        yield None, lambda: 0.0
    elif name == "processes":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
            yield pool, lambda: timed(lambda: list(pool.map(nothing, range(TASKS))))
    elif name == "dask":
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                yield client, lambda: timed(lambda: client.gather(client.map(nothing, range(TASKS), pure=False)))
    elif name == "ray":
        import ray

        ray.init(num_cpus=cores, log_to_driver=False, include_dashboard=False)
        try:
            task = ray.remote(nothing)
            yield "ray", lambda: timed(lambda: ray.get([task.remote(n) for n in range(TASKS)]))
        finally:
            ray.shutdown()
    else:
        raise SystemExit(f"no engine '{name}'")


def moved(scenario: Path) -> dict[str, float]:
    """Bytes that travel: to a worker once, and for each run there and back."""
    with tempfile.TemporaryDirectory() as store:
        plan = _lowtide.SweepPlan(scenario, store, {}, None, None)
        key, parcel = plan.parcel()
        runs = plan.deal(8)
        _, made = _sweep._work(key, parcel, runs)
        begun, times = time.process_time(), 200
        for _ in range(times):
            plan.keep(runs, made)
        keeping = time.process_time() - begun
        return {
            "keeping_us_per_run": 1e6 * keeping / times / len(runs),
            "parcel_bytes": len(pickle.dumps(parcel)),
            "bytes_to_a_worker_per_run": len(pickle.dumps((key, None, runs))) / len(runs),
            "bytes_from_a_worker_per_run": len(pickle.dumps((0.1, made))) / len(runs),
        }


def planned(folder: Path, cells: int) -> dict[str, float]:
    """What it takes to know the cells of a large grid, and to land and find the results."""
    scenario = folder / "large.toml"
    values = ", ".join(f'"{n}ms"' for n in range(1, cells // 4 + 1))
    scenario.write_text(
        'link = { rate = "1mbit" }\nrun = { duration = "1s" }\nflows = [{ controller = "bbr" }]\n'
        f'[sweep]\n"path.rtt" = [{values}]\n"link.buffer" = ["1bdp", "2bdp", "3bdp", "4bdp"]\n'
    )
    store = folder / "large"
    # Processor time, which a busy machine does not lengthen.
    begun = time.process_time()
    plan = _lowtide.SweepPlan(scenario, store, {}, None, None)
    planning = time.process_time() - begun
    plan.run_here(0, None)
    kept = sum(path.stat().st_size for path in store.iterdir())
    out = folder / "landed"
    begun = time.process_time()
    code = _lowtide.main(["lowtide", "merge", str(store), "--output", str(out)], "lowtide", _lowtide.__file__)
    merging = time.process_time() - begun
    assert code == 0
    landed = sum(path.stat().st_size for path in out.rglob("*.parquet"))
    finding = {}
    for name, where in [("lines", store), ("parquet", out)]:
        begun = time.process_time()
        again = _lowtide.SweepPlan(scenario, where, {}, None, None)
        assert again.missing == 0
        finding[name] = time.process_time() - begun - planning
    return {
        "planning_us_per_cell": 1e6 * planning / cells,
        "merging_us_per_run": 1e6 * merging / cells,
        "finding_in_lines_us_per_run": 1e6 * finding["lines"] / cells,
        "finding_in_parquet_us_per_run": 1e6 * finding["parquet"] / cells,
        "bytes_kept_per_run": kept / cells,
        "bytes_landed_per_run": landed / cells,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", default="threads,processes,dask,ray")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.05, help="what a run takes, at least")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cells", type=int, default=4000, help="of the large grid")
    asked = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    report: dict[str, Any] = {"cores": cores, "machine": platform.machine(), "python": platform.python_version()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # As long as it takes for a run to take so long.
        duration = 5.0
        while (each := alone(grid(folder, 8, duration)) / 8) < 1.1 * asked.seconds:
            duration *= max(1.2, 1.15 * asked.seconds / each)
        scenario = grid(folder, asked.runs, duration)
        engines = {name: {"efficiency": [], "of_threads": []} for name in asked.engines.split(",")}
        each = []
        for _ in range(asked.repeats):
            ideal = alone(scenario) / cores
            each.append(ideal * cores / asked.runs)
            threads = None
            for name, figures in engines.items():
                with engine(name, cores) as (executor, tasks), tempfile.TemporaryDirectory() as store:
                    if "task_ms" not in figures:
                        tasks()
                        figures["task_ms"] = 1e3 * tasks()
                    # The workers have started and know the module.
                    lowtide.sweep(grid(folder, 8, duration), executor, store=Path(store, "warm"))
                    grid(folder, asked.runs, duration)
                    begun = time.perf_counter()
                    lowtide.sweep(scenario, executor, store=Path(store, "all"))
                    took = time.perf_counter() - begun
                threads = threads or took
                figures["efficiency"].append(ideal / took)
                figures["of_threads"].append(threads / took)
        report["seconds_per_run"] = statistics.median(each)
        report["engines"] = engines
        report["moved"] = moved(scenario)
        report["planned"] = planned(folder, asked.cells)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
