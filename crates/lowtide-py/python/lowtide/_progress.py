"""Progress, as callers want it told."""

from __future__ import annotations

import sys
from typing import Any, Callable


def told(progress: Any, unit: str = "runs") -> Callable[[int, int], object] | None:
    """Who is told: nobody, a bar of what is counted, or the callable that the caller gave."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _bar(unit)
    if callable(progress):
        return progress
    from ._errors import InputError

    raise InputError("progress: must be True, False, or callable with (done, total)")


def _bar(unit: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(unit)
    return _Tqdm(tqdm, unit)


class _Tqdm:
    def __init__(self, tqdm: Any, unit: str) -> None:
        self._tqdm = tqdm
        # It writes the unit behind a number and a stroke: 5.2run/s.
        self._unit = unit.removesuffix("s")
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=total, unit=self._unit)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Line:
    """One line on standard error, where there is no tqdm."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._is_begun = False

    def __call__(self, done: int, total: int) -> None:
        self._is_begun = True
        print(f"\r{done}/{total} {self._unit}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._is_begun:
            print(file=sys.stderr)
