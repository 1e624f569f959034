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


def test_the_defaults_of_ik_are_those_of_the_library():
    given = arguments.IkArguments(source="panda")
    options, problem = lw.IKOptions(), lw.load("panda").solver().problem
    real = {
        "position_tolerance": TOLERANCES["m"],
        "rotation_tolerance": TOLERANCES["rad"],
        "steps": options.steps_for(problem),
        "tries": options.tries_for(problem),
        "seed": options.seed,
    }
    for name, value in real.items():
        assert getattr(given, name) == value, f"set {name} in cli/arguments.py to {value}"


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
