"""What an interactive session says of the package."""

import inspect
import pickle
import pydoc
import typing

import pytest

import lowtide
from lowtide import _lowtide
from lowtide._options import Options

WITH_OPTIONS = [lowtide.compare, lowtide.simulate, lowtide.frontier, lowtide.steps]
OTHERS = [lowtide.run, lowtide.score, lowtide.attack, lowtide.sweep, lowtide.controllers, lowtide.queues]


@pytest.mark.parametrize("function", WITH_OPTIONS, ids=lambda function: function.__name__)
def test_signature_and_help_have_every_option(function):
    parameters = inspect.signature(function).parameters
    assert set(parameters) >= set(_lowtide.OPTIONS)
    assert parameters["trigger"].kind is inspect.Parameter.KEYWORD_ONLY
    told = pydoc.plain(pydoc.render_doc(function))
    own = [name for name in _lowtide.OPTIONS if f"\n    {name} : " in told]
    # `frontier` has arguments of its own for some.
    assert set(_lowtide.OPTIONS) - set(own) <= {"rtt", "buffer"}
    assert "Round-trip propagation delay" in told or function is lowtide.frontier
    assert "A constant rate" in told and "**options" not in told


@pytest.mark.parametrize("function", WITH_OPTIONS + OTHERS, ids=lambda function: function.__name__)
def test_every_function_says_what_it_does(function):
    assert len(inspect.getdoc(function)) > 40
    assert inspect.signature(function) is not None
    assert pickle.loads(pickle.dumps(function)) is function


def test_keys_of_sections_say_what_they_are():
    for section in (lowtide.Link, lowtide.Path, lowtide.Flow):
        told = inspect.getdoc(section)
        assert all(f"\n{name}: " in told for name in inspect.signature(section).parameters)
    assert "rate: A constant rate" in inspect.getdoc(lowtide.Link)


def test_options_are_typed():
    assert set(Options.__annotations__) == set(_lowtide.OPTIONS)


def test_what_controllers_are_told_can_be_imported_and_annotated():
    def on_ack(ack: lowtide.Ack, loss: lowtide.Loss, sent: lowtide.PacketSent, batch: lowtide.Batch) -> None: ...

    assert all(isinstance(kind, type) for name, kind in typing.get_type_hints(on_ack).items() if name != "return")
    assert "seconds" in lowtide.Ack.rtt.__doc__
    assert set(lowtide.__all__) >= {"Ack", "Batch", "Loss", "Model", "PacketSent", "RateSample", "Timeout"}


def test_arrays_are_called_by_their_name_alone():
    traces = [lowtide.Trace.from_arrays([0, 1], [4, mbps]) for mbps in (8, 6)]
    result = lowtide.compare("ebb", trace=traces, duration="1s")
    assert result.links == ["arrays", "arrays (2)"]


def test_a_column_is_found_by_both_of_its_names():
    run = lowtide.simulate("ebb", rate="5mbit", duration="1s")
    assert run.metrics["rtt_ms_p95"] > 0
    table = lowtide.compare("ebb", rate="5mbit", duration="1s", over_time=False).table
    assert "rtt_ms.p95" in table and list(table["rtt_ms.p95"]) == list(table["rtt_ms_p95"])


def test_figures_have_the_size_and_the_formats_that_are_asked_for(tmp_path):
    result = lowtide.compare("ebb", rate="5mbit", duration="1s")
    result.figures(tmp_path, size="600x300", formats=["svg", "pdf"], font=11)
    assert {path.suffix for path in tmp_path.iterdir()} == {".svg", ".pdf"}
    svg = (tmp_path / "plane.svg").read_text()
    width, height = (int(svg.split(f'{side}="')[1].split('"')[0]) for side in ("width", "height"))
    assert (width, height) == (600, 300)
    with pytest.raises(lowtide.InputError, match="size: "):
        result.figures(tmp_path, size="large")
    with pytest.raises(lowtide.InputError, match="formats: "):
        result.figures(tmp_path, formats=["gif"])


@pytest.mark.skipif("noq/cubic" in {each["name"] for each in lowtide.controllers()}, reason="this build has the stacks")
def test_a_build_without_stacks_says_so():
    with pytest.raises(lowtide.InputError, match="host: .*feature 'stacks'"):
        lowtide.compare("ebb", rate="5mbit", host="noq")
