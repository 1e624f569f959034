"""What the commands take agrees with the library and is explained."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

import linkwork as lw
from linkwork.cli import arguments
from linkwork.solve.tasks.base import TOLERANCES

CLASSES = {
    "demo": arguments.DemoArguments,
    "models": arguments.ModelsArguments,
    "info": arguments.InfoArguments,
    "fk": arguments.FkArguments,
    "jacobian": arguments.JacobianArguments,
    "ik": arguments.IkArguments,
}


def test_ik_leaves_the_defaults_to_the_library_and_says_them():
    # Numbers of ours would take the place of those of the tasks.
    given = arguments.IkArguments(source="panda")
    options, robot = lw.IKOptions(), lw.load("panda")
    plain = robot.solver().problem
    lower = robot.solver(tasks=[lw.ik.Pose("tool0"), lw.ik.Posture(priority=1)]).problem
    said = {
        "position_tolerance": f"default: {TOLERANCES['m']:g}.",
        "rotation_tolerance": f"default: {TOLERANCES['rad']:g}.",
        "steps": f"default: {options.steps_for(plain)}, with lower priorities "
        f"{options.steps_for(lower)}.",
        "tries": f"default: {options.tries_for(plain)}, with lower priorities "
        f"{options.tries_for(lower)}.",
    }
    hints = get_type_hints(arguments.IkArguments, include_extras=True)
    for name, words in said.items():
        assert getattr(given, name) is None
        assert words in get_args(hints[name])[-1].help
    assert given.seed == options.seed


@pytest.mark.parametrize("name", CLASSES)
def test_every_option_is_in_the_help_with_a_sentence(cli: Callable[..., Any], name: str):
    text = cli(name, "--help", env={"COLUMNS": "200"}).stdout
    hints = get_type_hints(CLASSES[name], include_extras=True)
    for field in dataclasses.fields(CLASSES[name]):
        info = get_args(hints[field.name])[-1]
        assert info.help
        assert info.help.endswith(".")
        assert info.help in text
        for option in info.param_decls or ():
            assert option in text
    assert "None" not in text


def test_the_common_options_are_the_same_everywhere():
    common = {field.name for field in dataclasses.fields(arguments.RobotArguments)}
    assert common == {"source", "lock", "base_frame", "floating"}
    for name in ("info", "fk", "jacobian", "ik"):
        assert issubclass(CLASSES[name], arguments.RobotArguments)
