"""Sweeps on other engines: whatever is killed, the store is that of an undisturbed sweep."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import lowtide
import sweep_grid
from sweep_grid import RUNS, lines


def merged(store: Path) -> dict[str, bytes]:
    """What ``lowtide merge`` makes of a store, by the names of the files."""
    out = store.with_name(store.name + "-merged")
    command = [sys.executable, "-m", "lowtide", "merge", str(store), "--output", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep_grid.write(tmp_path_factory.mktemp("scenario"))


@pytest.fixture(scope="module")
def undisturbed(scenario: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The store of the command line, which nothing disturbs."""
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    command = [sys.executable, "-m", "lowtide", "sweep", str(scenario), "--output", str(store)]
    subprocess.run(command, check=True, capture_output=True)
    assert lines(store) == RUNS
    files = merged(store)
    assert list(files) == ["scenario=on%20a%20trace/part-0.parquet"]
    return files


def wait_for(condition, what: str) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, f"waited for {what} in vain"
        time.sleep(0.005)


class Killer(threading.Thread):
    """Kills a process once some results are there, but not all."""

    def __init__(self, store: Path, pid_of) -> None:
        super().__init__(daemon=True)
        self._store, self._pid_of = store, pid_of
        self.at = -1

    def run(self) -> None:
        wait_for(lambda: lines(self._store) >= 4, "results")
        os.kill(self._pid_of(), signal.SIGKILL)
        self.at = lines(self._store)


def test_threads_and_processes_fill_the_same_store(scenario, undisturbed, tmp_path):
    seen = []
    here = lowtide.sweep(scenario, store=tmp_path / "a", progress=lambda *p: seen.append(p))
    assert seen[-1] == (RUNS, RUNS)
    assert (len(here), here.made, here.failed) == (RUNS, RUNS, [])
    assert merged(tmp_path / "a") == undisturbed
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        there = lowtide.sweep(scenario, executor, store=tmp_path / "b")
    assert merged(tmp_path / "b") == undisturbed
    assert list(here["rtt_ms_p95"]) == list(there["rtt_ms_p95"])
    # What is there is not made again, whoever made it, landed or not.
    with ThreadPoolExecutor(2) as executor:
        again = lowtide.sweep(scenario, executor, store=tmp_path / "a")
    assert again.made == 0 and len(again) == RUNS
    landed = lowtide.sweep(scenario, store=tmp_path / "b-merged")
    assert landed.made == 0
    assert list(landed["rtt_ms_p95"]) == list(here["rtt_ms_p95"])


def test_a_dict_is_a_grid_too_and_tables_have_a_row_for_each_run(tmp_path):
    grid = {
        "name": "said",
        "link": {"rate": "5mbit"},
        "run": {"duration": "1s"},
        "flows": [{"controller": "bbr"}],
        "sweep": {"path.rtt": ["10ms", "20ms"]},
    }
    vary = {"link.buffer": ["1bdp", "2bdp"]}
    with ThreadPoolExecutor(2) as executor:
        done = lowtide.sweep(grid, executor, store=tmp_path / "s", vary=vary, seeds=2)
    assert len(done) == 8
    assert set(done["path.rtt"]) == {"10ms", "20ms"}
    assert sorted(set(done["seed"])) == [1, 2]
    assert set(done["scenario"]) == {"said"}
    frame = pytest.importorskip("pandas")
    frame = done.to_pandas()
    assert frame["throughput_mbps"].between(0.1, 5).all()
    # The merged store has the same rows.
    merged(tmp_path / "s")
    parquet = pytest.importorskip("pyarrow.parquet")
    landed = parquet.read_table(tmp_path / "s-merged").to_pandas()
    same = ["link.buffer", "path.rtt", "seed"]
    one, other = (f.sort_values(same) for f in (frame, landed))
    assert (one["rtt_ms_p95"].to_numpy() == other["rtt_ms_p95"].to_numpy()).all()


def test_a_dask_worker_that_is_killed_loses_nothing(scenario, undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed")
    store = tmp_path / "store"
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        killer = Killer(store, lambda: next(iter(client.run(os.getpid).values())))
        killer.start()
        done = lowtide.sweep(scenario, client, store=store)
        killer.join()
    assert 0 < killer.at < RUNS, "the grid is too small for a kill in its midst"
    assert done.failed == []
    assert merged(store) == undisturbed


def test_a_ray_worker_that_is_killed_loses_nothing(scenario, undisturbed, tmp_path):
    ray = pytest.importorskip("ray")
    psutil = pytest.importorskip("psutil")
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)

    def a_worker() -> int:
        found: list[int] = []

        def look() -> bool:
            for process in psutil.Process().children(recursive=True):
                if any(part.startswith("ray::_work") for part in process.cmdline()):
                    found.append(process.pid)
            return bool(found)

        wait_for(look, "a worker of Ray")
        return found[0]

    try:
        store = tmp_path / "store"
        killer = Killer(store, a_worker)
        killer.start()
        done = lowtide.sweep(scenario, "ray", store=store)
        killer.join()
    finally:
        ray.shutdown()
    assert 0 < killer.at < RUNS, "the grid is too small for a kill in its midst"
    assert done.failed == []
    assert merged(store) == undisturbed


@pytest.mark.parametrize("engine", ["threads", "processes", "dask", "ray"])
def test_a_driver_that_is_killed_goes_on_where_it_was(engine, scenario, undisturbed, tmp_path):
    if engine in ("dask", "ray"):
        pytest.importorskip({"dask": "distributed"}.get(engine, engine))
    store = tmp_path / "store"
    command = [sys.executable, sweep_grid.__file__, engine, str(store), str(scenario)]
    driver = subprocess.Popen(command, start_new_session=True)
    try:
        wait_for(lambda: lines(store) >= 4 or driver.poll() is not None, "results")
    finally:
        # The driver and the workers that it has started.
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    kept = lines(store)
    assert 0 < kept < RUNS, "the grid is too small for a kill in its midst"
    done = lowtide.sweep(scenario, store=store)
    assert RUNS - kept <= done.made < RUNS
    assert merged(store) == undisturbed


def test_what_is_wrong_is_told_before_anything_runs(scenario, tmp_path):
    for grid, options, part in [
        (scenario.with_name("nothing.toml"), {}, "nothing.toml"),
        ({"link": {"rat": "1mbit"}}, {}, "rat"),
        (scenario, {"executor": 3}, "executor: must be None"),
        (scenario, {"host": "nobody"}, "host: "),
        (scenario, {"vary": {"link.bufer": ["1bdp"]}}, "did you mean"),
        (3, {}, "grid: must be"),
        (
            {"link": {"rate": "5mbit"}, "flows": [{"controller": lowtide.Controller}]},
            {},
            "Controller is Python's.*lowtide.run",
        ),
        (scenario, {"vary": {"flows.controller": [lowtide.Controller]}}, "Controller is Python's"),
    ]:
        with pytest.raises(lowtide.InputError, match=part):
            lowtide.sweep(grid, store=tmp_path / "store", **options)
    assert not lines(tmp_path / "store")


def test_a_run_that_fails_is_told_and_costs_no_other(tmp_path):
    # Cubic has no such phase.
    grid = {
        "link": {"rate": "5mbit"},
        "run": {"duration": "2s"},
        "flows": [{"controller": "bbr"}],
        "trigger": {"phase": "Drain", "schedule": "0s:4mbit"},
        "sweep": {"flows.controller": ["bbr", "cubic"]},
    }
    with ThreadPoolExecutor(2) as threads:
        for executor in [None, threads]:
            store = tmp_path / type(executor).__name__
            with pytest.raises(lowtide.RunError, match="cubic, seed 1") as raised:
                lowtide.sweep(grid, executor, store=store)
            result = raised.value.result
            assert list(result["controller"]) == ["bbr"]
            assert len(result.failed) == 1


def test_the_examples_for_clusters_are_right(tmp_path):
    yaml = pytest.importorskip("yaml")
    pytest.importorskip("distributed")
    pytest.importorskip("pandas")
    examples = Path(__file__).parents[3] / "examples" / "cluster"
    job = yaml.safe_load((examples / "kubernetes-job.yaml").read_text())["spec"]
    (container,) = job["template"]["spec"]["containers"]
    assert job["completionMode"] == "Indexed"
    # What the last index makes of its command; that it runs is tested beside the command line.
    assert f"+ 1))/{job['completions']}\"" in container["command"][2]
    command = [sys.executable, str(examples / "sweep_on_dask.py")]
    for made in ["36 of 36", "0 of 36"]:
        said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        assert f"{made} runs were made now" in said.stdout
        assert "rbbr" in said.stdout
