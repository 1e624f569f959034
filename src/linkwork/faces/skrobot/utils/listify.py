"""One thing as a list: ``skrobot.utils.listify``."""

from __future__ import annotations

from typing import Any


def listify(x: Any, n: int = 1) -> list[Any]:
    """A list as it is, and anything else as a list of it, ``n`` times."""
    return x if isinstance(x, list) else [x] * n
