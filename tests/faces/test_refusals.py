"""Names of older libraries that a face refuses say what to use in their place."""

from __future__ import annotations

import importlib

import pytest

from fresh_python import python
from linkwork import faces
from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.refusals import RefusedNameError, refusal, refused_names
from linkwork.faces.table import parents_of

NAMES = sorted(refused_names("skrobot"))


@pytest.mark.parametrize("dotted", NAMES)
def test_a_refused_name_is_an_error_with_its_reason(dotted: str):
    owner, _, name = dotted.rpartition(".")
    module = importlib.import_module(f"linkwork.faces.{owner}")
    with pytest.raises(UnsupportedFeatureError, match=f"'{dotted}': .{{15}}"):
        getattr(module, name)
    assert not hasattr(module, name)
    with pytest.raises(ImportError, match=f"'{dotted}': .{{15}}"):
        exec(f"from linkwork.faces.{owner} import {name}")
    assert name not in dir(module)


def test_other_names_are_what_they_always_are():
    module = importlib.import_module("linkwork.faces.skrobot.utils")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018
    assert getattr(module, "nothing", 3) == 3
    with pytest.raises(ImportError, match="nothing"):
        exec("from linkwork.faces.skrobot.utils import nothing")


def test_what_is_in_a_refused_module_is_refused():
    error = refusal("skrobot", "skrobot.collision.Sphere")
    assert isinstance(error, RefusedNameError)
    assert error.name == "skrobot.collision.Sphere"
    assert "self_collision_check" in str(error)
    assert refusal("skrobot", "skrobot.model.Link") is None
    assert refusal("urdfpy", "urdfpy.collision") is None


def test_imports_of_refused_modules_say_so():
    program = """
from linkwork import faces
faces.install("skrobot")
for line in ("import skrobot.collision", "from skrobot.collision import RobotCollisionChecker",
             "from skrobot.utils.video import f", "import skrobot.nothing"):
    try:
        exec(line)
    except ImportError as error:
        print(type(error).__name__, str(error)[:70])
"""
    told = python(program).splitlines()
    assert [each.split()[0] for each in told] == ["RefusedImportError"] * 3 + [
        "ModuleNotFoundError"
    ]
    assert "'skrobot.collision'" in told[0]


def test_only_faces_refuse():
    assert NAMES
    assert {parents_of(name)[0] for name in NAMES} == {"skrobot"}
    assert set(faces.available()) >= {"skrobot"}
