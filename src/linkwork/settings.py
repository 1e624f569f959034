"""What the surroundings say: cores and environment. Read here and nowhere else."""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

from linkwork.errors import InputError


@cache
def most_threads() -> int:
    """How many threads a long batch takes by itself: LINKWORK_THREADS, or the usable cores.

    Raises: InputError where LINKWORK_THREADS is not a positive whole number.
    """
    given = os.environ.get("LINKWORK_THREADS", "")
    if given:
        if not given.isdecimal() or int(given) < 1:
            raise InputError(f"LINKWORK_THREADS must be a positive whole number, not {given!r}")
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ros_paths() -> tuple[Path, ...]:
    """The folders that ROS looks for packages in: ROS_PACKAGE_PATH, then AMENT_PREFIX_PATH."""
    plain = [Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return (*plain, *[Path(p) / "share" for p in prefixes if p])


def clock() -> float:
    """Seconds from some fixed moment on, for measuring durations."""
    return time.perf_counter()
