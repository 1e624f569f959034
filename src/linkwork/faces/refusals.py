"""Names of older libraries that a face refuses, with what to use in their place.

A face lists them in its module ``refused``: ``REFUSED`` has names by reason. A name that stands for
a module or class refuses what is in it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.table import parents_of

_FACES = "linkwork.faces."


class RefusedNameError(UnsupportedFeatureError, ImportError):
    """A name of an older library that its face does not have; an import of it raises this too."""


@cache
def refused_names(face: str) -> Mapping[str, str]:
    """The reasons of a face's folder by the names that it refuses."""
    try:
        listed: Mapping[str, tuple[str, ...]] = import_module(f"{_FACES}{face}.refused").REFUSED
    except ModuleNotFoundError:
        return {}  # most faces have all names
    return {name: reason for reason, names in listed.items() for name in names}


def refusal(face: str, dotted: str) -> RefusedNameError | None:
    """The error for a name of the older library; None where the face does not list it."""
    reasons = refused_names(face)
    for name in (dotted, *reversed(parents_of(dotted))):
        if name in reasons:
            error = RefusedNameError(
                f"Linkwork's face of {face} has no '{dotted}': {reasons[name]}"
            )
            error.name = dotted
            return error
    return None


def refusing(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of a face: a name that is refused says why.

    Raises, when called: RefusedNameError, and AttributeError for other names.
    """
    old = module.removeprefix(_FACES)
    face = old.partition(".")[0]

    def get(name: str) -> Any:
        raise refusal(face, f"{old}.{name}") or AttributeError(
            f"module '{module}' has no attribute '{name}'"
        )

    return get
