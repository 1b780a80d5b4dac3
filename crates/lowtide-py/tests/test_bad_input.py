"""Whatever is given: a clear error, and no crash."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lowtide
from lowtide import Flow, Link, Path, Trace

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=5)
    | st.timedeltas()
    | st.sampled_from(["20mbit", "-1mbit", "NaN", "inf", "0", "1e309mbit", "2bdp", "40ms", "0.1%", "101%", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)


def keys(section):
    return st.sampled_from([field.name for field in dataclasses.fields(section)])


@pytest.mark.parametrize("section", [Link, Path, Flow])
def test_sections_take_what_is_right_and_name_what_is_wrong(section):
    @given(keys(section), values)
    @settings(max_examples=300, deadline=None)
    def check(key, value):
        try:
            section(**{key: value})
        except lowtide.InputError as error:
            assert key in str(error)

    check()


@given(st.dictionaries(st.sampled_from(list(lowtide._lowtide.OPTIONS)) | st.text(max_size=8), values, max_size=3))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_options_end_in_a_result_or_a_clear_error(options):
    options.pop("controllers", None)
    # What is right would be run.
    options["duration"] = "0s"
    with pytest.raises((lowtide.InputError, TypeError)):
        lowtide.simulate("cubic", **options)


numbers = st.floats() | st.integers(-(2**70), 2**70) | st.sampled_from([math.nan, math.inf, -1.0, 1e300])
arrays = st.lists(numbers, max_size=6) | st.just(np.zeros((2, 2))) | st.just(np.array(["a"])) | st.none() | values


@given(arrays, arrays)
@settings(max_examples=300, deadline=None)
def test_traces_of_arrays_are_links_or_clear_errors(times, rates):
    try:
        trace = Trace.from_arrays(times, rates)
    except lowtide.InputError as error:
        assert str(error)
        return
    assert trace.length_s > 0 and trace.mean_mbps >= 0


@given(arrays)
@settings(max_examples=200, deadline=None)
def test_opportunities_are_links_or_clear_errors(times):
    try:
        trace = Trace.from_arrays(opportunities_ms=times)
    except lowtide.InputError as error:
        assert str(error)
        return
    assert trace.length_s > 0


@pytest.mark.parametrize(
    ("times", "rates", "message"),
    [
        ([0, 1], [1], "time_s[1]: there are 2 times and 1 rates"),
        ([0, 1], [1, math.nan], "rate_mbps[1]: NaN is no rate"),
        ([0, 1], [1, -2], "rate_mbps[1]: -2 is no rate"),
        ([0, 0], [1, 2], "time_s[1]: 0 is not later"),
        ([1, 2], [1, 2], "time_s[0]: the first time must be 0"),
        ([0, 1], [0, 0], "never above zero"),
        ([], [], "no entries"),
        (["a"], [1], "time_s: must be an array of numbers"),
        (np.zeros((2, 2)), [1], "time_s: must have one dimension"),
        (np.array([0, 1], dtype=bool), [1, 2], "not of bool"),
        (np.array([0, 1], dtype=complex), [1, 2], "not of complex"),
    ],
)
def test_arrays_that_are_no_trace(times, rates, message):
    with pytest.raises(lowtide.InputError) as caught:
        Trace.from_arrays(times, rates)
    assert message in str(caught.value)


@pytest.mark.parametrize("jobs", [-1, 1.5, "two", None])
def test_a_number_of_threads_that_is_none(jobs):
    for call in (lowtide.compare, lowtide.frontier, lowtide.score):
        with pytest.raises(lowtide.InputError, match="jobs: must be a whole number of threads"):
            call(["cubic"], jobs=jobs)
