"""Scenarios, frontiers and scorecards: the command line's numbers."""

import json
import subprocess
import sys

import pytest

import lowtide
from lowtide import Trace

SCENARIO = {
    "name": "grid",
    "link": {"rate": "5mbit"},
    "path": {"rtt": "20ms"},
    "run": {"duration": "2s", "seeds": 2},
    "flows": [{"controller": "bbr"}, {"controller": "cubic", "start": "500ms"}],
    "sweep": {"link.buffer": ["1bdp", "4bdp"]},
}

TEXT = """
name = "grid"
link = { rate = "5mbit" }
path = { rtt = "20ms" }
run = { duration = "2s", seeds = 2 }
flows = [{ controller = "bbr" }, { controller = "cubic", start = "500ms" }]
sweep = { "link.buffer" = ["1bdp", "4bdp"] }
"""


def command(*arguments):
    told = subprocess.run([sys.executable, "-m", "lowtide", *map(str, arguments)], capture_output=True, text=True)
    assert told.stdout, told.stderr
    return json.loads(told.stdout)


def test_a_scenario_is_the_same_as_file_and_as_dict_and_on_the_command_line(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text(TEXT)
    known = command("run", file, "--json", "--no-timing")
    from_file, from_dict = lowtide.run(file), lowtide.run(SCENARIO)
    assert json.loads(from_file.json()) == json.loads(from_dict.json()) == known
    assert len(from_dict.means) == 2 and len(from_dict) == 4
    assert list(from_dict.means["link.buffer"]) == ["1bdp", "4bdp"]
    varied = lowtide.run(SCENARIO, vary={"path.rtt": ["10ms", "20ms"]}, seeds=1)
    assert len(varied) == 4
    assert from_dict.report(tmp_path / "out").exists()
    assert "<iframe" in from_dict._repr_html_()


def test_traces_of_a_dict_may_be_values():
    trace = Trace.from_arrays([0, 1], [4, 8])
    scenario = {"link": {"trace": trace}, "run": {"duration": "2s"}, "flows": [{"controller": "bbr"}]}
    (rate,) = lowtide.run(scenario).table["throughput_mbps"]
    assert rate == lowtide.simulate("bbr", trace=trace, duration="2s").metrics["throughput_mbps"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link": {"rate": "5"}}, "link.rate: "),
        ({"link": {"rat": "5mbit"}}, "did you mean `rate`"),
        ({"flows": []}, "nobody to send"),
        ({"sweep": {"link.bufer": ["1bdp"]}}, "sweep.link.bufer.0: unknown field"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_what_is_wrong_in_a_dict_is_named_by_its_key(change, message):
    with pytest.raises(lowtide.InputError) as caught:
        lowtide.run(SCENARIO | change)
    assert message in str(caught.value)


def test_a_frontier_is_that_of_the_command_line(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for seed, path in enumerate(paths):
        Trace.generate("4g", duration="3s", seed=seed).save(path)
    known = command(
        "frontier", "--cc", "bbr,ebb:idle=0.02/0.05", "--trace", paths[0], "--trace", paths[1],
        "--rtt", "20ms,40ms", "--json", "--no-timing",
    )  # fmt: skip
    found = lowtide.frontier("bbr,ebb:idle=0.02/0.05", trace=paths, rtt=["20ms", "40ms"])
    assert json.loads(found.json()) == known
    assert len(found.table) == len(known["rows"]) == 6
    assert len(found.links) == 12 and len(found.at) == 12
    assert found.report(tmp_path / "out").exists()
    with pytest.raises(lowtide.InputError, match="at: "):
        lowtide.frontier("bbr", trace=paths, at=[-1])


def test_a_scorecard_is_that_of_the_command_line(tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "delay.toml").write_text(
        'case = { title = "short queue", source = "us" }\nlink = { rate = "5mbit", buffer = "10bdp" }\nrun = { duration = "3s" }\n'
        'flows = [{ controller = "candidate" }]\n[[limits]]\nmetric = "delay"\nvalue = "queue_delay_ms.p95"\nat_most = 60\nreason = "it is heard"\nsource = "us"\n'
    )
    known = command("score", "--suite", tmp_path / "suite", "--cc", "ebb,cubic", "--json")
    scores = lowtide.score(["ebb", "cubic"], suites=tmp_path / "suite")
    assert json.loads(scores.json()) == known
    assert list(scores.table["verdict"]) == ["pass", "fail"]
    for count in ("passed", "failed", "undecided", "not_run", "not_applicable"):
        assert list(scores.counts[count]) == [each[count] for each in known["results"]]
    assert [name for name, _, _ in scores.explanations] == ["cubic"]
    assert scores.report(tmp_path / "out").exists()
    assert "junit" in scores.junit() or "<testsuite" in scores.junit()


def test_there_are_lists():
    assert {"ebb", "bbr", "oracle", "noq/cubic"} <= {each["name"] for each in lowtide.controllers()}
    assert {"codel", "droptail"} <= {each["name"] for each in lowtide.queues()}
