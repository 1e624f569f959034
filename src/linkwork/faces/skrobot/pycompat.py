"""The libraries installed beside the face: ``skrobot.pycompat``."""

from __future__ import annotations

import platform
from importlib.util import find_spec

HAS_JAX = find_spec("jax") is not None
"""Whether JAX is installed."""


def has_jax() -> bool:
    """Whether JAX is installed."""
    return HAS_JAX


def is_wsl() -> bool:
    """Whether this is Linux within Windows."""
    return "microsoft" in platform.uname().release.lower()
