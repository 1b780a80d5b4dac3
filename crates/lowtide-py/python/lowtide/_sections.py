"""What a simulation is made of: what all sections of a scenario file have as classes.

Values are texts with their unit, as on the command line (``"20mbit"``, ``"40ms"``, ``"0.1%"``), numbers where a
file has numbers, ``datetime.timedelta`` for times, and a :class:`lowtide.Trace` or a path for a trace. What is not
said has a default; ``docs/scenario-files.md`` has every key and its default.
"""

from __future__ import annotations

import os
from dataclasses import fields
from datetime import timedelta
from typing import Any, ClassVar, Union

from . import _lowtide

Time = Union[str, timedelta]
File = Union[str, "os.PathLike[str]"]


class Section:
    """What says keys and values."""

    _name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        # The schema says what keys are; `python -OO` keeps no documentation.
        if cls.__doc__:
            keys = _lowtide.KEYS[cls._name].items()
            cls.__doc__ += "\n\n" + "\n".join(f"{name}: {about}" for name, about in keys)

    def __post_init__(self) -> None:
        _lowtide.check_section(self._name, self._said())

    def _said(self) -> dict[str, Any]:
        own = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return {name: value for name, value in own if value is not None}

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self._said().items())
        return f"{type(self).__name__}({said})"
