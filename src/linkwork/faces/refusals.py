"""Names of older libraries that a face refuses, with what to use in their place.

A face lists them in its module ``refused``: ``REFUSED`` has names by reason. A name that stands for
a module or class refuses what is in it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from inspect import currentframe
from opcode import opname
from typing import Any

from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.table import parents_of

_FACES = "linkwork.faces."


class RefusedNameError(UnsupportedFeatureError):
    """A name of an older library that its face does not have."""


class RefusedImportError(RefusedNameError, ImportError):
    """The same where the name is imported."""


class RefusedAttributeError(RefusedNameError, AttributeError):
    """The same where it is asked for as an attribute: `hasattr` says no, and so does pickle."""


def is_imported() -> bool:
    """Whether the caller, a module's ``__getattr__``, is asked by ``from module import name``.

    What it raises decides then: of an AttributeError the words would be lost, and everything else
    breaks `hasattr`, and pickle, which asks all modules for a name.
    """
    frame = currentframe()
    frame = frame and frame.f_back
    while frame and frame.f_back and frame.f_code.co_name == "__getattr__":
        frame = frame.f_back
        if opname[frame.f_code.co_code[frame.f_lasti]] == "IMPORT_FROM":
            return True
    return False


@cache
def refused_names(face: str) -> Mapping[str, str]:
    """The reasons of a face's folder by the names that it refuses."""
    try:
        listed: Mapping[str, tuple[str, ...]] = import_module(f"{_FACES}{face}.refused").REFUSED
    except ModuleNotFoundError:
        return {}  # most faces have all names
    return {name: reason for reason, names in listed.items() for name in names}


def refusal(face: str, dotted: str, *, imported: bool = True) -> RefusedNameError | None:
    """The error for a name of the older library; None where the face does not list it."""
    kind = RefusedImportError if imported else RefusedAttributeError
    reasons = refused_names(face)
    for name in (dotted, *reversed(parents_of(dotted))):
        if name in reasons:
            error = kind(f"Linkwork's face of {face} has no '{dotted}': {reasons[name]}")
            error.name = dotted
            return error
    return None


def refusing(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of a face: a name that is refused says why.

    Raises, when called: RefusedNameError, and a plain AttributeError for other names.
    """
    old = module.removeprefix(_FACES)
    face = old.partition(".")[0]

    def __getattr__(name: str) -> Any:
        error = refusal(face, f"{old}.{name}", imported=is_imported())
        raise error or AttributeError(f"module '{module}' has no attribute '{name}'")

    return __getattr__
