"""Low-latency congestion control on links whose capacity changes, and the lab that proves it."""

from ._lowtide import BatchController, Bbr, Config, Controller, __version__
from .controllers import BandwidthEstimator, Policy

__all__ = ["BandwidthEstimator", "BatchController", "Bbr", "Config", "Controller", "Policy", "__version__"]
