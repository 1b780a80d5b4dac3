"""`compare` and `simulate`: the command line's numbers, options and messages."""

import datetime
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import lowtide
from lowtide import Flow, Link, Path, Trace


def command(*arguments, **kwargs):
    """The wheel's own command."""
    return subprocess.run(
        [sys.executable, "-m", "lowtide", *map(str, arguments)], capture_output=True, text=True, **kwargs
    )


@pytest.fixture(scope="session")
def trace_file(tmp_path_factory):
    """A trace of three seconds."""
    path = tmp_path_factory.mktemp("trace") / "made.csv"
    Trace.generate("4g", duration="3s", seed=7).save(path)
    return path


SCENARIOS = {
    "default": ({"duration": "2s"}, ["--duration", "2s"]),
    "rate": (
        {"rate": "20mbit", "rtt": "20ms", "buffer": "2bdp", "loss": "0.1%", "duration": "3s", "seeds": 2},
        ["--rate", "20mbit", "--rtt", "20ms", "--buffer", "2bdp", "--loss", "0.1%", "--duration", "3s", "--seeds", "2"],
    ),
    "flows": (
        {"rate": "20mbit", "flows": 3, "stagger": "500ms", "queue": "codel", "duration": "3s", "transport": "tcp"},
        "--rate 20mbit --flows 3 --stagger 500ms --queue codel --duration 3s --transport tcp".split(),
    ),
    "both ways": (
        {"rate": "20mbit", "reverse_rate": "5mbit", "reverse_cc": "cubic", "jitter": "5ms", "duration": "2s"},
        "--rate 20mbit --reverse-rate 5mbit --reverse-cc cubic --jitter 5ms --duration 2s".split(),
    ),
    "media": ({"scenario": "media", "duration": "3s"}, "--scenario media --duration 3s".split()),
    "noq": ({"rate": "10mbit", "host": "noq", "duration": "2s"}, "--rate 10mbit --host noq --duration 2s".split()),
    "quic": ({"rate": "10mbit", "host": "quic", "duration": "2s"}, "--rate 10mbit --host quic --duration 2s".split()),
}


def assert_same(result, arguments):
    told = command("compare", *arguments, "--json", "--no-timing")
    assert told.returncode == 0, told.stderr
    assert json.loads(result.json()) == json.loads(told.stdout)
    # JSON's numbers are exact; so are the table's.
    objects = json.loads(told.stdout)
    objects = objects if isinstance(objects, list) else [objects]
    entries = [entry for each in objects for entry in each["results"]]
    for name in ("throughput_mbps", "rtt_ms.p95", "queue_delay_ms.mean", "power"):
        for entry, value in zip(entries, result.table[name.replace(".", "_")], strict=True):
            for part in name.split("."):
                entry = entry[part]
            assert (np.isnan(value) and entry is None) or entry == value, name


@pytest.mark.parametrize("name", SCENARIOS)
def test_numbers_are_those_of_the_command_line_to_the_bit(name):
    options, arguments = SCENARIOS[name]
    controllers = ["ebb", "cubic"]
    result = lowtide.compare(controllers, **options)
    assert_same(result, ["--cc", "ebb,cubic", *arguments])


def test_traces_are_the_same_as_files_and_as_values(trace_file):
    arguments = ["--cc", "bbr", "--trace", trace_file]
    assert_same(lowtide.compare("bbr", trace=trace_file), arguments)
    assert_same(lowtide.compare("bbr", trace=[trace_file, trace_file]), [*arguments, "--trace", trace_file])
    as_value = lowtide.compare("bbr", trace=Trace.read(trace_file))
    as_section = lowtide.compare("bbr", link=Link(trace=trace_file))
    from_file = lowtide.compare("bbr", trace=trace_file)
    for other in (as_value, as_section):
        for column in from_file.table.columns[1:]:
            np.testing.assert_array_equal(other.table[column], from_file.table[column])


def test_sections_and_short_names_say_the_same():
    short = lowtide.compare("ebb", rate="20mbit", rtt="20ms", loss="1%", flows=2, stagger="1s", duration="3s")
    long = lowtide.compare(
        "ebb",
        link=Link(rate="20mbit"),
        path=Path(rtt=datetime.timedelta(milliseconds=20), loss="1%"),
        flows=[Flow(count=2, every="1s")],
        run={"duration": datetime.timedelta(seconds=3)},
    )
    assert short.json() == long.json()


def test_every_option_of_the_command_line_is_there():
    listed = command("compare", "--help").stdout
    flags = set(re.findall(r"^\s+(?:-\w, )?--([a-z][a-z-]*)", listed, re.MULTILINE))
    # Output has methods of its own; the controllers are the first argument.
    methods = {"report", "figures", "qlog", "qlog-version", "json", "csv", "markdown", "sparklines", "no-timing"}
    methods |= {"figure-size", "figure-format", "figure-font"}
    elsewhere = methods | {"cc", "jobs", "help", "json-file"}
    assert flags >= {"rate", "trace", "qlog"}, listed
    known = {name.replace("_", "-") for name in lowtide._lowtide.OPTIONS}
    assert flags - elsewhere <= known
    assert all(hasattr(lowtide.Comparison, name) for name in ("report", "figures", "qlog", "json"))


@pytest.mark.parametrize(
    ("options", "key", "part"),
    [
        ({"rate": "20"}, "rate", "unit"),
        ({"rate": "20mbit", "schedule": "0s:1mbit"}, "link", "exactly one"),
        ({"rtt": "-3ms"}, "rtt", ""),
        ({"loss": float("nan")}, "loss", ""),
        ({"flows": 0, "rate": "1mbit"}, "flows", "1 to"),
        ({"nonsense": 1}, "nonsense", "no such option"),
        ({"rat": "1mbit"}, "rat", "did you mean 'rate'"),
        ({"trace": "/does/not/exist"}, "trace", "No such file"),
        ({"scenario": "5g"}, "scenario", "known are"),
        ({"duration": "1500min"}, "duration", "24 hours"),
        ({"rate": "1mbit", "reverse_cc": "bbr"}, "", "reverse"),
        ({"rate": object()}, "rate", "says nothing"),
        ({"link": {"rate": "1mbit"}, "rate": "1mbit"}, "rate", "leave one out"),
    ],
)
def test_bad_input_is_named(options, key, part):
    with pytest.raises(lowtide.InputError) as caught:
        lowtide.compare("ebb", **options)
    message = str(caught.value)
    assert message.startswith(key), message
    assert part in message
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, lowtide.Error)


def test_messages_are_those_of_the_command_line():
    told = command("compare", "--cc", "bbbr").stderr.strip()
    with pytest.raises(lowtide.InputError) as caught:
        lowtide.compare("bbbr")
    assert told.split("--cc: ")[1] == str(caught.value).split("controllers: ")[1]


def test_tables_go_to_pandas_polars_and_arrow():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    result = lowtide.compare("ebb,cubic", rate="10mbit", duration="1s")
    frame = result.to_pandas()
    assert list(frame.columns) == result.table.columns
    assert set(frame.controller) >= {"ebb", "cubic", "oracle"}
    other = result.to_polars()
    assert other["throughput_mbps"].to_list() == list(result.table["throughput_mbps"])
    table = pyarrow.table(result)
    assert table.num_rows == len(result) == len(frame)
    assert table.schema.field("controller").type == pyarrow.string()
    assert pandas and polars


def test_reports_figures_and_qlogs_are_written(tmp_path):
    result = lowtide.compare("ebb", rate="10mbit", duration="1s")
    assert result.report(tmp_path / "out").read_text().startswith("<!doctype html>")
    result.figures(tmp_path / "figures")
    assert (tmp_path / "figures" / "rtt.svg").exists()
    (log,) = result.qlog(tmp_path / "qlog")
    assert log.stat().st_size > 1000
    html = result._repr_html_()
    assert "<table>" in html and "<iframe" in html and "ebb" in html
    without = lowtide.compare("ebb", rate="10mbit", duration="1s", over_time=False)
    with pytest.raises(lowtide.InputError, match="over_time"):
        without.report(tmp_path / "nothing")
    assert "<iframe" not in without._repr_html_()


def test_one_run_over_time():
    run = lowtide.simulate("ebb", rate="10mbit", rtt="40ms", duration="4s")
    assert abs(run.metrics["throughput_mbps"] - run.total["throughput_mbps"].mean()) < 0.2
    assert (run.total["time_s"][1] - run.total["time_s"][0]) == pytest.approx(run.bin_s)
    assert np.nanmin(run.flows[0].series["rtt_ms_min"]) >= 40
    assert run.link["capacity_mbps"][-1] == pytest.approx(10, rel=0.01)
    phases = [name for _, name in run.flows[0].phases]
    assert len(phases) > 3
    both = lowtide.simulate(rate="10mbit", duration="3s", flows=[Flow(controller="ebb"), Flow(controller="cubic")])
    assert [flow.name for flow in both.flows] == ["ebb", "cubic"]
    with pytest.raises(lowtide.InputError, match="seeds"):
        lowtide.simulate("ebb", seeds=2)
