"""Low-latency congestion control on links whose capacity changes, and the lab that proves it."""

from ._lowtide import __version__

__all__ = ["__version__"]
