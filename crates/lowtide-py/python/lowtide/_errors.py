"""What this package raises. Messages are those of the command line."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Whatever goes wrong in this package."""

    __module__ = "lowtide"


class InputError(Error, ValueError):
    """What was given is wrong; the message names the key and says what would be right."""

    __module__ = "lowtide"


class RunError(Error, RuntimeError):
    """A run or a write failed."""

    __module__ = "lowtide"

    #: What did not fail, where there is such a thing; nothing that was computed is lost.
    result: Any = None
