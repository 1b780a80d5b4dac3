"""Long work can be watched, and ended."""

import os
import signal
import threading
import time

import pytest

import lowtide


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal: what a shell runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_run_that_would_take_very_long():
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            # Minutes of work in each of its runs.
            lowtide.compare("cubic", rate="1gbit", duration="600min", jobs=1)
    finally:
        timer.cancel()
    # And the next one works.
    assert len(lowtide.compare("cubic", rate="1mbit", duration="1s")) == 3


def test_other_threads_run_meanwhile():
    ticks = []
    ended = threading.Event()

    def tick():
        while not ended.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    lowtide.compare("cubic", rate="100mbit", duration="10s", jobs=1)
    ended.set()
    thread.join()
    assert len(ticks) > 10


def test_progress_is_told_up_to_the_end():
    told = []
    lowtide.compare("cubic", rate="1mbit", duration="1s", progress=lambda *now: told.append(now))
    assert told[-1][0] == told[-1][1]
    assert all(a < b for (a, _), (b, _) in zip(told, told[1:]))


def test_what_progress_raises_ends_the_work():
    def fail(done, total):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        lowtide.compare("cubic", rate="100mbit", duration="60s", progress=fail)
    with pytest.raises(lowtide.InputError, match="progress"):
        lowtide.compare("cubic", rate="1mbit", duration="1s", progress=3)
