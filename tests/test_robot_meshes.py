"""The methods that open meshes are those of `appearance`, argument by argument."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from linkwork import appearance
from linkwork.robot import Robot
from linkwork.robot_meshes import RobotMeshes

FUNCTIONS = {
    "link_parts": appearance.link_parts,
    "link_mesh": appearance.link_mesh,
    "mesh": appearance.robot_mesh,
    "bounding_box": appearance.bounding_box,
    "link_mass_properties": appearance.link_mass_properties,
}


def test_every_method_has_its_function():
    methods = {name for name in vars(RobotMeshes) if not name.startswith("_")}
    assert methods == set(FUNCTIONS)
    assert issubclass(Robot, RobotMeshes)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_method_has_the_arguments_of_its_function(name: str):
    method = list(inspect.signature(getattr(Robot, name)).parameters.values())[1:]
    function = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:]
    assert [(p.name, p.kind, p.default) for p in method] == [
        (p.name, p.kind, p.default) for p in function
    ]


def test_a_robot_that_is_not_looked_at_needs_no_trimesh():
    code = (
        "import sys, linkwork as lw; r = lw.load('ur5e'); r.fk(r.neutral());"
        "print([m for m in ('trimesh', 'linkwork.appearance') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
