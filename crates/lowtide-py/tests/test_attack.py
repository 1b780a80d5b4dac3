"""`lowtide.attack`: the command line's findings, as tables and as a suite."""

import datetime
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import lowtide

ASKED = {"goal": "throughput", "reference": "cubic", "budget": 32, "most": 1, "seed": 3}


@pytest.fixture(scope="module")
def found():
    return lowtide.attack(["copa", "bbr"], jobs=2, **ASKED)


class Stubborn(lowtide.Controller):
    """A window of ten packets, whatever happens."""

    def on_ack(self, ack):
        self.cwnd = 10 * self.config.max_datagram


class Faulty(lowtide.Controller):
    def on_ack(self, ack):
        raise ValueError("as it must")


def test_findings_are_those_of_the_command_line(found):
    flags = [part for name, value in ASKED.items() for part in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "lowtide", "attack", "--cc", "copa,bbr", *flags, "--jobs", "1", "--json"]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.stdout, told.stderr
    assert json.loads(found.json()) == json.loads(told.stdout)


def test_findings_are_a_table_and_their_transfer_a_second(found):
    known = json.loads(found.json())["results"]
    findings = [finding for each in known for finding in each["findings"]]
    assert findings and len(found) == len(findings)
    assert list(found["value"]) == [finding["score"] for finding in findings]
    assert found["case"] == [finding["id"] for finding in findings]
    assert set(found["tried"]) == {32} and set(found["limit"]) == {0.2} and set(found["reference"]) == {"cubic"}
    assert all(f"--rtt {finding['path']['rtt']}" in flags for finding, flags in zip(findings, found["flags"]))
    for name in ("copa", "bbr"):
        values = [dict(finding["controllers"])[name] for finding in findings]
        assert list(found.transfer[f"value_{name}"]) == values
    assert found.searches["controller"] == ["copa", "bbr"]
    assert list(found.searches["findings"]) == [len(each["findings"]) for each in known]
    assert len(found.to_pandas()) == len(found.to_polars()) == len(found)
    assert "copa, throughput: worst" in repr(found) and found["case"][0] in found._repr_html_()


def test_what_is_saved_is_a_suite_on_which_the_controller_fails(found, tmp_path):
    case = found["case"][0]
    folder = found.save(tmp_path / "found")
    assert (folder / f"{case}.toml").read_text() == found["scenario"][0]
    scores = lowtide.score("copa", suites=folder, cases=case)
    assert list(scores["verdict"]) == ["fail"] and list(scores["value"]) == [found["value"][0]]


def test_a_controller_of_ones_own_is_attacked_like_any_other():
    found = lowtide.attack([Stubborn, "bbr"], goal=["throughput"], reference="cubic", budget=32, most=1, jobs=2)
    assert found["controller"][0] == "Stubborn"
    assert found.transfer["value_Stubborn"][0] == found["value"][0] > 0.2
    with pytest.raises(lowtide.InputError, match="output: Stubborn is Python's"):
        lowtide.attack(Stubborn, budget=32, output="kept")


def test_what_a_controller_raises_is_told_with_the_findings():
    with pytest.raises(lowtide.RunError, match="Faulty.on_ack") as caught:
        lowtide.attack(Faulty, goal="throughput", reference="cubic", budget=32, most=1)
    assert isinstance(caught.value.__cause__, ValueError)
    assert list(caught.value.result["value"]) == [1.0]


def test_a_call_goes_on_from_what_is_kept_and_tells_its_progress(found, tmp_path):
    told = []
    asked = ASKED | {"most": 0, "output": tmp_path, "progress": lambda *now: told.append(now)}
    first = lowtide.attack("copa,bbr", **asked)
    assert list(first.searches["worst"]) == list(found.searches["worst"])
    lines = [path.read_text() for path in sorted(tmp_path.iterdir())]
    assert lowtide.attack("copa,bbr", **asked).json() == first.json()
    # Nothing was tried again.
    assert len(lines) == 2 and lines == [path.read_text() for path in sorted(tmp_path.iterdir())]
    assert told[-1] == (64, 64)


def test_time_is_a_budget():
    told = []
    found = lowtide.attack(
        "copa", goal="loss", budget=datetime.timedelta(seconds=1), most=0, progress=lambda *now: told.append(now)
    )
    assert found.searches["tried"][0] >= 32 and told[-1] == (1, 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"goal": "slowness"}, "goal: there is no goal 'slowness'; known are throughput"),
        ({"goal": []}, "goal: name at least one"),
        ({"goal": 3}, "goal: must be a name"),
        ({"world": "moon"}, "world: there is no world 'moon'; known are cellular"),
        ({"world": 3}, "world: must be a name"),
        ({"method": "luck"}, "method: there is no method 'luck'; known are elites"),
        ({"reference": "ebb"}, "reference: ebb cannot be held against itself"),
        ({"reference": "nobody"}, "reference: "),
        ({"reference": Stubborn}, "reference: must be a name"),
        ({"host": "train"}, "host: "),
        ({"budget": "much"}, "budget: must be a number of networks, as in 2000, or a time"),
        ({"budget": 0}, "budget: "),
        ({"budget": -1}, "budget: "),
        ({"budget": datetime.timedelta(seconds=-1)}, "budget: "),
        ({"seed": -1}, "seed: must be a whole number"),
        ({"most": "few"}, "most: must be a whole number"),
        ({"jobs": -1}, "jobs: must be a whole number"),
    ],
)
def test_what_is_wrong_is_named(wrong, message):
    with pytest.raises(lowtide.InputError) as caught:
        lowtide.attack("ebb", **wrong)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("controllers", "message"), [("nobody", "controllers: "), ([], "controllers: name at least one")])
def test_who_is_wrong_is_named(controllers, message):
    with pytest.raises(lowtide.InputError, match=message):
        lowtide.attack(controllers)


def test_ctrl_c_ends_a_search():
    # What a shell runs in the background ignores it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            lowtide.attack("ebb", goal="all", budget="60m", jobs=1)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
