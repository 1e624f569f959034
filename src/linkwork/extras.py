"""Packages that an extra installs, imported when they are used."""

from __future__ import annotations

from typing import Any

from linkwork.errors import MissingExtraError


def casadi() -> Any:
    """CasADi, which symbolic expressions are made with.

    Raises: MissingExtraError where it is not installed.
    """
    try:
        import casadi as module  # noqa: PLC0415  loaded on use
    except ImportError as error:
        raise MissingExtraError(
            "symbolic expressions need casadi, which is not installed: "
            "pip install 'linkwork[casadi]'"
        ) from error
    return module
