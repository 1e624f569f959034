"""The public lists: every name resolves, nothing is imported before it is asked for or missed."""

from __future__ import annotations

import functools
import importlib
import io
import pkgutil
import re
from importlib import metadata
from pathlib import Path

import pytest

import linkwork as lw
import linkwork.ik as public
import linkwork.solve
from fresh_python import python
from linkwork.errors import InputError
from linkwork.solve.limits import Limit
from linkwork.solve.objectives import Objective
from linkwork.solve.tasks import Task

SOURCE = Path(lw.__file__).parent
HEAVY = ("numpy", "casadi", "llvmlite", "lxml", "trimesh", "click", "jax", "scipy", "torch")


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


IMPORTS = """
import sys
import linkwork
print([name for name in sys.argv[1].split() if name in sys.modules])
linkwork.InputError
print([name for name in sys.argv[1].split() if name in sys.modules])
r = linkwork.load("ur5e")
r.ik(r.fk(r.neutral()))
needless = ("jax", "trimesh", "click", "scipy", "matplotlib", "torch")
print([name for name in needless if name in sys.modules])
del sys, r, needless, linkwork
from linkwork import *
print(*sorted(name for name in dir() if name[0] != "_"))
"""


def test_imports_load_what_is_needed_and_a_star_gives_the_list():
    imported, named, computed, star = python(IMPORTS, " ".join(HEAVY)).split("\n")
    assert imported == named == computed == "[]"
    assert star.split() == [name for name in lw.__all__ if name[0] != "_"]


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


# ------------------------------------------------------------------------------------------- lw.ik


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


# ----------------------------------------------------------------------------------------- lw.urdf


TEXT = '<robot name="r"><!-- why --><link name="a"/></robot>'


def test_every_name_is_there_with_words():
    assert lw.urdf.__all__ == sorted(lw.urdf.__all__, key=lambda n: (not n[0].isupper(), n))
    for name in lw.urdf.__all__:
        assert (getattr(lw.urdf, name).__doc__ or "").strip(), name


def test_a_document_is_read_from_whatever_holds_it(tmp_path: Path):
    path = tmp_path / "r.urdf"
    path.write_text(TEXT)
    robot = lw.urdf.read(TEXT).robot
    assert lw.urdf.read(path).robot == robot
    assert lw.urdf.read(str(path)).robot == robot
    assert lw.urdf.read(TEXT.encode()).robot == robot
    assert lw.urdf.read(io.StringIO(TEXT)).robot == robot
    assert lw.urdf.read(io.BytesIO(TEXT.encode())).robot == robot
    with path.open() as stream:
        read = lw.urdf.read(stream).robot
    assert read == robot
    assert read.file == str(path)
    with path.open("rb") as stream:
        assert lw.urdf.read(stream, file="other.urdf").robot.file == "other.urdf"
    assert lw.urdf.read("ur5e").robot.name == lw.load("ur5e").name


def test_an_open_file_with_a_path_in_it_is_no_way_around(tmp_path: Path):
    """What a stream holds is the description, never the name of another file."""
    (tmp_path / "r.urdf").write_text(TEXT)
    with pytest.raises(lw.DescriptionError):
        lw.urdf.read(io.StringIO(str(tmp_path / "r.urdf")))


def test_arguments_are_for_xacro():
    with pytest.raises(InputError, match="arguments are for xacro"):
        lw.urdf.read(TEXT, arguments={"a": "1"})


def test_a_document_is_edited_compared_and_written(tmp_path: Path):
    document = lw.urdf.read("ur5e")
    renamed = lw.urdf.rename(document, links={"tool0": "flange_tool"})
    assert lw.urdf.diff(document, renamed)
    path = lw.urdf.write(renamed, tmp_path / "new.urdf").path
    assert not lw.urdf.diff(renamed, lw.urdf.read(path))
    robot = lw.load(path)
    q = robot.random(seed=3)
    assert (robot.fk(q, "flange_tool") == lw.load("ur5e").fk(q, "tool0")).all()


def test_records_made_in_code_become_a_document():
    records = lw.urdf.records
    made = records.Robot("r", links=(records.Link("a"),))
    assert lw.urdf.document(made).robot == made
    with pytest.raises(lw.DescriptionError, match="no link"):
        lw.urdf.document(records.Robot("r"))


# ---------------------------------------------------------------- without the packages of an extra


PROGRAM = """
import sys
sys.modules["casadi"] = None  # as where it is not installed
import numpy as np
import linkwork as lw

r = lw.load("ur5e")
q = r.random(seed=1)
T = r.fk(q, "tool0")
assert r.ik(T, "tool0").success
assert r.inverse_dynamics(q, q, q).shape == (6,)
assert lw.simulate(r, q, duration=0.01).q.shape[-1] == 6
assert lw.load("four_bar").assemble([0.3]).success
assert "double" in r.kernel("fk", "tool0").c_source()
for call in (lambda: r.symbolic("fk", "tool0"),):
    try:
        call()
    except lw.errors.MissingExtraError as error:
        assert "pip install 'linkwork[casadi]'" in str(error), error
    else:
        raise AssertionError("no error")
from linkwork.faces.trip_kinematics.Robot import Robot
print("done")
"""


def test_everything_but_symbols_works_without_casadi():
    assert python(PROGRAM) == "done"
