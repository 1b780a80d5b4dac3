"""The grid of the tests of sweeps, and a driver that can be killed: ``python sweep_grid.py ENGINE STORE SCENARIO``."""

from __future__ import annotations

import sys
from pathlib import Path

#: 48 runs of some tens of milliseconds, on a link that is recorded.
GRID = """
name = "on a trace"
link = { trace = "recorded.trace" }
run = { duration = "20s", seeds = 8 }
flows = [{ controller = "bbr" }]
[sweep]
"flows.controller" = ["bbr", "cubic", "newreno"]
"path.rtt" = ["20ms", "60ms"]
"""

RUNS = 48


def write(folder: Path) -> Path:
    """The scenario and its trace."""
    (folder / "recorded.trace").write_text("".join(f"{ms}\n" for ms in range(1, 2001) if ms % 7))
    scenario = folder / "grid.toml"
    scenario.write_text(GRID)
    return scenario


def lines(store: Path) -> int:
    """The results that are kept by now."""
    return sum(path.read_bytes().count(b"\n") for path in store.glob("results-*.jsonl"))


def main() -> None:
    import lowtide

    engine, store, scenario = sys.argv[1:]
    if engine == "processes":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
            lowtide.sweep(scenario, executor, store=store)
    elif engine == "dask":
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                lowtide.sweep(scenario, client, store=store)
    else:
        lowtide.sweep(scenario, None if engine == "threads" else engine, store=store)


if __name__ == "__main__":
    main()
