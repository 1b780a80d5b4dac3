"""Gymnasium environments: an agent sets the rate or the window of a flow, once an interval.

`Env` is one link, `VectorEnv` many side by side: these step in one call, on threads, without the interpreter.
What the link is, is said as in `lowtide.compare`: `Env(scenario="4g")`, `Env(rate="12mbit", rtt="40ms")`. A link that is
generated is another one in each episode; of several (`traces=[...]`, or `links=[dict(...), ...]` with what differs) each
episode has one. The seed chooses both. Other flows may share the link: the agent's is the first.

**Action**: a number from -1 to 1. With `relative=True` it is a change, `value * 2**action`; otherwise a place between
the bounds, by the logarithm: -1 is the least, 1 the most. What is steered is a pacing rate (`steer="rate"`, bounds
`rates`, bytes a second; whatever is in flight) or a window (`steer="window"`, bounds `windows`, packets).

**Observation**: `FEATURES` of the last `history` intervals, the newest first; each feature is scaled to 0 to 1, the trend
to -1 to 1. What a sender can know is in them, and nothing else.

**Reward**: a function of the step, an item or an array of `STEP`, which also has what only the simulator knows. It is
written once and serves both classes: `lambda step: step["bytes_acked"] / step["mean_capacity"]`.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from ._lowtide import Episodes

__all__ = ["Env", "FEATURES", "STEP", "VectorEnv", "utility"]

#: What an interval is observed by, in this order.
FEATURES = (
    "delivered",  # rate of what was acknowledged: place between `rates`, by the logarithm
    "sent",  # rate of what was sent, likewise
    "queueing",  # share of the mean RTT that is beyond the smallest
    "trend",  # of the RTT, seconds a second, -1 to 1
    "lost",  # share of what was lost or acknowledged
    "marked",  # share of the acknowledged packets that were marked
    "inflight",  # packets: place between 1 and 65,536, by the logarithm
    "steered",  # the rate or window in force: place between its bounds
    "min_rtt",  # smallest RTT of the episode: place between 1 ms and 10 s, by the logarithm
    "silent",  # 1 where no RTT sample came: "queueing" and "trend" are older then
)

#: What a step is measured by: bytes, seconds, bytes a second. `rtt` is the mean, or the last known one; `steered` is the
#: rate in force, or the window in packets. `capacity` (what the link could carry in the interval, bytes),
#: `mean_capacity` (of the episode, bytes a second) and `base_rtt` are the simulator's knowledge.
STEP = np.dtype(Episodes.measured)

Reward = Callable[[Any], Any]


def utility(step: Any) -> Any:
    """Share of the mean capacity that was delivered, less the shares that are lost and that wait.

    1 is a full link without queue or loss; a queue as long as the propagation delay costs one half.
    """
    delivered = step["bytes_acked"] / (step["mean_capacity"] * step["interval"])
    waiting = 1 - np.minimum(step["base_rtt"] / step["rtt"], 1)
    handled = step["bytes_acked"] + step["bytes_lost"]
    lost = step["bytes_lost"] / np.maximum(handled, 1)
    return delivered - waiting - lost


class _Core:
    """What both kinds of environment have."""

    def __init__(
        self,
        count: int,
        steer: str,
        relative: bool,
        rates: tuple[float, float],
        windows: tuple[float, float],
        interval: float,
        history: int,
        reward: Reward | None,
        threads: int,
        links: Sequence[Mapping[str, Any]] | None,
        options: dict[str, Any],
    ) -> None:
        if steer not in ("rate", "window"):
            raise ValueError(f'steer must be "rate" or "window", not {steer!r}')
        described = [options] if links is None else [options | dict(link) for link in links]
        self.episodes = Episodes(
            described, count, steer == "rate", relative, rates, windows, interval, history, threads
        )
        self.reward = utility if reward is None else reward
        least = np.tile(np.where(np.array(FEATURES) == "trend", -1, 0), history).astype(np.float32)
        self.observation_space = gymnasium.spaces.Box(least, np.ones_like(least), dtype=np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def drawn(self, random: np.random.Generator) -> tuple[int, int]:
        """An episode: which link, and its seed."""
        return int(random.integers(self.episodes.links)), int(random.integers(2**63))

    def rewards(self, steps: np.ndarray) -> np.ndarray:
        given = np.asarray(self.reward(steps), dtype=np.float64)
        if given.shape != steps.shape or not np.isfinite(given).all():
            raise ValueError(f"the reward of {steps.shape} steps must be as many finite numbers, not {given!r}")
        return given

    @staticmethod
    def steps(measured: np.ndarray) -> np.ndarray:
        return measured.view(STEP)[:, 0]


class Env(gymnasium.Env):
    """A flow over a link; an episode lasts as long as the simulation (`duration`), and is truncated then."""

    metadata = {"render_modes": []}

    def __init__(
        self,
        *,
        steer: str = "rate",
        relative: bool = True,
        rates: tuple[float, float] = (12_500.0, 125_000_000.0),
        windows: tuple[float, float] = (2.0, 10_000.0),
        interval: float = 0.05,
        history: int = 1,
        reward: Reward | None = None,
        links: Sequence[Mapping[str, Any]] | None = None,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        self.render_mode = render_mode
        self._core = _Core(1, steer, relative, rates, windows, interval, history, reward, 1, links, options)
        self.observation_space = self._core.observation_space
        self.action_space = self._core.action_space
        self._runs = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        observed, measured, _ = self._core.episodes.reset([self._core.drawn(self.np_random)])
        self._runs = True
        return observed[0], _info(self._core.steps(measured)[0])

    def step(self, action):
        if not self._runs:
            raise gymnasium.error.ResetNeeded("the episode is over, or has not begun: call reset()")
        actions = np.asarray(action, dtype=np.float64).reshape(-1)
        observed, measured, over = self._core.episodes.step(actions)
        steps = self._core.steps(measured)
        self._runs = not over[0]
        reward = float(self._core.rewards(steps)[0])
        return observed[0], reward, False, over[0], _info(steps[0])


def _info(step: np.void) -> dict[str, float]:
    return dict(zip(STEP.names, step.tolist()))


class VectorEnv(gymnasium.vector.VectorEnv):
    """`num_envs` flows, each over a link of its own, stepped in one call on `threads` threads (0: one a core).

    An environment of seed `s` has the same episodes as an `Env` of that seed. Which of Gymnasium's ways it takes to
    begin the next episode is `autoreset_mode`.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        steer: str = "rate",
        relative: bool = True,
        rates: tuple[float, float] = (12_500.0, 125_000_000.0),
        windows: tuple[float, float] = (2.0, 10_000.0),
        interval: float = 0.05,
        history: int = 1,
        reward: Reward | None = None,
        links: Sequence[Mapping[str, Any]] | None = None,
        threads: int = 0,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        self._core = _Core(num_envs, steer, relative, rates, windows, interval, history, reward, threads, links, options)
        self.num_envs = num_envs
        self.single_observation_space = self._core.observation_space
        self.single_action_space = self._core.action_space
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": autoreset_mode}
        self._autoreset = autoreset_mode
        self._random: list[np.random.Generator] = []
        self._over = np.ones(num_envs, dtype=bool)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None):
        if seed is not None or not self._random:
            seeds = [seed + n if seed is not None else None for n in range(self.num_envs)] if (
                seed is None or isinstance(seed, (int, np.integer))
            ) else list(seed)
            if len(seeds) != self.num_envs:
                raise ValueError(f"{self.num_envs} environments, and {len(seeds)} seeds")
            made = [gymnasium.utils.seeding.np_random(None if s is None else int(s))[0] for s in seeds]
            self._random = [
                old if s is None and self._random else new
                for s, new, old in zip(seeds, made, self._random or made)
            ]
        mask = np.ones(self.num_envs, dtype=bool)
        if options and options.get("reset_mask") is not None:
            mask = np.asarray(options["reset_mask"], dtype=bool)
        observed, measured = self._begin(mask)
        return observed, _infos(self._core.steps(measured))

    def _begin(self, mask: np.ndarray):
        drawn = [self._core.drawn(random) if new else None for random, new in zip(self._random, mask)]
        observed, measured, _ = self._core.episodes.reset(drawn)
        self._over = self._over & ~mask
        return observed, measured

    def step(self, actions):
        if not self._random or (self._over.any() and self._autoreset != AutoresetMode.NEXT_STEP):
            raise gymnasium.error.ResetNeeded("an episode is over, or none has begun: call reset()")
        flat = np.ascontiguousarray(np.asarray(actions, dtype=np.float64).reshape(-1))
        observed, measured, over = self._core.episodes.step(flat)
        truncated = np.array(over, dtype=bool)
        rewards = self._core.rewards(self._core.steps(measured))
        ended, self._over = self._over, truncated
        infos = _infos(self._core.steps(measured))
        if self._autoreset == AutoresetMode.NEXT_STEP and ended.any():
            # Theirs was the step that begins anew.
            rewards[ended] = 0
            truncated[ended] = False
            self._over = truncated.copy()
            observed, measured = self._begin(ended)
            infos = _infos(self._core.steps(measured))
        elif self._autoreset == AutoresetMode.SAME_STEP and truncated.any():
            infos["final_obs"] = np.array([o if t else None for o, t in zip(observed, truncated)], dtype=object)
            infos["_final_obs"] = truncated.copy()
            observed, measured = self._begin(truncated)
        return observed, rewards, np.zeros(self.num_envs, dtype=bool), truncated, infos


def _infos(steps: np.ndarray) -> dict[str, Any]:
    return {name: steps[name] for name in STEP.names}


gymnasium.register("lowtide/Link-v0", entry_point="lowtide.gym:Env", vector_entry_point="lowtide.gym:VectorEnv")
