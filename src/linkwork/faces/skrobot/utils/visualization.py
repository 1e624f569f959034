"""A viewer that follows inverse kinematics: ``skrobot.utils.visualization``.

While it does, the documented iteration runs, drawn after each step: the core's solver takes
microseconds, and has no steps to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from linkwork import settings
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.model.inverse_kinematics import FOLLOWING

Hooks = list[Callable[[], Any]]

_ENABLED: ContextVar[bool] = ContextVar("enabled", default=True)


def get_ik_visualization_enabled() -> bool:
    """Whether hooks that are made in this thread draw."""
    return _ENABLED.get()


def set_ik_visualization_enabled(enabled: bool) -> None:
    """Let hooks that are made in this thread from now on draw, or not."""
    _ENABLED.set(bool(enabled))


def create_ik_visualization_hook(
    viewer: Any, sleep_time: float = 0.05, enabled: bool | None = None
) -> Hooks:
    """Functions for ``inverse_kinematics_hook`` that draw, and wait ``sleep_time`` (s).

    None where ``enabled`` is False, or is None and `get_ik_visualization_enabled` is False.
    """
    draws = get_ik_visualization_enabled() if enabled is None else enabled
    return [viewer.redraw, lambda: settings.wait(sleep_time)] if draws else []


def create_custom_ik_hook(*hook_functions: Callable[[], Any], **_kwargs: Any) -> Hooks:
    """These functions as a list, for ``inverse_kinematics_hook``."""
    return list(hook_functions)


def auto_ik_hook() -> Hooks:
    """The functions that draw inside `ik_visualization`; none elsewhere."""
    return list(FOLLOWING.get())


@contextmanager
def ik_visualization(
    viewer: Any = None, sleep_time: float = 0.05, enabled: bool = True
) -> Generator[None]:
    """Draw each step of inverse kinematics in this thread for as long as the block lasts."""
    hooks = create_ik_visualization_hook(viewer, sleep_time, enabled) if viewer is not None else []
    before = _ENABLED.set(bool(enabled)), FOLLOWING.set(tuple(hooks))
    try:
        yield
    finally:
        _ENABLED.reset(before[0])
        FOLLOWING.reset(before[1])


__getattr__ = refusing(__name__)
