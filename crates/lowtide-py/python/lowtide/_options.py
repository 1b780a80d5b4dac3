"""Options: what says at run time which there are and what they are."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Callable, TypeVar

from . import _lowtide
from ._knobs import Options

INTRODUCTION = """\
Options may all be left out. Values are texts with their unit, as on the command line (``"20mbit"``, ``"40ms"``, ``"0.1%"``);
times may be ``datetime.timedelta``.
"""

Function = TypeVar("Function", bound=Callable[..., Any])


def _kind(name: str) -> str:
    """An option's type as it is written above."""
    hint = Options.__annotations__[name]
    return str(getattr(hint, "__forward_arg__", hint))


def _described(name: str) -> str:
    text = textwrap.fill(_lowtide.OPTIONS[name], 100, initial_indent="    ", subsequent_indent="    ")
    return f"{name} : {_kind(name)}\n{text}"


def with_options(function: Function) -> Function:
    """Puts every option into the signature and the documentation of a function that takes them as ``**options``."""
    signature = inspect.signature(function)
    own = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    names = [name for name in Options.__annotations__ if name not in signature.parameters]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]
    function.__signature__ = inspect.Signature(own + options)  # type: ignore[attr-defined]
    # `python -OO` keeps no documentation.
    if function.__doc__:
        parts = [inspect.cleandoc(function.__doc__), INTRODUCTION.strip(), *map(_described, names)]
        function.__doc__ = "\n\n".join(parts)
    return function
