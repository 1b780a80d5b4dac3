"""A linear policy over links that it does not know, trained by the cross-entropy method.

The agent sets a window once an interval; eleven weights make its action of what it observes. Whether that is worth
anything is judged on seeds that training has not seen, beside the best constant window of the training seeds.

Run it: `python -m lowtide.examples.agent`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from lowtide.gym import FEATURES, VectorEnv

#: A driver's 4G, in cells of three speeds, near and far: a seed draws one of them and what becomes of it.
LINKS = [
    dict(link=dict(model="4g-mobility", mean=mean, buffer="4bdp"), rtt=rtt, duration="10s")
    for mean in ("4mbit", "12mbit", "36mbit")
    for rtt in ("30ms", "90ms")
]
STEERED = dict(steer="window", windows=(2.0, 400.0), interval=0.05)

#: What a feature is a logarithm of has the weight of its bounds in powers of two: weights of 1 and -1 then make products and
#: quotients, such as a rate times an RTT in windows.
SCALES = np.array(
    [dict(delivered=13.3, sent=13.3, min_rtt=13.3, inflight=16.0, steered=7.6).get(name, 1.0) for name in FEATURES]
    + [1.0]
)


def act(weights: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """The actions of policies (rows), each of what it observes."""
    inputs = np.concatenate([observed, np.ones((len(observed), 1))], axis=1)
    return np.tanh((weights * inputs * SCALES).sum(axis=1))


def mean_rewards(env: VectorEnv, seeds: list[int], act) -> np.ndarray:
    """The mean reward of an episode in each environment."""
    observed, _ = env.reset(seed=seeds)
    total, steps = np.zeros(env.num_envs), 0
    while True:
        observed, rewards, _, truncated, _ = env.step(act(observed))
        total, steps = total + rewards, steps + 1
        if truncated.any():
            return total / steps


def returns(weights: np.ndarray, seeds: list[int]) -> np.ndarray:
    """The mean reward of each policy (a row of `weights`) at each seed."""
    env = VectorEnv(len(weights) * len(seeds), links=LINKS, **STEERED)
    each = np.repeat(weights, len(seeds), axis=0)
    found = mean_rewards(env, seeds * len(weights), lambda observed: act(each, observed))
    return found.reshape(len(weights), len(seeds))


def constant_windows(packets: list[float], seeds: list[int]) -> np.ndarray:
    """The mean reward of each constant window at each seed."""
    env = VectorEnv(len(packets) * len(seeds), links=LINKS, relative=False, **STEERED)
    least, most = STEERED["windows"]
    place = 2 * np.log(np.repeat(packets, len(seeds)) / least) / np.log(most / least) - 1
    return mean_rewards(env, seeds * len(packets), lambda _: place).reshape(len(packets), len(seeds))


def best_window(seeds: list[int]) -> float:
    """The constant window of the highest mean reward, packets."""
    packets = [float(n) for n in np.geomspace(4, 300, 14)]
    return packets[int(constant_windows(packets, seeds).mean(axis=1).argmax())]


def train(seeds: list[int], generations: int = 15, population: int = 32, elite: int = 6, seed: int = 0) -> np.ndarray:
    """The weights that the cross-entropy method ends with."""
    random = np.random.default_rng(seed)
    size = len(FEATURES) + 1
    mean, deviation = np.zeros(size), np.full(size, 0.3)
    for generation in range(generations):
        tried = mean + deviation * random.standard_normal((population, size))
        tried[0] = mean
        # A few of the seeds at a time, another few in each generation.
        some = [seeds[(generation * 4 + n) % len(seeds)] for n in range(4)]
        best = tried[returns(tried, some).mean(axis=1).argsort()[-elite:]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.1 * 0.85**generation
    return mean


def main() -> int:
    training, held_out = list(range(100, 116)), list(range(1000, 1064))
    began = time.perf_counter()
    weights = train(training)
    seconds = time.perf_counter() - began
    packets = best_window(training)
    own, window = returns(weights[None], held_out)[0], constant_windows([packets], held_out)[0]
    print(
        f"{len(held_out)} links not seen in training: mean reward {own.mean():.3f}, a window of {packets:.0f} packets "
        f"{window.mean():.3f}; better on {(own > window).sum()} of them (trained in {seconds:.1f} s)"
    )
    return 0 if own.mean() > window.mean() else 1


if __name__ == "__main__":
    sys.exit(main())
