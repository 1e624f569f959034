"""The public list: every name resolves, nothing is imported before it is asked for."""

from __future__ import annotations

import functools
import importlib
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import linkwork as lw

SOURCE = Path(lw.__file__).parent
HEAVY = ("numpy", "casadi", "llvmlite", "lxml", "trimesh", "typer", "rich", "jax", "scipy", "torch")


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", lw.__all__)
def test_every_public_name_resolves(name):
    value = getattr(lw, name)
    assert value is getattr(lw, name)
    if name in lw._MODULES:
        assert value.__name__ == f"linkwork.{name}"
        assert (value.__doc__ or "").strip()
    elif name != "__version__":
        assert value.__module__.startswith("linkwork.")
        home = importlib.import_module(value.__module__)
        assert getattr(home, value.__name__) is value
        assert (value.__doc__ or "").strip()


def test_the_list_is_sorted_and_complete():
    assert lw.__all__ == sorted(lw.__all__)
    assert len(set(lw.__all__)) == len(lw.__all__)
    assert dir(lw) == lw.__all__
    assert {*lw._HOMES, *lw._MODULES, "__version__"} == set(lw.__all__)
    # what type checkers see is the same
    text = (SOURCE / "__init__.py").read_text(encoding="utf-8")
    seen = re.findall(r"^    from linkwork\S* import \w+ as (\w+)$", text, re.MULTILINE)
    assert sorted([*seen, "__version__"]) == lw.__all__


def test_star_import_gives_the_list():
    names = python("from linkwork import *; print(*sorted(k for k in dir() if k[0] != '_'))")
    assert names.split() == [name for name in lw.__all__ if name[0] != "_"]


@pytest.mark.parametrize("name", ["Robots", "fk", "", "__wrapped__", "_private", "a.b"])
def test_an_unknown_attribute_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match="module 'linkwork' has no attribute"):
        getattr(lw, name)
    assert not hasattr(lw, name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Problem", "Finding"),
        ("IKOptions", "ik.Options"),
        ("IKResult", "ik.IKResult"),
        ("InverseKinematics", "ik.InverseKinematics"),
    ],
)
def test_a_name_of_the_last_release_warns_and_names_the_new_one(old, new):
    with pytest.warns(DeprecationWarning, match=rf"linkwork\.{old} is called linkwork\.{new}"):
        assert getattr(lw, old) is functools.reduce(getattr, new.split("."), lw)


def test_importing_loads_nothing_heavy():
    code = f"import sys, linkwork; print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code) == "[]"
    code = (
        f"import sys, linkwork; linkwork.InputError;print([m for m in {HEAVY} if m in sys.modules])"
    )
    assert python(code) == "[]"


def test_computing_loads_neither_jax_nor_meshes():
    code = (
        "import sys, linkwork as lw; r = lw.load('ur5e'); r.ik(r.fk(r.neutral()));"
        "print([m for m in ('jax', 'trimesh', 'typer', 'rich', 'scipy', 'matplotlib', 'torch')"
        " if m in sys.modules])"
    )
    assert python(code) == "[]"


def test_names_come_from_submodules_in_any_order():
    code = (
        "import linkwork.robot, linkwork.loading, linkwork.solve.ik as ik, linkwork as lw;"
        "print(lw.Robot is linkwork.robot.Robot, lw.ik.InverseKinematics is ik.InverseKinematics)"
    )
    assert python(code) == "True True"


def test_the_version_is_that_of_the_package():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", lw.__version__)
    try:
        installed = metadata.version("linkwork")
    except metadata.PackageNotFoundError:
        pytest.skip("linkwork is not installed here, only on the path")
    assert installed == lw.__version__
