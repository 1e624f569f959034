"""The names of scikit-robot over Linkwork: ``import linkwork.faces.skrobot as skrobot``.

Programs written for scikit-robot run unchanged after ``linkwork.faces.install("skrobot")``, or by
``linkwork run --as skrobot program.py``. What is different stands in ``parity.toml``. Submodules
are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from linkwork.faces.refusals import refusing

__version__ = "0.4.7"
"""The version of the original whose names are here."""

_SUBMODULES = ("coordinates", "data", "model", "models", "planner", "sdf", "utils", "viewers")

__all__ = [  # noqa: PLE0604  the submodules, by __getattr__
    "__version__",
    *_SUBMODULES,  # pyright: ignore[reportUnsupportedDunderAll]
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    return refusing(__name__)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
