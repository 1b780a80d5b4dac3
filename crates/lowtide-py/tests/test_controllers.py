"""Controllers written in Python: beside the built-in ones, and what becomes of their mistakes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lowtide
from lowtide.examples.rtt_gain import RTT_GAIN
from lowtide.examples.vegas import Vegas

LINKS = [
    dict(rate="10mbit", rtt="40ms", buffer="1bdp", duration="10s"),
    dict(rate="30mbit", rtt="20ms", buffer="0.3bdp", duration="5s"),
    dict(scenario="4g", loss="1%", duration="10s"),
]
SHORT = dict(rate="10mbit", rtt="20ms", buffer="1bdp", loss="1%", duration="1s", jobs=2, over_time=False)


@pytest.mark.parametrize("link", LINKS)
def test_vegas_in_python_says_at_each_ack_what_the_built_in_one_says(link):
    own, built_in = lowtide.steps(Vegas, **link), lowtide.steps("vegas", **link)
    assert len(own) > 1000
    assert (own["cwnd"] == built_in["cwnd"]).all()
    np.testing.assert_array_equal(own["now"], built_in["now"])


@pytest.mark.parametrize("link", LINKS)
def test_rtt_gain_as_a_part_of_bbr_differs_from_the_built_in_one_by_rounding(link):
    own, built_in = lowtide.steps(RTT_GAIN, **link), lowtide.steps("rtt-gain", **link)
    assert len(own) > 1000
    # Rates are whole bytes a second: one that is a byte off moves what follows by nanoseconds.
    np.testing.assert_allclose(own["now"], built_in["now"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(own["pacing_rate"], built_in["pacing_rate"], rtol=1e-4)
    np.testing.assert_array_equal(own["number"], built_in["number"])
    np.testing.assert_array_equal(own["cwnd"], built_in["cwnd"])


class Fixed(lowtide.BatchController):
    """Twenty packets in flight; its batches must add up."""

    def __init__(self, config, packets=20):
        self.cwnd = self.send_quantum = packets * config.max_datagram

    def on_interval(self, batch):
        assert batch.acks["bytes_acked"].sum() == batch.bytes_acked
        assert batch.losses["bytes"].sum() == batch.bytes_lost
        assert len(batch.acks) == batch.ack_count
        rtts = batch.acks["rtt"][~np.isnan(batch.acks["rtt"])]
        if len(rtts):
            assert rtts.min() == batch.min_rtt and rtts[-1] == batch.last_rtt
            assert rtts.mean() == pytest.approx(batch.mean_rtt)
        assert batch.now > batch.start


def test_a_batch_controller_is_the_window_that_it_keeps():
    options = SHORT | dict(scenario="4g", duration="2s")
    del options["rate"]
    table = lowtide.compare(["window:packets=20", Fixed, "Fixed:packets=40"], **options).to_pandas()
    by_name = table.set_index("controller")
    metrics = ["throughput_mbps", "rtt_ms_p95", "loss_share"]
    assert list(by_name.loc["Fixed", metrics]) == list(by_name.loc["window:packets=20", metrics])
    assert by_name.loc["Fixed:packets=40", "rtt_ms_p95"] > by_name.loc["Fixed", "rtt_ms_p95"]


class Failing(lowtide.Controller):
    def on_ack(self, ack):
        if ack.now > 0.5:
            ack.rtt / 0


def test_an_exception_ends_its_run_with_traceback_time_and_event_and_no_other_run():
    with pytest.raises(lowtide.RunError) as caught:
        lowtide.compare(["cubic", Failing, Fixed], **SHORT)
    text = str(caught.value)
    assert "Failing.on_ack at 0.5" in text
    assert "ack.rtt / 0" in text and "ZeroDivisionError" in text
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    names = set(caught.value.result.to_pandas()["controller"])
    assert {"cubic", "Fixed"} <= names and "Failing" not in names


def test_what_cannot_be_made_is_refused_before_anything_runs():
    class Unready(lowtide.Controller):
        def __init__(self, config):
            raise OSError("no such model")

    with pytest.raises(OSError, match="no such model"):
        lowtide.compare([Unready], **SHORT)
    with pytest.raises(lowtide.InputError, match="unexpected keyword argument 'packts'"):
        lowtide.compare([Fixed, "Fixed:packts=7"], **SHORT)
    with pytest.raises(lowtide.InputError, match="did you mean 'Fixed'"):
        lowtide.compare([Fixed, "Fixd"], **SHORT)
    with pytest.raises(lowtide.InputError, match="derived from lowtide.Controller"):
        lowtide.compare([3.5], **SHORT)
    with pytest.raises(lowtide.InputError, match="must make a lowtide.Controller, and made list"):
        lowtide.compare([lambda config: []], **SHORT)

    class Ebb(lowtide.Controller):
        name = "ebb"

    with pytest.raises(lowtide.InputError, match="there is a controller 'ebb' already"):
        lowtide.compare([Ebb], **SHORT)


ODD = st.one_of(
    st.floats(),
    st.integers(),
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.sampled_from([[], object(), np.float64("nan"), np.array([1.0, 2.0]), 10**400, -math.inf]),
)


def runs_or_fails_with_the_cause(controller):
    try:
        lowtide.simulate(controller, rate="5mbit", rtt="20ms", loss="1%", buffer="1bdp", duration="0.5s")
    except lowtide.RunError as error:
        assert isinstance(error.__cause__, (ValueError, TypeError, OverflowError)), error
        assert "Odd." in str(error) and " s: " in str(error)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["on_packet_sent", "on_ack", "on_loss", "on_wakeup"]),
    st.sampled_from(["cwnd", "pacing_rate", "send_quantum", "next_wakeup", "phase", "min_rtt"]),
    ODD,
)
def test_whatever_a_controller_says_ends_in_results_or_an_error(event, attribute, value):
    class Odd(lowtide.Controller):
        def __init__(self, config):
            self.next_wakeup = 0.2

    setattr(Odd, event, lambda self, *_: setattr(self, attribute, value))
    runs_or_fails_with_the_cause(Odd)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([m for m in dir(lowtide.Policy) if not m.startswith("_")]), ODD)
def test_whatever_a_policy_says_ends_in_results_or_an_error(method, value):
    odd = type("Odd", (lowtide.Policy,), {method: lambda self, *_: value})
    runs_or_fails_with_the_cause(lowtide.Bbr(policy=odd()))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["bandwidth", "next_wakeup", "on_ack"]), ODD)
def test_whatever_an_estimator_says_ends_in_results_or_an_error(method, value):
    own = {"bandwidth": lambda self: 6e5, method: lambda self, *_: value}
    odd = type("Odd", (lowtide.BandwidthEstimator,), own)
    runs_or_fails_with_the_cause(lowtide.Bbr(estimator=odd()))


def test_an_event_that_is_kept_stays_what_it_was():
    kept = []

    class Keeping(lowtide.Controller):
        def on_ack(self, ack):
            kept.append((ack, ack.now))

    lowtide.simulate(Keeping, rate="5mbit", rtt="20ms", duration="0.5s")
    assert len(kept) > 50
    assert all(ack.now == now for ack, now in kept)


def test_runs_of_controllers_in_python_are_the_same_on_any_number_of_threads():
    def table(jobs):
        options = SHORT | dict(jobs=jobs, seeds=3)
        return lowtide.compare([Vegas, RTT_GAIN, Fixed], **options).seeds.to_pandas()

    assert table(1).equals(table(4))


def test_keyboard_interrupt_in_a_controller_ends_the_call():
    class Interrupting(lowtide.Controller):
        def on_ack(self, ack):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lowtide.compare([Interrupting, "cubic"], **SHORT)


def test_controllers_in_python_share_a_link_with_built_in_ones():
    flows = [lowtide.Flow(controller=Fixed), lowtide.Flow(controller="cubic", start="200ms")]
    run = lowtide.simulate(rate="10mbit", rtt="20ms", duration="1s", flows=flows)
    assert [flow.name for flow in run.flows] == ["Fixed", "cubic"]


def test_controllers_in_python_stand_wherever_a_name_does():
    scenario = {"link": {"rate": "10mbit"}, "run": {"duration": "1s"}, "flows": [{"controller": Fixed}]}
    cells = lowtide.run(scenario)
    assert list(cells["controller"]) == ["Fixed"] and "seed" in cells
    options = dict(rate="10mbit", rtt="40ms", duration="2s")
    frontier = lowtide.frontier([Fixed, "bbr"], **options)
    assert set(frontier["controller"]) == {"Fixed", "bbr"}
    scores = lowtide.score([Fixed, "cubic"], suites=["aqm"], seeds=1)
    verdicts = scores.to_pandas().groupby("controller").size()
    assert verdicts["Fixed"] == verdicts["cubic"]
    model = lowtide.simulate(Fixed, **options)
    for host in ["quic", "noq", "quinn"]:
        stack = lowtide.simulate(Fixed, host=host, **options)
        ratio = stack.metrics["goodput_mbps"] / model.metrics["goodput_mbps"]
        assert 0.9 < ratio < 1.1, host
