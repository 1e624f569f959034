"""Classes under whose name the original has a module as well.

``trip_kinematics.Robot`` is a module of the original with a class `Robot` in it. Programs write
``from trip_kinematics import Robot`` for the one and ``trip_kinematics.Robot.Robot`` for the other.
Here the name in the package is the class, which also finds what its module lists in ``__all__``.
"""

from __future__ import annotations

import sys
from typing import Any


class NamesOfModule(type):
    """The class of classes that stand for their module; instances see nothing of it."""

    def __getattr__(cls, name: str) -> Any:
        module = sys.modules[cls.__module__]
        if name in getattr(module, "__all__", ()):
            return getattr(module, name)
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
