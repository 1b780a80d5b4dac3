"""A sweep on Dask, step by step: how RBBR's delay depends on the buffer, beside BBR and Cubic.

``python sweep_on_dask.py`` starts a cluster on this machine; ``python sweep_on_dask.py tcp://scheduler:8786`` uses one that runs
already. Called again it finds all results in the store.
"""

from __future__ import annotations

import sys

import lowtide
from distributed import Client, LocalCluster

# What a scenario file says, as a dict: each list below "sweep" is an axis of the grid.
GRID = {
    "name": "buffers",
    "link": {"model": "4g", "mean": "12mbit"},
    "path": {"rtt": "40ms"},
    "run": {"duration": "10s", "seeds": 4},
    "flows": [{"controller": "bbr"}],
    "sweep": {
        "flows.controller": ["rbbr", "bbr", "cubic"],
        "link.buffer": ["1bdp", "4bdp", "16bdp"],
    },
}


def main() -> None:
    with cluster() as client:
        # Each result is kept as soon as it is there; a worker that is lost loses nothing.
        results = lowtide.sweep(GRID, client, store="buffers", progress=True)

    # A row for each run, a column for each axis and each value.
    runs = results.to_pandas()
    print(runs.pivot_table("rtt_ms_p95", "controller", "link.buffer", sort=False).round(1))
    print(f"{results.made} of {len(results)} runs were made now; the others were in {results.store}")


def cluster() -> Client:
    if sys.argv[1:]:
        return Client(sys.argv[1])
    return Client(LocalCluster(threads_per_worker=1, dashboard_address=None))


if __name__ == "__main__":
    main()
