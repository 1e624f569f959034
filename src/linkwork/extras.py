"""Packages that an extra installs, imported when they are used."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from linkwork.errors import MissingExtraError


@contextmanager
def needed(what: str, package: str, extra: str = "") -> Generator[None]:
    """The block that imports ``package``, without which there is no ``what`` ("plots need").

    ``extra``: the extra of linkwork that installs it; the package itself where there is none.

    Raises: MissingExtraError, where it is not installed or cannot be imported.
    """
    try:
        yield
    except ImportError as error:
        raise missing(what, package, extra, error) from error


def missing(
    what: str, package: str, extra: str = "", error: ImportError | None = None
) -> MissingExtraError:
    """The error for a package that is not installed, or that cannot be imported for ``error``."""
    install = f"pip install {package}" if not extra else f"pip install 'linkwork[{extra}]'"
    if error is None or isinstance(error, ModuleNotFoundError):
        return MissingExtraError(f"{what} {package}, which is not installed: {install}")
    return MissingExtraError(f"{what} {package}, which cannot be imported ({error}): {install}")


def casadi() -> Any:
    """CasADi, which symbolic expressions are made with.

    Raises: MissingExtraError where it is not installed.
    """
    with needed("symbolic expressions need", "casadi", "casadi"):
        import casadi as module  # noqa: PLC0415  loaded on use
    return module
