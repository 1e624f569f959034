"""The public list of inverse kinematics: everything that there is, and nothing else."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import linkwork.ik as public
import linkwork.solve
from linkwork.solve.limits import Limit
from linkwork.solve.objectives import Objective
from linkwork.solve.tasks import Task


def kinds(base: type) -> set[str]:
    """The names of all subclasses in the library."""
    for module in pkgutil.walk_packages(linkwork.solve.__path__, "linkwork.solve."):
        importlib.import_module(module.name)
    found: set[type] = set()
    waiting = [base]
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        found.update(each for each in below if each.__module__.startswith("linkwork."))
    return {each.__name__ for each in found}


@pytest.mark.parametrize("base", [Task, Limit, Objective])
def test_every_kind_is_public(base):
    assert kinds(base) <= set(public.__all__)
    assert base.__name__ in public.__all__


def test_every_name_is_there_and_sorted():
    assert public.__all__ == sorted(public.__all__)
    for name in public.__all__:
        assert getattr(public, name).__doc__
