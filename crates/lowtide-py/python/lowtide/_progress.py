"""Progress, as callers want it told."""

from __future__ import annotations

import sys
from typing import Any, Callable


def told(progress: Any) -> Callable[[int, int], object] | None:
    """Who is told: nobody, a bar, or the callable that the caller gave."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _bar()
    if callable(progress):
        return progress
    from ._errors import InputError

    raise InputError("progress: must be True, False, or callable with (done, total)")


def _bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Tqdm(tqdm)


class _Tqdm:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=total, unit="run")
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Line:
    """One line on standard error, where there is no tqdm."""

    def __init__(self) -> None:
        self._is_begun = False

    def __call__(self, done: int, total: int) -> None:
        self._is_begun = True
        print(f"\r{done}/{total} runs", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._is_begun:
            print(file=sys.stderr)
