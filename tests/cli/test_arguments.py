"""What the commands take agrees with the library and is explained."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

import linkwork as lw
from linkwork.cli import arguments

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
    for field in dataclasses.fields(lw.IKOptions):
        shown, real = getattr(given, field.name), getattr(lw.IKOptions(), field.name)
        assert shown == real, f"set {field.name} in cli/arguments.py to {real}"


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
