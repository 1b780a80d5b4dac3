"""Environments: Gymnasium's own check, seeds, rewards, and an agent that is worth something."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

import lowtide.gym
from lowtide.examples import agent
from lowtide.gym import FEATURES, STEP, Env, VectorEnv

LINK = dict(scenario="4g", duration="1s")


@pytest.mark.parametrize("steer", ["rate", "window"])
@pytest.mark.parametrize("relative", [True, False])
def test_gymnasiums_check_passes(steer, relative):
    check_env(Env(steer=steer, relative=relative, history=3, **LINK), skip_render_check=True)


def test_an_environment_is_made_by_its_name_and_ends_with_its_simulation():
    env = gymnasium.make("lowtide/Link-v0", interval=0.1, **LINK)
    observed, info = env.reset(seed=1)
    assert observed.shape == (len(FEATURES),) and set(info) == set(STEP.names)
    ends = [env.step(env.action_space.sample())[3] for _ in range(10)]
    assert ends == [False] * 9 + [True]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step([0.0])


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_environments_side_by_side_are_those_one_by_one(mode):
    many = VectorEnv(3, threads=2, autoreset_mode=mode, links=[dict(rate="4mbit"), dict(scenario="4g")], duration="1s")
    one = [Env(links=[dict(rate="4mbit"), dict(scenario="4g")], duration="1s") for _ in range(3)]
    observed, _ = many.reset(seed=7)
    alone = [env.reset(seed=7 + n)[0] for n, env in enumerate(one)]
    np.testing.assert_array_equal(observed, alone)
    random = np.random.default_rng(3)
    for _ in range(45):
        actions = random.uniform(-1, 1, (3, 1))
        if mode == AutoresetMode.DISABLED and many._over.any():
            observed, _ = many.reset(options={"reset_mask": many._over.copy()})
            alone = [env.reset()[0] for env in one]
        elif mode == AutoresetMode.NEXT_STEP and many._over.any():
            observed, *_ = many.step(actions)
            alone = [env.reset()[0] for env in one]
        else:
            observed, rewards, _, truncated, _ = many.step(actions)
            steps = [env.step(action) for env, action in zip(one, actions)]
            alone = [step[0] for step in steps]
            np.testing.assert_array_equal(rewards, [step[1] for step in steps])
            np.testing.assert_array_equal(truncated, [step[3] for step in steps])
            if mode == AutoresetMode.SAME_STEP and truncated.any():
                alone = [env.reset()[0] for env in one]
        np.testing.assert_array_equal(observed, alone)


def test_seeds_choose_the_link_and_repeat_it():
    env = Env(links=[dict(rate="2mbit"), dict(rate="50mbit")], duration="1s")
    capacity = lambda seed: [env.reset(seed=seed), env.step([0.0])][1][4]["mean_capacity"]
    found = [capacity(seed) for seed in range(12)]
    assert set(np.round(found)) == {250_000, 6_250_000}
    assert found == [capacity(seed) for seed in range(12)]


def test_the_reward_is_the_callers():
    env = VectorEnv(2, reward=lambda step: step["bytes_acked"], **LINK)
    env.reset(seed=1)
    for _ in range(5):
        _, rewards, _, _, infos = env.step(np.zeros((2, 1)))
    np.testing.assert_array_equal(rewards, infos["bytes_acked"])
    assert (rewards > 0).all()
    wrong = Env(reward=lambda step: np.nan, **LINK)
    wrong.reset(seed=1)
    with pytest.raises(ValueError, match="finite numbers"):
        wrong.step([0.0])


@settings(max_examples=40, deadline=None)
@given(st.one_of(st.floats(), st.lists(st.floats(), max_size=3), st.none(), st.text(max_size=2)))
def test_whatever_the_action_is_there_is_a_step_or_an_error(action):
    env = Env(**LINK)
    env.reset(seed=1)
    try:
        observed, reward, *_ = env.step(action)
    except (ValueError, TypeError):
        return
    assert env.observation_space.contains(observed) and np.isfinite(reward)


def test_bounds_and_intervals_that_make_no_sense_are_refused():
    for wrong in (dict(rates=(0, 1)), dict(windows=(5, 5)), dict(interval=float("nan")), dict(history=0), dict(steer="x")):
        with pytest.raises(ValueError):
            Env(**wrong, **LINK)


def test_the_trained_agent_beats_the_best_constant_window_on_links_it_has_not_seen():
    assert agent.main() == 0
