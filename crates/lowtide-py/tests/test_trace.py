"""Traces in memory and as files."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lowtide
from lowtide import Trace


def test_what_is_saved_is_read_again(tmp_path):
    trace = Trace.from_arrays([0.0, 1.0, 2.0], [10.0, 0.0, 5.0], name="steps")
    assert trace.length_s == 3 and trace.mean_mbps == pytest.approx(5, rel=1e-6)
    trace.save(tmp_path / "steps.csv", interval="1s")
    again = Trace.read(tmp_path / "steps.csv")
    for one, other in zip(trace.rates("1s"), again.rates("1s")):
        np.testing.assert_array_equal(one, other)
    trace.save(tmp_path / "steps.down")
    assert Trace.read(tmp_path / "steps.down").length_s == pytest.approx(3, abs=0.01)
    assert repr(trace).startswith("<lowtide.Trace steps: 3 s")


def test_information_is_that_of_the_command_line(tmp_path):
    path = tmp_path / "link.csv"
    Trace.generate("4g-mobility", mean="10mbit", duration="20s", seed=3).save(path)
    told = subprocess.run(
        [sys.executable, "-m", "lowtide", "trace", "info", str(path), "--json"], capture_output=True, check=True
    )
    (known,) = json.loads(told.stdout)
    del known["file"]
    assert Trace.read(path).info() == known


def test_dtypes_and_series_are_taken_as_numbers():
    as_floats = Trace.from_arrays(np.array([0.0, 1.0]), np.array([4.0, 8.0]))
    as_integers = Trace.from_arrays(np.array([0, 1], dtype=np.uint8), np.array([4, 8], dtype=np.int32))
    pandas = pytest.importorskip("pandas")
    as_series = Trace.from_arrays(pandas.Series([0.0, 1.0]), pandas.Series([4.0, 8.0], dtype="float32"))
    results = [
        lowtide.simulate("bbr", trace=trace, duration="2s").metrics for trace in (as_floats, as_integers, as_series)
    ]
    assert results[0] == results[1] == results[2]


def test_opportunities_are_as_in_mahimahis_files(tmp_path):
    (tmp_path / "link.down").write_text("".join(f"{ms}\n" for ms in range(1, 501)))
    from_file = lowtide.simulate("bbr", trace=tmp_path / "link.down", duration="2s")
    from_array = lowtide.simulate("bbr", trace=Trace.from_arrays(opportunities_ms=range(1, 501)), duration="2s")
    assert from_file.metrics == from_array.metrics
    with pytest.raises(lowtide.InputError, match=r"opportunities_ms\[0\]: 1.5 is no whole number"):
        Trace.from_arrays(opportunities_ms=[1.5])


@pytest.mark.parametrize(
    "trace",
    [
        Trace.from_arrays([0.0, 0.1, 0.25], [4.0, 8.0, 2.0], name="mine"),
        Trace.from_arrays(opportunities_ms=range(1, 501)),
        Trace.generate("4g", duration="2s", seed=3),
    ],
)
def test_a_pickled_trace_is_the_same_trace(trace):
    again = pickle.loads(pickle.dumps(trace))
    assert repr(again) == repr(trace)
    assert again.info() == trace.info()
    runs = [lowtide.simulate("bbr", trace=one, duration="2s").metrics for one in (trace, again)]
    assert runs[0] == runs[1]


def test_what_is_no_pickled_trace_is_bad_input():
    restored, (name, key, kind, more, numbers) = Trace.from_arrays([0.0, 1.0], [1.0, 2.0]).__reduce__()
    for state in [(name, "x", kind, more, numbers), (name, key, "y", more, numbers), (name, key, kind, more, b"")]:
        with pytest.raises(lowtide.InputError, match="a pickled trace"):
            restored(*state)
